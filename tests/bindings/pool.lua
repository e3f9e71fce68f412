-- SPDX-License-Identifier: MIT
-- shoal.pool: processes that have loaded a script, and are called.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error
local scaled = support.scaled

local function script()
  local calls = 0
  _G.count = function()
    calls = calls + 1
    return calls
  end
  return {
    add = function(a, b)
      return a + b
    end,
    id = function()
      return require("shoal").self().id
    end,
    fail = function(value)
      error(value, 0)
    end,
    die = function()
      shoal.self():cancel()
      shoal.sleep(60)
    end,
    wait = function(ch, key)
      ch:send("runs", true)
      return ch:receive(key)
    end,
    more = { deep = { upper = string.upper } },
  }
end

-- By name: of the table that the script returns, or a global, with dots; or a function.
do
  local pool <close> = shoal.pool({ size = 2, body = script })
  assert(shoal.type(pool) == "pool" and math.type(pool.id) == "integer" and pool.name == nil)
  assert(tostring(pool):find("^pool: %d+$"))
  assert(pool:call("add", 1, 2) == 3)
  assert(pool:call("more.deep.upper", "x") == "X" and pool:call("string.rep", "x", 3) == "xxx")
  assert(pool:call("count") >= 1)
  local base = 10
  expect(
    pack(pool:call(function(...)
      return base, select("#", ...), ...
    end, nil, 3, nil)),
    10,
    3,
    nil,
    3,
    nil
  )
  expect(pack(pool:call(function() end)))
  expect(pack(pool:call_for(20, "add", 3, 4)), true, 7)
  -- The code of a pool is loaded by each of its processes, once.
  local ids = {}
  for _ = 1, 20 do
    ids[pool:call("id")] = true
  end
  for id in pairs(ids) do
    assert(shoal.process(id).name:find("^pool"))
  end
end
assert(support.others() == 0, select(2, support.others()))

-- Errors come to the caller, as by result; the pool goes on.
do
  local pool <close> = shoal.pool({ size = 1, body = script })
  local text = expect_error("boom", pool.call, pool, "fail", "boom")
  assert(text:find("^boom\nstack traceback:\n"), text)
  local ok, err = pcall(pool.call, pool, "fail", { code = 5 })
  assert(not ok and err.code == 5)
  local outcome = pack(pool:call_for(20, "fail", "boom"))
  assert(outcome.n == 3 and outcome[2] == "boom" and outcome[3]:find("^stack traceback:"))
  expect_error("the pool has no function 'nothing'", pool.call, pool, "nothing")
  expect_error("the pool has no function 'more.nothing.x'", pool.call, pool, "more.nothing.x")
  expect_error("attempt to call a table value", pool.call, pool, "more")
  expect_error("cannot send a coroutine (at [1])", pool.call, pool, function()
    return coroutine.create(print)
  end)
  expect_error("cannot send a coroutine (at [2])", pool.call, pool, "add", coroutine.create(print))
  expect_error("(error object is a thread value)", pool.call, pool, function()
    error(coroutine.create(print))
  end)
  assert(pool:call("add", 1, 1) == 2)
end

