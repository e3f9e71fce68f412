-- SPDX-License-Identifier: MIT
-- A key as a place for a value: set, get, add, incr, expire, ttl, count, keys.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

-- set replaces all that stands there; get looks and takes nothing.
do
  expect(pack(ch:get("k")), nil)
  assert(ch:set("k", 1) == true)
  expect(pack(ch:get("k")), 1)
  expect(pack(ch:get("k")), 1)
  ch:send("k", 2)
  ch:send("k", 3)
  expect(pack(ch:get("k")), 1)
  assert(ch:count("k") == 3)
  ch:set("k", "a", nil, { "c" })
  assert(ch:count("k") == 1)
  expect(pack(ch:get("k")), "a", nil, { "c" })
  expect(pack(ch:receive("k")), "a", nil, { "c" })
  -- No values: clears.
  ch:send("k", 1)
  ch:send("k", 2)
  assert(ch:set("k") == true and ch:count("k") == 0 and #ch:keys() == 0)
  expect(pack(ch:get("k")), nil)
  -- Each get is a copy of its own.
  ch:set("k", { 1 })
  local a, b = ch:get("k"), ch:get("k")
  a[1] = 2
  assert(a ~= b and b[1] == 1 and ch:get("k")[1] == 1)
  ch:set("k")
end

-- A waiting receiver takes what is set; incr likewise; get does not see it.
do
  for _, give in ipairs({
    function()
      ch:set("k", 1)
    end,
    function()
      assert(ch:incr("k") == 1)
    end,
    function()
      assert(ch:add("k", 1) == true)
    end,
  }) do
    local t = shoal.task(function()
      return ch:receive("k")
    end)
    shoal.yield()
    give()
    assert(ch:count("k") == 0 and ch:get("k") == nil)
    assert(t:result() == 1)
  end
end

-- add: only if nothing stands there.
do
  assert(ch:add("once", 1, 2) == true)
  expect(pack(ch:add("once", 3)), nil, "exists")
  expect(pack(ch:receive("once")), 1, 2)
  assert(ch:add("once", 4) == true and ch:receive("once") == 4)
  -- One of many gets it.
  local all = {}
  for i = 1, 8 do
    all[i] = shoal.spawn(function()
      return (ch:add("leader", i))
    end)
  end
  local leaders = 0
  for _, p in ipairs(all) do
    leaders = leaders + (p:result() and 1 or 0)
  end
  assert(leaders == 1 and ch:count("leader") == 1)
  ch:set("leader")
end

-- incr: integers stay integers, and it is atomic.
do
  expect(pack(ch:incr("n")), 1)
  expect(pack(ch:incr("n", 5)), 6)
  expect(pack(ch:incr("n", -10)), -4)
  expect(pack(ch:get("n")), -4)
  expect(pack(ch:incr("n", 0.5)), -3.5)
  expect(pack(ch:incr("n", 0.5)), -3.0)
  ch:set("n", math.maxinteger)
  expect(pack(ch:incr("n")), math.mininteger)
  ch:set("n", (1 << 53) + 1)
  expect(pack(ch:incr("n", 0)), (1 << 53) + 1)
  -- Anything else is an error, and stays as it is.
  for _, values in ipairs({ { "1" }, { 1, 2 }, { true }, { {} } }) do
    ch:set("n", table.unpack(values))
    expect_error("number", ch.incr, ch, "n")
    expect(pack(ch:get("n")), table.unpack(values))
  end
  ch:set("n", 1)
  ch:send("n", 1)
  expect_error("one", ch.incr, ch, "n")
  assert(ch:count("n") == 2)
  ch:set("n")

  local n = support.scaled(2000)
  local all = {}
  for i = 1, 4 do
    all[i] = shoal.spawn(function()
      for _ = 1, n do
        ch:incr("total")
      end
    end)
  end
  for _, p in ipairs(all) do
    p:result()
  end
  assert(ch:receive("total") == 4 * n)
end

-- set wakes senders where it makes room.
do
  local narrow = shoal.channel({ limit = 2 })
  narrow:send("k", 1)
  narrow:send("k", 2)
  local t = shoal.task(function()
    return narrow:send("k", 3)
  end)
  shoal.yield()
  narrow:set("k", "new")
  assert(t:result() == true and narrow:count("k") == 2)
  expect(pack(narrow:receive("k")), "new")
  expect(pack(narrow:receive("k")), 3)
  -- set is not held up by the limit.
  narrow:limit("z", 0)
  assert(narrow:set("z", 1) == true and narrow:get("z") == 1)
end

-- expire, ttl.
do
  expect(pack(ch:expire("t", 1)), nil, "not found")
  expect(pack(ch:ttl("t")), nil)
  ch:set("t", 1)
  expect(pack(ch:ttl("t")), nil)
  assert(ch:expire("t", 100) == true)
  local left = ch:ttl("t")
  assert(left > 50 and left <= 100, left)
  -- incr keeps it, set clears it, and it ends when the key empties.
  ch:incr("t")
  assert(ch:ttl("t"))
  ch:set("t", 1)
  assert(ch:ttl("t") == nil)
  ch:expire("t", 100)
  ch:receive("t")
  ch:send("t", 1)
  assert(ch:ttl("t") == nil)
  -- Later or earlier, and never.
  ch:expire("t", 100)
  ch:expire("t", 1000)
  assert(ch:ttl("t") > 500)
  ch:expire("t", math.huge)
  assert(ch:ttl("t") == nil)

  -- Then all that stands there is gone.
  ch:send("t", 2)
  ch:expire("t", 0.02)
  support.eventually(function()
    return ch:count("t") == 0
  end)
  assert(ch:get("t") == nil and ch:ttl("t") == nil)
  expect(pack(ch:receive("t", 0)), nil, "timeout")
  -- At once.
  ch:set("t", 1)
  ch:expire("t", 0)
  support.eventually(function()
    return ch:get("t") == nil
  end)
  -- What was set again in time stays.
  ch:set("t", "old")
  ch:expire("t", 0.03)
  ch:set("t", "new")
  shoal.sleep(0.1)
  assert(ch:receive("t", 0) == "new")
  -- The end of one life is not that of the next.
  repeat
    ch:set("t", 1)
    ch:expire("t", 0.03)
  until ch:receive("t", 0)
  ch:set("t", 2)
  ch:expire("t", 100)
  shoal.sleep(0.1)
  assert(ch:receive("t", 0) == 2)
end

-- incr with a ttl for a new key: a rate limit.
do
  assert(ch:incr("rate", 1, 100) == 1 and ch:ttl("rate") <= 100)
  assert(ch:incr("rate", 1, 1000) == 2 and ch:ttl("rate") <= 100)
  ch:set("rate")
  assert(ch:incr("rate", 1, 0.02) == 1)
  support.eventually(function()
    return not ch:get("rate")
  end)
  assert(ch:incr("rate", 1, 100) == 1)
  ch:set("rate")
end

-- Expiry lets waiting senders in.
do
  local narrow = shoal.channel({ limit = 1 })
  narrow:send("k", "stale")
  narrow:expire("k", 0.02)
  local t = shoal.task(function()
    return narrow:send("k", "fresh")
  end)
  assert(t:result() == true and narrow:receive("k") == "fresh")
end

-- Many keys that expire, in order and out of it.
do
  local random = support.random()
  local n = support.scaled(500)
  local keep = 0
  for i = 1, n do
    ch:set(i, i)
    local long = random(4) == 1
    keep = keep + (long and 1 or 0)
    ch:expire(i, long and 1000 or random() * 0.05)
  end
  support.eventually(function()
    return #ch:keys() <= keep
  end)
  assert(#ch:keys() == keep)
  for _, key in ipairs(ch:keys()) do
    assert(ch:ttl(key) > 500)
    ch:set(key)
  end
end

-- count and keys see what stands there.
do
  assert(#ch:keys() == 0 and ch:count("x") == 0)
  ch:send("x", 1)
  ch:send("x", 2)
  ch:set(1, "one")
  ch:send(true, 1)
  local names = {}
  for _, key in ipairs(ch:keys()) do
    names[key] = ch:count(key)
  end
  assert(support.same(names, { x = 2, [1] = 1, [true] = 1 }))
  -- A key that only has waiters is none.
  local t = shoal.task(function()
    return ch:receive("waited", 0.01)
  end)
  shoal.yield()
  assert(#ch:keys() == 3)
  t:join()
end

-- No switch of tasks in any of these.
do
  local others = 0
  local stop = false
  local t = shoal.task(function()
    while not stop do
      others = others + 1
      shoal.yield()
    end
  end)
  shoal.yield()
  local before = others
  for i = 1, 3000 do
    ch:set("s", i)
    ch:get("s")
    ch:incr("s")
    ch:count("s")
    ch:add("s", 1)
    ch:limit("s")
    ch:ttl("s")
    ch:expire("s", 100)
  end
  for _ = 1, 20 do
    shoal.spawn(function() end)
    shoal.task(function() end)
  end
  assert(others == before, "the other task ran")
  stop = true
  t:result()
end
