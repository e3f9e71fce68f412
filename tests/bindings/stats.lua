-- SPDX-License-Identifier: MIT
-- p:stats(): what a process has used, seen from itself and from others.
local shoal = require("shoal")
local support = require("support")

-- The fields, of oneself and of a process that waits.
do
  local ch = shoal.channel("jobs of stats")
  local p = shoal.spawn({ name = "waiter" }, function()
    ch:receive("a key")
    ch:receive("another")
  end)
  local seen
  repeat
    shoal.yield()
    seen = p:stats()
  until seen.waiting_on
  assert(seen.memory > 10000 and math.type(seen.memory) == "integer")
  assert(math.type(seen.cpu) == "float" and seen.cpu >= 0)
  assert(seen.slices >= 1 and seen.sent == 0 and seen.received == 0)
  local expected = 'receive on channel "jobs of stats", key "a key", at '
  assert(seen.waiting_on:find(expected, 1, true) == 1, seen.waiting_on)
  assert(seen.waiting_on:find("stats.lua:10", 1, true), seen.waiting_on)
  ch:send("a key", 1)
  repeat
    shoal.yield()
    seen = p:stats()
  until seen.waiting_on and seen.waiting_on:find("another", 1, true)
  assert(seen.received == 1 and seen.slices >= 2, seen.received .. " " .. seen.slices)
  ch:send("another", 1)
  p:join()
  -- Afterwards they are what they were, but it has no memory.
  seen = p:stats()
  assert(seen.memory == 0 and seen.received == 2 and seen.waiting_on == nil)
  -- Its own.
  local mine = shoal.self():stats()
  assert(mine.memory > 10000 and mine.waiting_on == nil and mine.sent == 2)
end

-- The body's wait, seen by a task of the process.
do
  local p = shoal.spawn(function()
    local s = require("shoal")
    local seen
    local task = s.task(function()
      seen = s.self():stats().waiting_on
    end)
    task:join()
    return seen
  end)
  assert(p:result():find("join of a task", 1, true) == 1)
end

-- The memory is that of the collector.
do
  local p = shoal.spawn(function()
    local s = require("shoal")
    local before = s.self():stats().memory
    local text = ("x"):rep(1 << 20)
    return s.self():stats().memory - before, #text
  end)
  local grown = p:result()
  assert(grown > 1000000 and grown < 3 << 20, grown)
  local counted, memory = collectgarbage("count") * 1024, shoal.self():stats().memory
  assert(math.abs(counted - memory) < 10000)
end

-- What counts as a message.
do
  local ch = shoal.channel({ limit = 100 })
  local p = shoal.spawn(function()
    local counts = {}
    local function note()
      local seen = require("shoal").self():stats()
      counts[#counts + 1] = seen.sent .. "/" .. seen.received
    end
    ch:send("k", 1) -- 1
    ch:send_for(0, "k", 1) -- 2
    ch:send_batch("k", { 1, "x", {} }) -- 5
    ch:set("s", 1) -- 6
    note()
    -- None of these.
    ch:set("s")
    ch:incr("n")
    ch:get("k")
    ch:limit("full", 1)
    ch:add("a", 1) -- 7
    ch:add("a", 1)
    ch:send("full", 1) -- 8
    ch:send_for(0, "full", 1)
    ch:send_for(0.001, "full", 1)
    pcall(ch.send, ch, "k", coroutine.create(print))
    ch:receive("none", 0)
    note()
    ch:receive("k") -- 1
    ch:receive_any({ "none", "k" }) -- 2
    ch:receive_batch("k", 10) -- 5
    ch:each("a")() -- 6
    note()
    return counts
  end)
  assert(support.same(p:result(), { "6/0", "8/0", "8/6" }))
  -- A send that had to wait.
  ch:limit("slow", 1)
  local q = shoal.spawn(function()
    ch:send("slow", 1)
    ch:send("slow", 2)
    ch:send_batch("many", { 1, 2, 3 })
    return require("shoal").self():stats().sent
  end)
  assert(ch:receive("slow") == 1 and ch:receive("slow") == 2)
  assert(q:result() == 5)
end

-- Turns and time: more for who does more. Without a limit the time is sampled.
do
  local rounds = support.scaled(10000)
  local function work(limit)
    local p = shoal.spawn({ cpu_limit = limit }, function()
      local s = require("shoal")
      local start = s.now()
      while s.self():stats().cpu < 0.05 do
        for _ = 1, rounds do
        end
      end
      return s.now() - start, s.self():stats().cpu
    end)
    return p:result()
  end
  for _, limit in ipairs({ 1000, math.huge }) do
    local passed, cpu = work(limit)
    assert(cpu >= 0.05 and cpu <= passed + 0.05, cpu)
  end
  -- (A thread that stands still in a turn takes time, too.)
  support.some_time("to sleep takes no time", function()
    local idle = shoal.spawn({ cpu_limit = 1000 }, function()
      require("shoal").sleep(0.05)
    end)
    idle:join()
    local seen = idle:stats()
    assert(seen.slices >= 2)
    return seen.cpu < 0.05
  end)
  local turns = shoal.spawn(function()
    for _ = 1, 100 do
      require("shoal").yield()
    end
  end)
  turns:join()
  assert(turns:stats().slices > 100)
end

-- From any thread while it runs, waits, and ends: many look at many.
do
  local done = shoal.channel()
  local ch = shoal.channel()
  local looked = {}
  for i = 1, 4 do
    looked[i] = shoal.spawn(function(target)
      local s = require("shoal")
      local last, waits = { cpu = 0, slices = 0, sent = 0, received = 0 }, 0
      local rounds = 0
      while not done:get("k") do
        local seen = target:stats()
        for _, field in ipairs({ "cpu", "slices", "sent", "received" }) do
          assert(seen[field] >= last[field], field)
        end
        assert(seen.memory >= 0)
        if seen.waiting_on then
          -- At the end it waits for those who look.
          local wait = seen.waiting_on
          assert(wait:find("^receive on channel") or wait:find("^join of process"), wait)
          waits = waits + 1
        end
        last = seen
        rounds = rounds + 1
        if rounds % 10 == 0 then
          s.yield()
        end
      end
      return rounds, waits
    end, shoal.self())
    shoal.spawn(function()
      while not done:get("k") do
        ch:send("k", 1)
        require("shoal").yield()
      end
    end)
  end
  for _ = 1, support.scaled(3000, 100) do
    ch:receive("k")
  end
  done:send("k", 1)
  for _, p in ipairs(looked) do
    p:result()
  end
end

-- The handle must be one.
support.expect_error("shoal.process expected", shoal.self().stats, 1)
