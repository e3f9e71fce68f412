-- SPDX-License-Identifier: MIT
-- needs: no simulation
-- Slices as a script sees them: whatever one process does, others run.
local shoal = require("shoal")
local support = require("support")
local foreign = require("foreign")

local ch = shoal.channel()
local slices = os.getenv("SHOAL_TEST_SLICES")
-- Without signals, nothing interrupts C functions; with the thread sanitizer, no seat is given up.
local interrupts = slices ~= "counted"
  and not (os.getenv("SANITIZER_LIBRARY") or ""):find("tsan", 1, true)

-- One process for each worker, and one more, counts how often it was run: so each worker is needed.
local function counters(n)
  local list = {}
  for i = 1, n do
    list[i] = shoal.spawn({ daemon = true }, function(to)
      local own = require("shoal")
      while not to:get("stop") do
        to:incr("turns")
        own.sleep(0.001)
      end
    end, ch)
  end
  return list
end
local function turns()
  return ch:get("turns") or 0
end

-- Others run while `f` blocks all workers: as often as it takes, as the machine may be busy.
local function check_others_run(name, f)
  ch:set("stop")
  local list = counters(1)
  local helpers = {}
  local others_ran = false
  for _ = 1, 100 do
    for i = 2, shoal.workers() do
      helpers[i] = shoal.spawn(f)
    end
    local before = turns()
    f()
    others_ran = turns() > before
    for i = 2, shoal.workers() do
      assert(helpers[i]:join())
    end
    if others_ran then
      break
    end
  end
  ch:set("stop", true)
  for _, p in ipairs(list) do
    p:join()
  end
  assert(others_ran, name)
end

if interrupts then
  check_others_run("poll", function()
    assert(require("foreign").poll(0.1) <= 2, "one call is interrupted twice at most")
  end)
  check_others_run("nanosleep", function()
    assert(require("foreign").doze(0.1) <= 2, "one call is interrupted twice at most")
  end)
  check_others_run("computing in C", function()
    require("foreign").compute(0.1)
  end)
  check_others_run("a hook of C", function()
    local c = require("foreign")
    c.sethook(1000)
    assert(debug.gethook() == "external hook")
    local start = os.clock()
    while os.clock() - start < 0.1 do
    end
    assert(c.sethook(0) > 0 and debug.gethook() == nil)
  end)
  check_others_run("reading from a pipe", function()
    local pipe <close> = io.popen("sleep 0.1; echo read")
    assert(pipe:read("l") == "read")
  end)
end
check_others_run("other programs", function()
  assert(os.execute("sleep 0.1"))
  local pipe = io.popen("sleep 0.1")
  assert(pipe:close())
end)
check_others_run("a loop", function()
  local start = os.clock()
  while os.clock() - start < 0.1 do
  end
end)

-- What spins, one for each worker.
local function spin()
  local list = {}
  for i = 1, shoal.workers() do
    list[i] = shoal.spawn({ daemon = true }, "while true do end")
  end
  return setmetatable(list, {
    __close = function(self)
      for _, p in ipairs(self) do
        local _ <close> = p
      end
    end,
  })
end

-- Hooks of the user see the same, whether others want to run or not. (Not the count of a hook that
-- has lines as well: see debug_hook.h. Nor any count if a slice ends at each instruction.)
local function record(mask, count)
  local events = {}
  debug.sethook(function(event, line)
    events[#events + 1] = event .. tostring(line)
  end, mask, count)
  local sum = 0
  for i = 1, support.scaled(20000) do
    sum = sum + i % 7
  end
  local co = coroutine.wrap(function(n)
    for i = 1, n do
      coroutine.yield(i)
    end
  end)
  for _ = 1, 10 do
    sum = sum + co(10)
  end
  pcall(error, "x")
  debug.sethook()
  return table.concat(events, " ")
end
for _, how in ipairs({ { "l" }, { "c" }, { "r" }, { "crl" }, { "", 100 } }) do
  if slices ~= "every" or not how[2] then
    local alone = record(how[1], how[2])
    local spinning <close> = spin()
    assert(#spinning > 0)
    for _ = 1, 5 do
      assert(record(how[1], how[2]) == alone, how[1])
    end
  end
end

-- A hook of C that comes and goes while slices end.
do
  local spinning <close> = spin()
  local start = shoal.now()
  local rounds = 0
  while shoal.now() - start < 0.2 or rounds < 2 do
    rounds = rounds + 1
    for i = 1, 1000 do
      foreign.sethook(i % 2 * 1000000)
    end
  end
  foreign.sethook(0)
  assert(#spinning > 0)
end

-- A signal of somebody else's comes all the time, to a handler that we leave alone.
do
  foreign.alarm(1000)
  local spinning <close> = spin()
  local before = foreign.alarm(1000)
  local n = 0
  repeat
    local p = shoal.spawn(function(to, k)
      to:send("alarm", k)
      require("shoal").sleep(0.001)
      return k
    end, ch, n)
    assert(ch:receive("alarm") == n)
    assert(p:result() == n)
    local pipe <close> = io.popen("echo " .. n)
    assert(pipe:read("n") == n)
    n = n + 1
  until n >= 5 and foreign.alarm(1000) > before
  foreign.alarm(0)
  assert(#spinning > 0)
end