-- Futures: join, result, cancel, status, select, ==, tostring, <close>.
do
  local ch = shoal.channel()
  local pool <close> = shoal.pool({ size = 1, body = script })
  local first = pool:async("wait", ch, "go")
  assert(shoal.type(first) == "future" and tostring(first):find("^future: "))
  assert(first == first and first ~= pool:async("add", 1, 2))
  ch:receive("runs")
  local second = pool:async("add", 1, 2)
  assert(first:status() == "running" and second:status() == "ready")
  expect(pack(first:join(0)), nil, "timeout")
  expect(pack(first:join(0.001)), nil, "timeout")
  assert(select(2, pcall(first.result, first, 0)) == shoal.timeout)
  expect(pack(shoal.select({ { first }, { second }, timeout = 0 })), nil, "timeout")
  ch:send("go", "an", nil, "answer")
  expect(
    pack(shoal.select({ { ch, "never" }, { first }, { second }, timeout = 20 })),
    2,
    true,
    "an",
    nil,
    "answer"
  )
  expect(pack(first:join()), true, "an", nil, "answer")
  expect(pack(first:join()), true, "an", nil, "answer")
  assert(second:result() == 3 and second:status() == "done")
  expect(pack(shoal.select({ { ch, "never" }, { second } })), 2, true, 3)
  local failed = pool:async("fail", "boom")
  local outcome = pack(shoal.select({ { failed } }))
  assert(
    outcome[1] == 1 and outcome[2] == nil and outcome[3] == "boom" and failed:status() == "error"
  )
  -- Cancelled before it has begun: it never does. While it runs: its task ends, the process stays.
  local id = pool:call("id")
  first = pool:async("wait", ch, "never")
  second = pool:async("wait", ch, "never")
  ch:receive("runs")
  assert(second:cancel() and second:status() == "cancelled")
  expect(pack(second:join()), nil, shoal.cancelled)
  assert(first:cancel(20) and first:status() == "cancelled")
  assert(first:cancel() and first:cancel(0))
  assert(select(2, pcall(first.result, first)) == shoal.cancelled)
  expect(pack(ch:receive("runs", 0)), nil, "timeout")
  assert(pool:call("id") == id)
  do
    local scoped <close> = pool:async("wait", ch, "never")
    ch:receive("runs")
    first = scoped
  end
  assert(first:status() == "cancelled")
  -- Nobody need wait for it.
  pool:async(function()
    ch:send("done", true)
  end)
  assert(ch:receive("done", 20))
  expect_error("cannot send a userdata", ch.send, ch, "x", first)
  expect_error(
    "case 1: a channel, process, task, future or socket expected, got pool",
    shoal.select,
    { { pool } }
  )
  expect_error("case 1: only a channel has keys", shoal.select, { { first, 1 } })
end

-- call_for cancels what takes too long, in a busy loop, too; a cancel of the caller does so.
do
  local ch = shoal.channel()
  local pool <close> = shoal.pool({ size = 1, body = script })
  local id = pool:call("id")
  expect(
    pack(pool:call_for(0.001, function()
      while true do
      end
    end)),
    nil,
    "timeout"
  )
  expect(pack(pool:call_for(0.001, "wait", ch, "never")), nil, "timeout")
  expect(pack(pool:call_for(0, "wait", ch, "never")), nil, "timeout")
  ch:set("runs")
  local caller = shoal.spawn(function()
    pool:call("wait", ch, "never")
  end)
  ch:receive("runs")
  assert(caller:cancel(20))
  local task = shoal.task(pool.call, pool, "wait", ch, "never")
  ch:receive("runs")
  assert(task:cancel(20) and task:status() == "cancelled")
  assert(pool:call("id") == id)
end

-- Handles travel, are equal, and may be keys. A named pool is got or made.
do
  local pool <close> = shoal.pool({ name = "the pool", size = 2, tasks = 3, body = script })
  assert(tostring(pool):find("^pool: %d+ %(the pool%)$") and pool.name == "the pool")
  assert(shoal.pool({ name = "the pool" }) == pool)
  assert(shoal.pool({ name = "the pool", size = 2, tasks = 3, limit = math.huge }) == pool)
  expect_error(
    "bad argument #1 to 'pool' (pool 'the pool' exists with another size (2))",
    shoal.pool,
    { name = "the pool", size = 3 }
  )
  expect_error("exists with another limit", shoal.pool, { name = "the pool", limit = 3 })
  local p = shoal.spawn(function(given)
    local got = require("shoal").pool({ name = "the pool" })
    local ch = require("shoal").channel()
    ch:send(given, 1)
    return got == given, ch:receive(got), given, got:call("add", 1, 2)
  end, pool)
  expect(pack(p:join()), true, true, 1, pool, 3)
  assert(pool:close())
  local again <close> = shoal.pool({ name = "the pool", size = 1, body = "return { add = 1 }" })
  assert(again ~= pool)
end

