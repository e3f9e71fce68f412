-- SPDX-License-Identifier: MIT
-- Cancelling processes and tasks: where it reaches them, and who may do it.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local closing, until_waiting = support.closing, support.until_waiting

local ch = shoal.channel()

-- Starts a process, and waits until its body says that it runs.
local function started(f, ...)
  local p = shoal.spawn(f, ...)
  assert(ch:receive("runs", 20))
  return p
end

local function wait_for_ever()
  ch:receive("never")
end

-- Without a timeout it asks, and may ask again; with one it waits. Joiners see what happened.
do
  local p = until_waiting(shoal.spawn(wait_for_ever))
  expect(pack(p:cancel()), true)
  expect(pack(p:cancel()), true)
  expect(pack(p:cancel(20)), true)
  expect(pack(p:cancel(0)), true)
  assert(p:status() == "cancelled")
  expect(pack(p:join()), nil, shoal.cancelled)
  local ok, err = pcall(p.result, p)
  assert(not ok and err == shoal.cancelled)
end

-- A process that has ended stays as it is.
do
  local p = shoal.spawn(function()
    return 5
  end)
  p:join()
  expect(pack(p:cancel(1)), true)
  expect(pack(p:join()), true, 5)
end

-- Bad arguments.
do
  local p = until_waiting(shoal.spawn(wait_for_ever))
  expect_error("(timeout must not be negative)", p.cancel, p, -1)
  expect_error("bad argument #2", p.cancel, p, "soon")
  assert(p:status() == "waiting")
  p:cancel()
end

-- A process that has not started ends without running anything.
do
  local others = {}
  for i = 1, 50 do
    others[i] = shoal.spawn(function(to)
      to:send("has run", 1)
    end, ch)
    others[i]:cancel()
  end
  local cancelled = 0
  for i = 1, 50 do
    if not others[i]:join() then
      cancelled = cancelled + 1
      assert(select(2, others[i]:join()) == shoal.cancelled)
    end
  end
  assert(cancelled + ch:count("has run") == 50)
  ch:set("has run")
end

-- Each kind of wait.
do
  local full = shoal.channel({ limit = 1 })
  full:send("k", 1)
  local other = until_waiting(shoal.spawn(wait_for_ever))
  local waits = {
    function()
      ch:receive("never")
    end,
    function()
      ch:receive("never", 1000)
    end,
    function()
      ch:receive_any({ "never", "ever", 1, 2, 3 })
    end,
    function()
      ch:receive_batch("never", 3)
    end,
    function()
      full:send("k", 2)
    end,
    function()
      full:send_for(1000, "k", 2)
    end,
    function()
      full:send_batch("k", { 2 })
    end,
    function()
      require("shoal").sleep(1000)
    end,
    function()
      other:join()
    end,
    function()
      other:result(1000)
    end,
    function()
      require("shoal")
        .task(function()
          ch:receive("never")
        end)
        :join()
    end,
    function() -- polls
      while true do
        ch:receive("never", 0)
      end
    end,
    function() -- lets others go first
      while true do
        require("shoal").yield()
      end
    end,
  }
  local nested = {
    function() -- in a function that cannot yield
      table.sort({ 3, 1, 2 }, function()
        ch:receive("never")
      end)
    end,
    function() -- in one in another
      table.sort({ 3, 1, 2 }, function()
        return ("x"):gsub("x", function()
          ch:receive("never")
        end)
      end)
    end,
    function() -- in a coroutine
      coroutine.wrap(function()
        coroutine.wrap(function()
          ch:receive("never")
        end)()
      end)()
    end,
  }
  local function in_process(wait)
    local p = started(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          ch:send("closed", true)
        end,
      })
      ch:send("runs", true)
      wait()
    end)
    shoal.yield()
    expect(pack(p:cancel(20)), true)
    expect(pack(p:join()), nil, shoal.cancelled)
    assert(ch:receive("closed", 0))
  end
  local function in_task(wait)
    local closed
    local t = shoal.task(function()
      local _ <close> = closing(function()
        closed = true
      end)
      wait()
    end)
    shoal.yield()
    expect(pack(t:cancel(20)), true)
    assert(closed and t:status() == "cancelled")
    expect(pack(t:join()), nil, shoal.cancelled)
  end
  for _, wait in ipairs(waits) do
    in_process(wait)
    in_task(wait)
  end
  -- These end before the code of a host goes on, which is below them on the stack.
  for _, wait in ipairs(nested) do
    in_process(wait)
    if not support.host then
      in_task(wait)
    end
  end
  -- Nothing was sent by those who waited to send.
  expect(pack(full:receive("k")), 1)
  expect(pack(full:receive("k", 0)), nil, "timeout")
  other:cancel()
