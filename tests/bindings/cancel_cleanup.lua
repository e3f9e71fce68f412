-- SPDX-License-Identifier: MIT
-- What cleanup code of a cancelled process or task may do, and for how long.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local closing, until_waiting = support.closing, support.until_waiting

local ch = shoal.channel()

-- Starts a process, and waits until its body says that it runs.
local function started(f, ...)
  local p = shoal.spawn(f, ...)
  assert(ch:receive("runs", 20))
  return p
end

-- Cleanup may wait, to the end: handlers and finalizers run, in order.
do
  local p = started(function()
    local s = require("shoal")
    setmetatable({}, {
      __gc = function()
        ch:set("finalized", true) -- nothing waits at the very end
      end,
    })
    local _ <close> = setmetatable({}, {
      __close = function(_, err)
        assert(err == s.cancelled)
        s.sleep(0.01)
        ch:send("cleaned", "outer")
      end,
    })
    local _ <close> = setmetatable({}, {
      __close = function()
        s.sleep(0.01)
        ch:send("cleaned", ch:receive("word", 20))
      end,
    })
    ch:send("runs", true)
    ch:receive("never")
  end)
  local canceller = shoal.task(p.cancel, p, 60)
  ch:send("word", "inner")
  assert(p:join() == nil)
  expect(pack(ch:receive("cleaned", 0)), "inner")
  expect(pack(ch:receive("cleaned", 0)), "outer")
  expect(pack(ch:receive("finalized", 0)), true)
  expect(pack(canceller:join()), true, true)
end

-- … but not for longer than the canceller allows; a second cancel may allow less.
do
  local function stubborn()
    local function handler(i)
      return setmetatable({}, {
        __close = function()
          ch:set("reached", i)
          ch:receive("never")
        end,
      })
    end
    local _ <close> = handler(2)
    local _ <close> = handler(1)
    ch:send("runs", true)
    ch:receive("never")
  end
  local p
  -- The default time is five seconds.
  support.quick(4, function()
    p = started(stubborn)
    p:cancel(0.02)
    expect(pack(p:join()), nil, shoal.cancelled)
    assert(ch:receive("reached", 0) == 2)
  end)
  -- A second one, while the cleanup waits, allows less; a longer one does not give it more.
  p = started(stubborn)
  shoal.task(p.cancel, p, 1000)
  assert(ch:receive("reached", 20) == 1)
  until_waiting(p)
  -- It may end before this call looks.
  local ended, why = p:cancel(0)
  assert(ended or why == "timeout")
  p:cancel(1000)
  expect(pack(p:join()), nil, shoal.cancelled)
  assert(ch:receive("reached", 0) == 2)
  -- In a task, too.
  local t = shoal.task(stubborn)
  assert(ch:receive("runs", 20))
  ended, why = t:cancel(0)
  assert(ended or why == "timeout")
  expect(pack(t:join()), nil, shoal.cancelled)
  assert(ch:receive("reached", 0) == 2)
end

-- A cancelled task's finalizers may wait. (Where the test mode collects, none may.)
if not support.collects then
  local finalized
  local t = shoal.task(function()
    local _ <close> = closing(function()
      setmetatable({}, {
        __gc = function()
          shoal.sleep(0.001)
          finalized = true
        end,
      })
      collectgarbage()
      collectgarbage()
    end)
    ch:receive("never")
  end)
  shoal.yield()
  expect(pack(t:cancel(20)), true)
  assert(finalized)
end

-- What is raised in a finalizer goes no further: so the task is told again, and nothing that it
-- waits for then is taken for cleanup. (The code of a host would stand below the finalizer's wait.)
if not support.collects and not support.host then
  local closed, after
  local t = shoal.task(function()
    local _ <close> = closing(function()
      closed = true
    end)
    setmetatable({}, {
      __gc = function()
        ch:send("in the finalizer", true)
        pcall(ch.receive, ch, "never")
        after = true
      end,
    })
    collectgarbage()
    collectgarbage()
    ch:receive("never")
  end)
  ch:receive("in the finalizer")
  t:cancel(1e6)
  expect(pack(t:join()), nil, shoal.cancelled)
  assert(closed and not after)
end

-- One that is cancelled and holds another one's handle: that is cancelled with it, and waited for.
do
  local p = started(function()
    local inner <close> = shoal.spawn(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          shoal.sleep(0.01)
          ch:send("closed", "inner")
        end,
      })
      ch:send("inner runs", true)
      ch:receive("never")
    end)
    local task <close> = shoal.task(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          ch:send("closed", "task")
        end,
      })
      ch:send("task runs", true)
      ch:receive("never")
    end)
    ch:receive("inner runs")
    ch:receive("task runs")
    ch:send("runs", true)
    inner:join()
    task:join()
  end)
  expect(pack(p:cancel(20)), true)
  expect(pack(ch:receive("closed", 0)), "task")
  expect(pack(ch:receive("closed", 0)), "inner")
end

-- A process that is cancelled is cancelled, whatever its handlers raise. That is said on the log;
-- what a message handler makes of the cancel is not.
if not support.host then
  local status, out, err = support.run([[
    local shoal = require("shoal")
    local function closing(f) return setmetatable({}, { __close = f }) end
    local function victim(f)
      local _ <close> = closing(f)
      xpcall(shoal.sleep, function() return "no error" end, 1000)
    end
    local function process(...) return shoal.spawn({ name = "v" }, ...) end
    for _, start in ipairs({ shoal.task, process }) do
      for _, f in ipairs({ function() error("in the handler") end, function() end }) do
        local v = start(victim, f)
        while v:status() ~= "waiting" do shoal.yield() end
        print(v:cancel(20), select(2, v:join()) == shoal.cancelled)
      end
    end
  ]])
  assert(status == 0 and out == ("true\ttrue\n"):rep(4), out)
  local _, count = err:gsub("shoal: [^\n]*, when it was cancelled: [^\n]*in the handler\n", "")
  assert(count == 2, err)
  assert(err:find("a task of process 1, when", 1, true), err)
  assert(err:find("process 2 (v), when", 1, true), err)
  assert(not err:find("no error", 1, true), err)
end