-- At the limit, calls wait.
do
  local ch = shoal.channel()
  local pool <close> = shoal.pool({ size = 1, limit = 2, body = script })
  local running = pool:async("wait", ch, "go")
  ch:receive("runs")
  pool:async("add", 1, 2)
  local last = pool:async("add", 1, 2)
  expect(pack(pool:call_for(0.001, "add", 1, 2)), nil, "timeout")
  expect(pack(pool:call_for(0, "add", 1, 2)), nil, "timeout")
  local waiting = shoal.task(pool.async, pool, "add", 3, 4)
  shoal.yield()
  assert(waiting:status() == "waiting")
  ch:send("go", true)
  assert(waiting:result():result() == 7 and last:result() == 3 and running:result() == true)
end

-- tasks: so many calls at a time in one process. Without, one.
do
  for tasks = 1, 3 do
    local ch = shoal.channel()
    local pool <close> = shoal.pool({ size = 1, tasks = tasks, body = script })
    local futures = {}
    for i = 1, 4 do
      futures[i] = pool:async("wait", ch, "go")
    end
    for _ = 1, tasks do
      ch:receive("runs")
    end
    expect(pack(ch:receive("runs", 0.005)), nil, "timeout")
    for _ = 1, 4 do
      ch:send("go", true)
    end
    for i = 1, 4 do
      assert(futures[i]:result() == true)
    end
  end
end

-- call_on: equal keys go to one process, in order, one at a time.
do
  for tasks = 1, 2 do
    local pool <close> = shoal.pool({
      size = 3,
      tasks = tasks,
      body = function()
        local busy, last = false, {}
        return {
          step = function(key, i)
            assert(not busy)
            busy = true
            shoal.yield()
            assert((last[key] or 0) == i - 1)
            last[key] = i
            busy = false
            return shoal.self().id
          end,
        }
      end,
    })
    local tally = {}
    local callers = {}
    for _, key in ipairs({ "a", 7, true, "b", pool }) do
      callers[#callers + 1] = shoal.task(function()
        local id
        for i = 1, scaled(20, 3) do
          local now = pool:call_on(key, "step", tostring(key), i)
          assert(now == (id or now))
          id = now
        end
        tally[id] = true
      end)
    end
    for _, caller in ipairs(callers) do
      caller:result()
    end
    assert(next(tally))
  end
end

-- pool:map.
do
  local pool <close> = shoal.pool({ size = 2, body = script })
  local n = scaled(2000, 20)
  local list = {}
  for i = 1, n do
    list[i] = i
  end
  local results = pool:map(function(x, i)
    return x + i
  end, list)
  assert(results.n == n and results[1] == 2 and results[n] == 2 * n)
  assert(support.same(pool:map("math.abs", { -1, -2 }), { 1, 2, n = 2 }))
  assert(
    support.same(
      pool:map("more.deep.upper", ("a b"):gmatch("%a"), { chunk = 1 }),
      { "A", "B", n = 2 }
    )
  )
  expect_error("item 7: seven", pool.map, pool, function(x)
    if x >= 7 then
      error("seven", 0)
    end
  end, list)
  expect_error("item 1: the pool has no function 'no'", pool.map, pool, "no", { 1 })
  expect_error("#1 to 'map' (a function or the name of one expected, got nil)", pool.map, pool)
  expect_error("#2 to 'map' (a list or an iterator expected, got nil)", pool.map, pool, print)
  expect_error("#3 to 'map' (there is no option 'x'", pool.map, pool, print, {}, { x = 1 })
  assert(pool:call("add", 1, 2) == 3)
end

-- A pool that is called where it is itself called, and where a map runs.
do
  local pool <close> = shoal.pool({ size = 2, body = script })
  assert(pool:call(function()
    return pool:call("add", 1, 2) + 1
  end) == 4)
  local results = shoal.map(function(x)
    return pool:call("add", x, x)
  end, { 1, 2, 3 })
  assert(support.same(results, { 2, 4, 6, n = 3 }))
  assert(pool:call(function()
    return require("shoal").map(math.abs, { -1, -2 }).n
  end) == 2)
end

