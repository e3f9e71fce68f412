-- SPDX-License-Identifier: MIT
-- No call of a pool is lost, whoever dies, is cancelled, closes or reloads when.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error
local scaled = support.scaled
local random = support.random()

local function id_of()
  return require("shoal").self().id
end

local function die()
  shoal.self():cancel()
  shoal.sleep(60)
end

-- A process that dies fails its call, with its error; it is replaced; what waits is answered.
do
  local pool <close> = shoal.pool({ size = 1, memory_limit = "8M" })
  local id = pool:call(id_of)
  local dead = pool:async(die)
  local futures = {}
  for i = 1, 5 do
    futures[i] = pool:async("math.abs", -i)
  end
  expect(pack(dead:join()), nil, shoal.cancelled)
  for i = 1, 5 do
    assert(futures[i]:result() == i)
  end
  assert(pool:call(id_of) ~= id)
  do
    local limited <close> = shoal.pool({ size = 1, cpu_limit = 0.1 })
    local function busy()
      while true do
      end
    end
    dead = pack(limited:call_for(60, busy))
    assert(dead.n == 3 and dead[2]:find("cpu limit of 0.1 s reached"), dead[2])
    expect_error("cpu limit of 0.1 s reached", limited.call, limited, busy)
    -- Where threads stand still, the limit may be met by any call.
    support.some_time("a call after those", function()
      return limited:call_for(60, "math.abs", -3)
    end)
  end
  -- Lack of memory is an error like others, also where a result or an argument is too large.
  expect_error("not enough memory", pool.call, pool, string.rep, "x", 1 << 24)
  expect_error("not enough memory", pool.call, pool, "string.len", ("x"):rep(1 << 24))
  assert(pool:call("math.abs", -3) == 3)
end

-- With several tasks, all calls of the dead process fail.
do
  local ch = shoal.channel()
  local pool <close> = shoal.pool({ size = 1, tasks = 3 })
  local function wait()
    ch:send("runs", true)
    ch:receive("never")
  end
  local waits = pool:async(wait)
  ch:receive("runs")
  local on_key = shoal.task(pcall, pool.call_on, pool, "key", wait)
  ch:receive("runs")
  expect(pack(pool:call_for(60, die)), nil, shoal.cancelled)
  expect(pack(waits:join()), nil, shoal.cancelled)
  expect(pack(on_key:join()), true, false, shoal.cancelled)
  assert(pool:call("math.abs", -3) == 3)
end

-- Processes are ended at any time: each call ends, by its result or with its process.
do
  local pool <close> = shoal.pool({ size = 2, tasks = 2 })
  local done, lost = 0, 0
  local starter = "pool " .. pool.id
  local killer = shoal.task(function()
    while true do
      for _, process in ipairs(shoal.processes()) do
        if process.name == starter and random(3) == 1 and process ~= shoal.process(starter) then
          process:cancel()
        end
      end
      shoal.sleep(random() * 0.002)
    end
  end)
  local callers = {}
  for i = 1, 3 do
    callers[i] = shoal.task(function()
      for k = 1, scaled(150, 3) do
        local ok, value = pool:call_for(60, "math.abs", -k)
        assert(ok and value == k or value == shoal.cancelled, value)
        done, lost = done + (ok and 1 or 0), lost + (ok and 0 or 1)
        ok, value = pool:call_for(60, function()
          shoal.yield()
          return k
        end)
        assert(ok and value == k or value == shoal.cancelled, value)
      end
    end)
  end
  for i = 1, 3 do
    callers[i]:result()
  end
  killer:cancel(60)
  assert(done + lost == 3 * scaled(150, 3) and done > 0)
  assert(pool:call("math.abs", -3) == 3)
end

-- Callers are cancelled, or give up, at any time: the pool goes on, and no call is left.
do
  local pool <close> = shoal.pool({ size = 2, limit = 1 })
  local counts = shoal.channel()
  local function work()
    local _ <close> = setmetatable({}, {
      __close = function()
        counts:incr("left")
      end,
    })
    counts:incr("entered")
    shoal.sleep(0.001)
    shoal.yield()
  end
  for _ = 1, scaled(60, 3) do
    local task = shoal.task(pool.call, pool, work)
    shoal.sleep(random() * 0.002)
    task:cancel(60)
    pool:call_for(random() * 0.002, work)
    local process = shoal.spawn(function()
      pool:call(work)
    end)
    shoal.sleep(random() * 0.002)
    process:cancel(60)
    local future = pool:async(work)
    future:cancel(random(2) == 1 and 60 or nil)
  end
  assert(pool:call("math.abs", -3) == 3)
  assert(pool:close(60))
  assert((counts:get("entered") or 0) == (counts:get("left") or 0))
end

