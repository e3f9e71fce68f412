-- SPDX-License-Identifier: MIT
-- Waits in a host: they block its thread, and its tasks run meanwhile, wherever they are made.
local shoal = require("shoal")
local support = require("support")

local host = shoal.self()
assert(host.id == 0 and tostring(host) == "process: 0" and host == shoal.process(0))
assert(shoal.processes()[1] == host and host:status() == "running")
assert(host:stats().memory >= 0)

-- Nothing global is replaced but os.exit.
for name, f in pairs({ pcall = pcall, xpcall = xpcall, print = print, require = require }) do
  assert(debug.getinfo(f, "S").what == "C", name)
end
assert(select(2, coroutine.running()) and not coroutine.isyieldable())

-- Tasks run while the script waits, and when it polls.
local order = {}
local task = shoal.task(function(a, b)
  order[#order + 1] = "task"
  shoal.sleep(0.01)
  order[#order + 1] = "slept"
  return a + b
end, 3, 4)
order[#order + 1] = "script"
assert(task:status() == "ready")
support.expect(table.pack(task:join()), true, 7)
assert(table.concat(order, " ") == "script task slept")

local polled = shoal.channel()
shoal.task(function()
  for i = 1, 3 do
    shoal.yield()
    polled:send("n", i)
  end
end)
local sum = 0
while sum < 6 do
  sum = sum + (polled:receive("n", 0) or 0)
end
-- A poll of something else lets them go on, too.
local set = false
shoal.task(function()
  shoal.yield()
  set = true
end)
while not set do
  polled:receive("nothing", 0)
end

-- A task may use pcall, metamethods and coroutines; where the stock functions cannot be suspended,
-- the others run on top of it.
local channel = shoal.channel()
local function wait_everywhere(key)
  local got = {}
  got[1] = select(2, pcall(channel.receive, channel, key))
  got[2] = setmetatable({}, {
    __index = function()
      return (channel:receive(key))
    end,
  }).x
  got[3] = coroutine.wrap(function()
    return (channel:receive(key))
  end)()
  got[4] = string.gsub("x", "x", function()
    return (channel:receive(key))
  end)
  local each = channel:each(key)
  got[#got + 1] = each()
  return table.concat(got, " ")
end
local echo = shoal.spawn(function()
  for key, value in
    function()
      return channel:receive("send")
    end
  do
    channel:send(key, value)
  end
end)
local function feed(key)
  for i = 1, 5 do
    channel:send("send", key, i)
  end
end
feed("script")
assert(wait_everywhere("script") == "1 2 3 4 5")
local waiting = {}
for i = 1, 10 do
  waiting[i] = shoal.task(wait_everywhere, i)
end
for i = 10, 1, -1 do
  feed(i)
end
for i = 1, 10 do
  assert(waiting[i]:result() == "1 2 3 4 5")
end
local co = coroutine.create(function(...)
  local got = ...
  repeat
    got = coroutine.yield((channel:receive("co")) + got)
  until not got
  return "end"
end)
for i = 1, 3 do
  channel:send("send", "co", i)
  support.expect(table.pack(coroutine.resume(co, 10)), true, i + 10)
end
echo:cancel()

-- select, timers, groups, monitors.
shoal.after(0.01, channel, "timer", "rings")
support.expect(
  table.pack(shoal.select({ { channel, "none" }, { channel, "timer" }, timeout = 10 })),
  2,
  "rings"
)
do
  local group <close> = shoal.group()
  group:spawn(function() end)
  group:task(function()
    shoal.sleep(0.01)
  end)
  assert(group:join())
end
local done = shoal.spawn(function()
  return 1
end)
done:monitor(channel, "end")
support.expect(table.pack(channel:receive("end")), done.id, "done")

-- A process asks the host, by its handle.
local asked = shoal.spawn(function(owner)
  local s = require("shoal")
  assert(s.type(owner) == "process" and owner == s.process(0) and owner.id == 0)
  while owner:status() ~= "waiting" do
    s.sleep(0.001)
  end
  return owner:stats().waiting_on
end, host)
support.expect(
  table.pack(asked:result():gsub(":%d+$", "")),
  ("join of process %d, at %s"):format(asked.id, debug.getinfo(1, "S").short_src),
  1
)

-- A cancel from outside is raised where the host waits; from then on it is like any process that
-- is being cancelled.
local status, out = support.run([[
  local shoal = require("shoal")
  shoal.spawn(function(owner)
    local s = require("shoal")
    while owner:status() ~= "waiting" do s.sleep(0.001) end
    owner:cancel()
  end, shoal.self())
  print(select(2, pcall(shoal.sleep, 60)) == shoal.cancelled)
]])
assert(status == 0 and out == "true\n", out)

-- shoal.blocking keeps the thread, and others go on.
local gone_on = shoal.spawn(function()
  return "on"
end)
support.expect(
  table.pack(shoal.blocking(function(...)
    return gone_on:result(), ...
  end, 1)),
  "on",
  1
)

-- A deadlock is told, and again.
for _ = 1, 2 do
  local text = support.expect_error("deadlock", channel.receive, channel, "never")
  assert(text:find('process 0: receive on channel %d+, key "never", at'), text)
end
-- None is, while a task will go on.
shoal.task(function()
  shoal.sleep(0.02)
  channel:send("late", 1)
end)
assert(channel:receive("late") == 1)

-- Modules, functions and stock functions travel.
support.expect(
  table.pack(shoal
    .spawn(function(f, g, s)
      return f(), g == string.format, s == require("shoal").spawn, print == _G.print
    end, function()
      return type(pcall)
    end, string.format, shoal.spawn)
    :result()),
  "function",
  true,
  true,
  true
)

-- The calls of a turn may be many.
for _ = 1, support.scaled(10000) do
  channel:set("n", 1)
  assert(channel:get("n") == 1)
end
