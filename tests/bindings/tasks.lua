-- SPDX-License-Identifier: MIT
-- Tasks of one process: when they run, when they switch, and how they end.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local ch = shoal.channel()

-- task returns before f runs; they start in order, and share all of the process.
do
  local log = {}
  local a = shoal.task(function(...)
    log[#log + 1] = "a" .. select("#", ...)
  end, 1, nil, nil)
  local b = shoal.task(function()
    log[#log + 1] = "b"
  end)
  log[#log + 1] = "made"
  assert(a:status() == "ready")
  shoal.yield()
  assert(table.concat(log, " ") == "made a3 b")
  assert(a:status() == "done" and b:status() == "done")
end

-- Which calls switch: with timeout 0, too; and which do not.
do
  local ran
  local function switches(f, ...)
    ran = false
    local t = shoal.task(function()
      ran = true
    end)
    f(...)
    local result = ran
    t:join()
    return result
  end
  assert(switches(shoal.yield))
  assert(switches(shoal.sleep, 0))
  assert(switches(shoal.sleep, 0.001))
  assert(switches(ch.receive, ch, "none", 0.001))
  local done = shoal.task(function() end)
  done:join()
  assert(not switches(shoal.task, print and function() end))
  assert(not switches(shoal.spawn, function() end))
  assert(not switches(ch.set, ch, "k", 1))
  assert(not switches(ch.get, ch, "k"))
  assert(not switches(ch.incr, ch, "k"))
  assert(not switches(ch.count, ch, "k"))
  assert(not switches(shoal.now))
  ch:set("k")
end

-- A loop of calls that find at once what they ask for does not starve the others.
do
  for _, f in ipairs({
    function()
      ch:receive("none", 0)
    end,
    function()
      ch:send("s", 1)
      ch:receive("s")
    end,
    function()
      ch:receive_any({ "none" }, 0)
    end,
    function()
      ch:receive_batch("none", 5, 0)
    end,
    function()
      ch:send_for(0, "s", 1)
      ch:receive("s", 0)
    end,
    function()
      shoal.self()
      shoal.sleep(0)
    end,
  }) do
    local stop = false
    local t = shoal.task(function()
      shoal.sleep(0.001)
      stop = true
    end)
    while not stop do
      f()
    end
    t:result()
  end
  -- Nor do those of one process the other processes.
  local p = shoal.spawn(function()
    ch:send("from the other", true)
  end)
  while not ch:receive("from the other", 0) do
    assert(p:status() ~= "error")
  end
  p:result()
end

-- A task that only computes is never interrupted by a sibling.
do
  local shared = 0
  local t = shoal.task(function()
    for _ = 1, 100 do
      shared = shared + 1
      shoal.yield()
    end
  end)
  for _ = 1, 20 do
    local before = shared
    for i = 1, support.scaled(100000) do
      shared = shared + i % 1
    end
    assert(shared == before)
    shoal.yield()
  end
  t:result()
end

-- Turns are fair.
do
  local counts = { 0, 0, 0 }
  local stop = false
  local all = {}
  for i = 1, 3 do
    all[i] = shoal.task(function()
      while not stop do
        counts[i] = counts[i] + 1
        shoal.yield()
      end
    end)
  end
  for _ = 1, 300 do
    shoal.yield()
  end
  stop = true
  for _, t in ipairs(all) do
    t:result()
  end
  for i = 1, 3 do
    assert(math.abs(counts[i] - 300) <= 2, counts[i])
  end
end

-- Sleepers wake in the order of time, not before; now does not go back.
do
  local all = {}
  -- If they come to their sleeps late, it may be another order.
  support.some_time("the order of sleepers", function()
    local order = {}
    local start = shoal.now()
    for i, time in ipairs({ 0.06, 0.02, 0.04 }) do
      all[i] = shoal.task(function()
        shoal.sleep(time)
        order[#order + 1] = i
        assert(shoal.now() - start >= time)
      end)
    end
    for _, t in ipairs(all) do
      t:result()
    end
    return table.concat(order, " ") == "2 3 1"
  end)
  local before = shoal.now()
  for _ = 1, 1000 do
    local now = shoal.now()
    assert(now >= before)
    before = now
  end
  -- They wait at the same time.
  support.quick(3, function()
    for i = 1, 100 do
      all[i] = shoal.task(shoal.sleep, 0.05)
    end
    for i = 1, 100 do
      all[i]:result()
    end
  end)
end

-- status.
do
  local t
  t = shoal.task(function()
    assert(t:status() == "running")
    ch:receive("go")
  end)
  assert(t:status() == "ready")
  repeat
    shoal.yield()
  until t:status() == "waiting"
  ch:send("go", 1)
  t:join()
  assert(t:status() == "done")
  local failed = shoal.task(error, "x")
  failed:join()
  assert(failed:status() == "error")
end

-- An error in a task is its own.
do
  local t = shoal.task(function()
    shoal.yield()
    error("mine")
  end)
  local u = shoal.task(function()
    shoal.sleep(0.001)
    return "fine"
  end)
  assert(t:join() == nil and u:result() == "fine")
end

-- Tasks are coroutines of their own: what is running, and what a yield does at the top.
do
  local main, is_main = coroutine.running()
  assert(is_main)
  local t = shoal.task(function()
    local co, other_main = coroutine.running()
    local ok, err = pcall(coroutine.yield)
    return co ~= main, other_main, ok, err
  end)
  if support.host then
    -- The stock pcall lets the yield out to the task, which ends by it.
    expect(pack(t:join()), nil, "attempt to yield from outside a coroutine", (select(3, t:join())))
  else
    local other, other_main, ok, err = t:result()
    assert(other == true and ok == false, ok)
    assert(err == "attempt to yield from outside a coroutine", err)
    assert(other_main ~= nil)
  end
  local done, why = pcall(coroutine.yield, 1)
  assert(not done and why == "attempt to yield from outside a coroutine")
end

-- C code that yields at the top of a task gets that error, too; the process lives.
do
  local foreign = require("foreign")
  local t = shoal.task(function()
    local ok, err = pcall(function()
      foreign.yield(1)
      return "not reached"
    end)
    shoal.yield()
    return ok, err
  end)
  local ok, err = t:result()
  assert(ok == false and err:find("outside a coroutine", 1, true), err)
end

-- Many tasks, which start others.
do
  local n, done = support.scaled(5000), 0
  for _ = 1, n do
    shoal.task(function()
      shoal.yield()
      shoal.task(function()
        done = done + 1
      end)
    end)
  end
  while done < n do
    shoal.yield()
  end
end

-- Many tasks that wait at once, in one process; they are served by keys.
do
  local n = support.scaled(2000)
  local all = {}
  for i = 1, n do
    all[i] = shoal.task(function()
      return ch:receive(i)
    end)
  end
  shoal.yield()
  for i = n, 1, -1 do
    ch:send(i, i)
  end
  for i = 1, n do
    assert(all[i]:result() == i)
  end
end

-- Memory of tasks that have ended is freed.
do
  local function round()
    for _ = 1, support.scaled(2000) do
      shoal.task(function() end)
    end
    shoal.yield()
  end
  round()
  collectgarbage()
  local before = collectgarbage("count")
  for _ = 1, 10 do
    round()
  end
  collectgarbage()
  collectgarbage()
  assert(collectgarbage("count") - before < 200, collectgarbage("count") - before)
end

-- A task's scope: leaving it cancels and joins.
do
  local closed = false
  do
    local t <close> = shoal.task(function()
      local _ <close> = setmetatable({}, {
        __close = function()
          closed = true
        end,
      })
      ch:receive("never")
    end)
    shoal.yield()
    assert(t:status() == "waiting")
  end
  assert(closed)
  expect(pack(ch:receive("never", 0)), nil, "timeout")
end