-- A script that does not load: who calls gets its error; each call tries again, and it may succeed.
do
  local ch = shoal.channel()
  local pool <close> = shoal.pool({
    size = 2,
    body = function()
      if ch:incr("tries") <= 6 then
        error("not yet", 0)
      end
    end,
  })
  local failed = 0
  for _ = 1, 100 do
    local ok, err, traceback = pool:call_for(60, "math.abs", -3)
    if ok then
      break
    end
    assert(err == "not yet" and traceback:find("^stack traceback:"))
    failed = failed + 1
  end
  assert(failed >= 1 and failed < 7, failed)
  local key = pack(pool:call_on("key", "math.abs", -3))
  expect(key, 3)
  -- It never loads; some wait when it fails, by a call_on, too.
  local never <close> =
    shoal.pool({ size = 2, limit = 5, body = "require('shoal').sleep(0.001) error({})" })
  local on_key = shoal.task(pcall, never.call_on, never, "key", "math.abs", -3)
  for _ = 1, 3 do
    local ok, err = never:call_for(60, "math.abs", -3)
    assert(not ok and type(err) == "table")
  end
  local _, ok, err = on_key:join()
  assert(not ok and type(err) == "table")
  assert(never:reload())
  assert(not never:call_for(60, "math.abs", -3))
  local future = never:async("math.abs", -3)
  assert(never:close(60) == true and not future:join(0))
  -- The processes end themselves while they load; or have no memory even for that.
  local ends <close> = shoal.pool({ size = 1, body = die })
  expect_error("the process was cancelled while it loaded the script", ends.call, ends, "type", 1)
  local small <close> = shoal.pool({ size = 1, memory_limit = 1000 })
  expect_error(
    "memory limit of 1000 bytes is too small for a process",
    small.call,
    small,
    "type",
    1
  )
  expect_error("item 1: memory limit of 1000", small.map, small, "type", { 1, 2, 3 }, { chunk = 1 })
end

-- A pool is left before its starter has started: what was called is closed.
for round = 1, scaled(20, 3) do
  local future, waiting
  do
    local pool <close> = shoal.pool({ size = 1, limit = 1, name = "left at once" })
    future = pool:async("type", 1)
    waiting = shoal.task(pool.call_for, pool, 60, "type", 1)
    if round % 2 == 0 then
      pool:close(0)
    end
  end
  local ok, err = future:join(60)
  assert(ok or err == "closed" or err == shoal.cancelled, err)
  ok, err = waiting:result()
  assert(ok or err == "closed" or err == shoal.cancelled, err)
end
-- close while callers come, processes die and calls stand there: all of them end.
for round = 1, scaled(30, 3) do
  local pool = shoal.pool({ size = 2, tasks = random(2), limit = random(3) })
  local callers = {}
  for i = 1, 4 do
    callers[i] = shoal.task(function()
      local closed
      for k = 1, 10 do
        local call = random(4) == 1 and die or "math.abs"
        local ok, value = pool:call_for(60, call, -k)
        assert(ok and value == k or value == shoal.cancelled or value == "closed", value)
        assert(not closed or value == "closed")
        closed = value == "closed"
      end
    end)
  end
  shoal.sleep(random() * 0.003)
  if round % 3 == 0 then
    pool:close(random() * 0.001)
  elseif round % 3 == 1 then
    assert(pool:close())
  else
    local _ <close> = pool
  end
  for i = 1, 4 do
    callers[i]:result()
  end
  expect(pack(pool:call_for(1, "math.abs", -1)), nil, "closed")
end

-- reload while calls are made: none is lost, and those made after it has returned see the new one.
do
  local file <close> = support.temporary("return { version = function() return 1 end }")
  local pool <close> = shoal.pool({ size = 2, tasks = 2, file = file.path })
  local newest = 1
  local stop = false
  local callers = {}
  for i = 1, 3 do
    callers[i] = shoal.task(function()
      while not stop do
        local least = newest
        local version = i == 1 and pool:call_on(i, "version") or pool:call("version")
        assert(version >= least and version <= newest + 1)
      end
    end)
  end
  for version = 2, scaled(20, 3) do
    support.write_file(file.path, ("return { version = function() return %d end }"):format(version))
    assert(pool:reload())
    newest = version
    pool:call("type", 1)
  end
  stop = true
  for i = 1, 3 do
    callers[i]:result()
  end
end

-- Many make the pool of one name at one time: there is one.
for round = 1, scaled(10, 2) do
  local ch = shoal.channel()
  local name = "made by many " .. round
  for _ = 1, 4 do
    shoal.spawn(function()
      local made = shoal.pool({ name = name, size = 1 })
      assert(made:call("math.abs", -3) == 3)
      ch:send("pool", made)
    end)
  end
  local pool = ch:receive("pool")
  for _ = 2, 4 do
    assert(ch:receive("pool") == pool)
  end
  assert(pool:close(60))
end

-- Somebody ends the starter: that closes the pool.
do
  local pool = shoal.pool({ size = 1, name = "kept" })
  local ch = shoal.channel()
  local runs = pool:async(function()
    ch:send("runs", true)
    ch:receive("never")
  end)
  local waits = pool:async("type", 1)
  ch:receive("runs")
  assert(shoal.process("pool kept"):cancel(60))
  expect(pack(runs:join()), nil, shoal.cancelled)
  expect(pack(waits:join()), nil, "closed")
  expect(pack(pool:call_for(1, "type", 1)), nil, "closed")
  assert(pool:close() and pool:close(0))
  local again <close> = shoal.pool({ size = 1, name = "kept" })
  assert(again:call("type", 1) == "number")
end

-- What is called for ever is a deadlock; a pool that is left is no reason for the program to go on.
do
  local status, out, err = support.run([[
    local shoal = require("shoal")
    local pool = shoal.pool({ size = 2 })
    print(pcall(pool.call, pool, function()
      require("shoal").channel("ch"):receive("never")
    end))
    pool:async(function()
      require("shoal").channel("ch"):receive("never")
    end)
  ]])
  assert(status == 0 and err == "", err)
  assert(out:find("deadlock: nothing can run any more", 1, true), out)
  assert(out:find("join of a call, at", 1, true), out)
end

support.eventually(function()
  return support.others() == 0
end)