end

-- Nothing catches it; a coroutine that would be resumed again is not.
if not support.host then
  for _, catch in ipairs({
    function(f)
      pcall(f)
    end,
    function(f)
      xpcall(f, function()
        return "mine"
      end)
    end,
    function(f)
      coroutine.resume(coroutine.create(f))
    end,
    function(f)
      coroutine.wrap(f)()
    end,
    function(f)
      pcall(pcall, pcall, f)
    end,
    function(f)
      pcall(error, select(2, pcall(f)))
    end,
  }) do
    local rounds = 0
    local t = shoal.task(function()
      while true do
        rounds = rounds + 1
        catch(function()
          ch:receive("never")
        end)
      end
    end)
    shoal.yield()
    assert(t:cancel(20) and rounds == 1)
    expect(pack(t:join()), nil, shoal.cancelled)
  end
end

-- A process may cancel itself: at its next wait, it is.
do
  local p = shoal.spawn(function()
    local self = shoal.self()
    expect(pack(self:cancel()), true)
    ch:send("still runs", 1)
  end)
  expect(pack(p:join()), nil, shoal.cancelled)
  assert(ch:count("still runs") == 0)
  p = shoal.spawn(function()
    shoal.self():cancel(20)
    ch:send("still runs", 1)
  end)
  expect(pack(p:join()), nil, shoal.cancelled)
  assert(ch:count("still runs") == 0)
  -- It may return instead.
  p = shoal.spawn(function()
    shoal.self():cancel()
    return "done all the same"
  end)
  expect(pack(p:join()), true, "done all the same")
  -- From a task; then the body is cancelled, too.
  p = shoal.spawn(function()
    shoal.task(function()
      shoal.self():cancel()
      shoal.sleep(1000)
    end)
    ch:receive("never")
  end)
  expect(pack(p:join()), nil, shoal.cancelled)
end

-- A task may cancel itself and its siblings, also those that have not started.
do
  local me
  me = shoal.task(function()
    expect(pack(me:cancel()), true)
    shoal.yield()
    error("not reached")
  end)
  expect(pack(me:join()), nil, shoal.cancelled)
  local log = {}
  local sibling = shoal.task(function()
    log[#log + 1] = "sibling"
  end)
  local waiting = shoal.task(function()
    local _ <close> = closing(function()
      log[#log + 1] = "closed"
    end)
    ch:receive("never")
  end)
  expect(pack(sibling:cancel(20)), true)
  shoal.yield()
  expect(pack(waiting:cancel(20)), true)
  expect(pack(sibling:join()), nil, shoal.cancelled)
  assert(table.concat(log, " ") == "closed")
  -- The process goes on.
  assert(shoal
    .task(function()
      return "fine"
    end)
    :result() == "fine")
end

-- In its cleanup, nobody may wait for its own end.
do
  local t
  local problem
  t = shoal.task(function()
    local _ <close> = closing(function()
      problem = select(2, pcall(t.cancel, t, 1))
    end)
    ch:receive("never")
  end)
  shoal.yield()
  expect(pack(t:cancel(20)), true)
  assert(problem:find("a task cannot join itself", 1, true), problem)
end

-- The body has returned, and a task that goes on is cancelled: so is the process.
do
  local p = started(function()
    shoal.task(function()
      ch:send("runs", true)
      ch:receive("never")
    end)
    return 1
  end)
  expect(pack(p:cancel(20)), true)
  expect(pack(p:join()), nil, shoal.cancelled)
end
