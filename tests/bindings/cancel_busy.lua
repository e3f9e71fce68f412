-- SPDX-License-Identifier: MIT
-- Cancel of what never waits: loops everywhere, also in cleanup code.
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()

-- Turns of a loop that takes several slices.
local long = support.scaled(1000000)

-- Starts `body`, waits till it runs, cancels it, and returns what the joiner gets.
local function cancel(body, time)
  local p = shoal.spawn(body, ch)
  assert(ch:receive("running", 30))
  assert(p:cancel(time or 30) == true)
  local ok, err, traceback = p:join(30)
  assert(ok == nil and err == shoal.cancelled and traceback == nil, tostring(err))
  assert(p:status() == "cancelled")
end

-- Loops that call nothing, in each kind of frame.
for _, loop in ipairs({
  "while true do end",
  "while true do pcall(error) end",
  "while true do pcall(function() while true do end end) end",
  "while true do xpcall(function() while true do end end, function(m) return m end) end",
  "local function f() while true do end end coroutine.wrap(function() coroutine.wrap(f)() end)()",
  "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
  "table.sort({3, 1, 2}, function() while true do end end)",
  "string.gsub('x', 'x', function() while true do end end)",
  "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
  "for _ in function() return 1 end do end",
  "while true do require('shoal').now() end",
  "debug.sethook(function() end, 'l') while true do end",
  "debug.sethook(function() end, '', 100) while true do end",
  "local s = require('shoal') while true do s.shield(function() for _ = 1, 9 do end end) end",
  "local s = require('shoal') while true do s.shield(s.sleep, 0.001) end",
}) do
  cancel("local ch = ... ch:send('running', true) " .. loop)
end

-- A cancel that comes in a shield reaches the loop behind it.
do
  local p = shoal.spawn(function(channel)
    require("shoal").shield(function()
      channel:send("in the shield", true)
      channel:receive("go")
      for _ = 1, long do
      end
      channel:receive("go on")
    end)
    channel:send("behind", true)
    while true do
    end
  end, ch)
  ch:receive("in the shield")
  assert(select(2, p:cancel(0)) == "timeout")
  ch:send("go", true)
  ch:send("go on", true)
  assert(p:cancel(30) == true)
end

-- What is to be closed is closed, and may compute and wait.
cancel(function(channel)
  local _ <close> = setmetatable({}, {
    __close = function()
      for _ = 1, long do
      end
      require("shoal").sleep(0.001)
      channel:send("closed", 1)
    end,
  })
  local _ <close> = setmetatable({}, {
    __close = function()
      channel:send("closed", 2)
      -- What cleanup code calls, it catches.
      channel:send("caught", pcall(error, "x"))
      channel:send("caught", coroutine.resume(coroutine.create(error), "y"))
    end,
  })
  channel:send("running", true)
  while true do
  end
end)
assert(ch:receive("closed", 0) == 2 and ch:receive("closed", 0) == 1)
support.expect(table.pack(ch:receive("caught", 0)), false, "x")
support.expect(table.pack(ch:receive("caught", 0)), false, "y")

-- Cleanup that never ends is ended when its time is over, whatever it is made of.
for _, loop in ipairs({
  "while true do end",
  "while true do pcall(function() while true do end end) end",
  "while true do coroutine.wrap(function() while true do end end)() end",
  [[while true do
    local co = coroutine.create(function()
      local _ <close> = setmetatable({}, {__close = function() while true do end end})
      coroutine.yield()
    end)
    coroutine.resume(co)
    coroutine.close(co)
  end]],
}) do
  local p = shoal.spawn([[local ch = ...
    local outer <close> = setmetatable({}, {__close = function() ]] .. loop .. [[ end})
    local inner <close> = setmetatable({}, {__close = function() ]] .. loop .. [[ end})
    ch:send("running", true)
    while true do end]], ch)
  ch:receive("running")
  assert(select(2, p:cancel(0.01)) == "timeout" or p:status() == "cancelled")
  assert(select(2, p:join(30)) == shoal.cancelled)
end

-- A task that computes, from another process' cancel and from a sibling that waits.
do
  local p = shoal.spawn(function(channel)
    local s = require("shoal")
    local t = s.task(function()
      channel:send("running", true)
      while true do
      end
    end)
    t:join()
  end, ch)
  ch:receive("running")
  assert(p:cancel(30) == true and p:status() == "cancelled")
end