-- A script in a file; reload takes it anew.
do
  local file <close> =
    support.temporary("local n = 0 return { version = function() n = n + 1 return 1, n end }")
  local pool <close> = shoal.pool({ size = 1, file = file.path })
  expect(pack(pool:call("version")), 1, 1)
  expect(pack(pool:call("version")), 1, 2)
  support.write_file(file.path, "return { version = function() return 2, 0 end }")
  expect(pack(pool:call("version")), 1, 3)
  assert(pool:reload() == true)
  expect(pack(pool:call("version")), 2, 0)
  support.write_file(file.path, "return {")
  expect_error("near <eof>", pool.reload, pool)
  expect(pack(pool:call("version")), 2, 0)
  expect_error("near <eof>", shoal.pool, { file = file.path })
  expect_error("No such file", shoal.pool, { file = file.path .. ".no" })
  local with_tasks <close> = shoal.pool({ size = 2, tasks = 2, body = "calls = 0" })
  assert(with_tasks:reload() and with_tasks:call("type", 5) == "number")
end

-- Processes get the options of spawn.
do
  _G.answer = 42
  local pool <close> = shoal.pool({
    size = 1,
    env = { answer = 42 },
    libs = { "math" },
    memory_limit = "4M",
    body = "function ask() return answer, shoal, require, math.abs(-1), #string_free() end "
      .. "function string_free() return { 1 } end",
  })
  expect(pack(pool:call("ask")), 42, nil, nil, 1, 1)
  assert(pool:call("math.abs", -3) == 3)
  local all <close> = shoal.pool({ size = 1, env = _G })
  assert(all:call(function()
    return _G.answer
  end) == 42)
  _G.answer = nil
  local a <close> = shoal.pool({ size = 1, seed = 7 })
  local b <close> = shoal.pool({ size = 1, seed = 7 })
  assert(a:call("math.random", 1 << 40) == b:call("math.random", 1 << 40))
end

-- close: what has been called is still answered; afterwards nothing is.
do
  local ch = shoal.channel()
  local pool = shoal.pool({ size = 2, body = script })
  local futures = {}
  for i = 1, 5 do
    futures[i] = pool:async(function()
      shoal.sleep(0.001)
      return i
    end)
  end
  assert(pool:close() == true)
  for i = 1, 5 do
    expect(pack(futures[i]:join()), true, i)
  end
  assert(pool:close() == true and pool:close(0) == true)
  expect_error("the pool is closed", pool.call, pool, "add", 1, 2)
  expect(pack(pool:call_for(1, "add", 1, 2)), nil, "closed")
  expect_error("the pool is closed", pool.call_on, pool, "k", "add", 1, 2)
  expect_error("the pool is closed", pool.reload, pool)
  expect_error("item 1: the pool is closed", pool.map, pool, "add", { 1 })
  local future = pool:async("add", 1, 2)
  expect(pack(future:join()), nil, "closed")
  expect(pack(shoal.select({ { future } })), 1, nil, "closed")
  expect_error("the pool is closed", future.result, future)
  assert(future:status() == "error")
  -- A timeout ends what still runs, and what waits is closed.
  pool = shoal.pool({ size = 1, body = script })
  local runs = pool:async("wait", ch, "never")
  local waits = pool:async("add", 1, 2)
  ch:receive("runs")
  expect(pack(pool:close(0.005)), nil, "timeout")
  expect(pack(runs:join(20)), nil, shoal.cancelled)
  expect(pack(waits:join(20)), nil, "closed")
  -- So does leaving a scope.
  do
    local scoped <close> = shoal.pool({ size = 1, body = script })
    runs = scoped:async("wait", ch, "never")
    waits = scoped:async("add", 1, 2)
    ch:receive("runs")
  end
  expect(pack(runs:join(20)), nil, shoal.cancelled)
  expect(pack(waits:join(20)), nil, "closed")
  -- Who waits at the limit is told.
  pool = shoal.pool({ size = 1, limit = 0, body = script })
  runs = pool:async("wait", ch, "go")
  ch:receive("runs")
  local caller = shoal.task(pool.call_for, pool, 20, "add", 1, 2)
  shoal.yield()
  local closing = shoal.task(pool.close, pool)
  expect(pack(caller:result()), nil, "closed")
  ch:send("go", 5)
  assert(closing:result() == true and runs:result() == 5)
end

assert(support.others() == 0, select(2, support.others()))
