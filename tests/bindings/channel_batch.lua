-- SPDX-License-Identifier: MIT
-- Many messages by one call.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

-- Each element is a message of one value.
do
  assert(ch:send_batch("k", { 1, "two", { 3 }, false }) == true)
  assert(ch:count("k") == 4)
  expect(pack(ch:receive("k")), 1)
  expect(pack(ch:receive("k")), "two")
  expect(pack(ch:receive("k")), { 3 })
  expect(pack(ch:receive("k")), false)
  assert(ch:send_batch("k", {}) == true and ch:count("k") == 0)
end

-- receive_batch: the first values of what stands there, up to max, in order, with n.
do
  ch:send("k", 1, "more")
  ch:send("k", 2)
  ch:send("k", { 3 }, nil)
  expect(pack(ch:receive_batch("k", 2)), { 1, 2, n = 2 })
  expect(pack(ch:receive_batch("k", 2)), { { 3 }, n = 1 })
  expect(pack(ch:receive_batch("k", 2, 0)), nil, "timeout")
  expect(pack(ch:receive_batch("k", 2, 0.01)), nil, "timeout")
  ch:send("k", 1, nil, 3, nil)
  ch:send("k", 2)
  expect(pack(ch:receive_batch("k", 9, 0, "pack")), {
    { 1, nil, 3, nil, n = 4 },
    { 2, n = 1 },
    n = 2,
  })
  ch:send("k", 1)
  assert(#ch:receive_batch("k", math.maxinteger) == 1)
  ch:send("k", 1)
  assert(#ch:receive_batch("k", math.huge) == 1)
end

-- It waits for the first message, not for max.
do
  local t = shoal.task(function()
    return ch:receive_batch("k", 100)
  end)
  shoal.yield()
  ch:send("k", "one")
  expect(pack(t:result()), { "one", n = 1 })
  -- A batch that is sent while it waits comes as one.
  local u = shoal.task(function()
    return ch:receive_batch("k", 2)
  end)
  shoal.yield()
  ch:send_batch("k", { 1, 2, 3 })
  local got = u:result()
  assert(got[1] == 1 and (got.n == 1 or got[2] == 2))
  local rest = ch:receive_batch("k", 9)
  assert(got.n + rest.n == 3 and rest[rest.n] == 3)
end

-- All or nothing at the limit.
do
  local narrow = shoal.channel({ limit = 3 })
  narrow:send("k", 0)
  expect(pack(narrow:send_batch("k", { 1, 2, 3 }, 0)), nil, "timeout")
  expect(pack(narrow:send_batch("k", { 1, 2, 3 }, 0.01)), nil, "timeout")
  assert(narrow:count("k") == 1)
  assert(narrow:send_batch("k", { 1, 2 }, 0) == true)
  local t = shoal.task(function()
    return narrow:send_batch("k", { 3, 4, 5 })
  end)
  shoal.yield()
  assert(narrow:receive("k") == 0)
  assert(narrow:receive("k") == 1)
  shoal.yield()
  assert(t:status() == "waiting" and narrow:count("k") == 1)
  assert(narrow:receive("k") == 2)
  assert(t:result() == true)
  expect(pack(narrow:receive_batch("k", 9)), { 3, 4, 5, n = 3 })
  -- A small one behind a large one waits for its turn.
  narrow:send("k", 0)
  local large = shoal.task(function()
    return narrow:send_batch("k", { 1, 2, 3 })
  end)
  shoal.yield()
  local small = shoal.task(function()
    return narrow:send("k", 4)
  end)
  shoal.yield()
  assert(small:status() == "waiting")
  local got = {}
  for i = 1, 5 do
    got[i] = narrow:receive("k")
  end
  expect(pack(table.unpack(got)), 0, 1, 2, 3, 4)
  assert(large:result() and small:result())
  -- Taking a batch out lets several waiting senders in.
  narrow:send_batch("k", { 1, 2, 3 })
  local senders = {}
  for i = 1, 3 do
    senders[i] = shoal.task(function()
      return narrow:send("k", 3 + i)
    end)
    shoal.yield()
  end
  expect(pack(narrow:receive_batch("k", 3)), { 1, 2, 3, n = 3 })
  for i = 1, 3 do
    assert(senders[i]:result() == true)
    assert(narrow:receive("k") == 3 + i)
  end
end

-- What can never be sent raises.
do
  local narrow = shoal.channel({ limit = 2 })
  expect_error("limit", narrow.send_batch, narrow, "k", { 1, 2, 3 })
  narrow:limit("k", 0)
  expect_error("limit 0", narrow.send_batch, narrow, "k", { 1 })
  assert(narrow:count("k") == 0)
  expect_error("element 2", ch.send_batch, ch, "k", { 1, coroutine.create(print), 3 })
  assert(ch:count("k") == 0)
end

-- Batches of two processes, never mixed within a batch.
do
  local n = support.scaled(200)
  for s = 1, 2 do
    shoal.spawn(function()
      for i = 1, n do
        ch:send_batch("mixed", { s, i, s, i })
      end
    end)
  end
  local received, position, s, i = 0, 0, nil, nil
  while received < n * 8 do
    for _, value in ipairs(ch:receive_batch("mixed", 7)) do
      position = position % 4 + 1
      if position == 1 then
        s = value
      elseif position == 2 then
        i = value
      else
        assert(value == (position == 3 and s or i))
      end
      received = received + 1
    end
  end
  assert(ch:count("mixed") == 0)
end

-- Large ones.
do
  local list = {}
  for i = 1, support.scaled(20000) do
    list[i] = i
  end
  ch:send_batch("large", list)
  local p = shoal.spawn(function()
    return ch:receive_batch("large", 1 << 20)
  end)
  local got = p:result()
  assert(got.n == #list and got[1] == 1 and got[#list] == #list)
end
