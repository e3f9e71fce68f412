-- SPDX-License-Identifier: MIT
-- receive_any takes exactly one message, from the first ready key in the list's order.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local ch = shoal.channel()

-- Order of the list, not of the sends.
do
  ch:send("c", 3)
  ch:send("b", 2)
  expect(pack(ch:receive_any({ "a", "b", "c" })), "b", 2)
  expect(pack(ch:receive_any({ "a", "b", "c" })), "c", 3)
  expect(pack(ch:receive_any({ "a", "b", "c" }, 0)), nil, "timeout")
  expect(pack(ch:receive_any({ "a", "b", "c" }, 0.01)), nil, "timeout")
end

-- Keys of all kinds come back as they are; whole tuples.
do
  local other = shoal.channel()
  for _, key in ipairs({ 1, "1", true, false, ch, other, "" }) do
    ch:send(key, "x", nil, 3)
    expect(pack(ch:receive_any({ "none", key, "none" })), key, "x", nil, 3)
  end
end

-- It waits, and takes one only: the other message stays.
do
  local t = shoal.task(function()
    return ch:receive_any({ "a", "b" })
  end)
  shoal.yield()
  ch:send("b", "second key")
  ch:send("a", "first key")
  expect(pack(t:result()), "b", "second key")
  assert(ch:count("a") == 1 and ch:count("b") == 0)
  expect(pack(ch:receive("a")), "first key")
end

-- A timeout leaves no waiter behind on any key.
do
  expect(pack(ch:receive_any({ "a", "b", "c" }, 0.01)), nil, "timeout")
  for _, key in ipairs({ "a", "b", "c" }) do
    ch:send(key, key)
    assert(ch:count(key) == 1)
    assert(ch:receive(key) == key)
  end
  assert(#ch:keys() == 0)
end

-- The same key twice in the list.
do
  local t = shoal.task(function()
    return ch:receive_any({ "k", "k", "k" })
  end)
  shoal.yield()
  ch:send("k", 1)
  ch:send("k", 2)
  expect(pack(t:result()), "k", 1)
  expect(pack(ch:receive_any({ "k", "k" })), "k", 2)
end

-- Many keys.
do
  local keys = {}
  for i = 1, support.scaled(2000) do
    keys[i] = i
  end
  local p = shoal.spawn(function()
    local sum = 0
    for _ = 1, 20 do
      local key, value = ch:receive_any(keys)
      assert(key == value)
      sum = sum + key
    end
    return sum
  end)
  local sum = 0
  for i = 1, 20 do
    local key = i * #keys // 20
    ch:send(key, key)
    sum = sum + key
  end
  assert(p:result() == sum)
end

-- Fair to those who wait for one key alone: in order of arrival.
do
  local order = {}
  local function waiter(name, list)
    return shoal.task(function()
      ch:receive_any(list)
      order[#order + 1] = name
    end)
  end
  local a = waiter("first", { "x", "y" })
  shoal.yield()
  local b = waiter("second", { "y" })
  shoal.yield()
  local c = waiter("third", { "y", "x" })
  shoal.yield()
  for _ = 1, 3 do
    ch:send("y", 1)
  end
  a:result()
  b:result()
  c:result()
  assert(table.concat(order, " ") == "first second third")
end

-- Senders that wait at a rendezvous or a limit, on several keys.
do
  local narrow = shoal.channel({ limit = 0 })
  local tasks = {}
  for i, key in ipairs({ "c", "b", "a" }) do
    tasks[i] = shoal.task(function()
      return narrow:send(key, i)
    end)
    shoal.yield()
  end
  expect(pack(narrow:receive_any({ "a", "b", "c" })), "a", 3)
  expect(pack(narrow:receive_any({ "a", "b", "c" })), "b", 2)
  expect(pack(narrow:receive_any({ "a", "b", "c" }, 0)), "c", 1)
  for _, t in ipairs(tasks) do
    assert(t:result() == true)
  end
end

-- Exactly one, under stress: processes that wait for overlapping lists.
do
  local random = support.random()
  local n = support.scaled(2000)
  local receivers = {}
  for r = 1, 4 do
    receivers[r] = shoal.spawn(function(first)
      local keys = {}
      for i = 1, 4 do
        keys[i] = (first + i) % 5
      end
      keys[5] = "end"
      local got = {}
      while true do
        local key, value = ch:receive_any(keys)
        if key == "end" then
          return got
        end
        assert(value // 1000000 == key)
        got[#got + 1] = value
      end
    end, r)
  end
  for i = 1, n do
    local key = random(0, 4)
    ch:send(key, key * 1000000 + i)
  end
  -- Those that are left are received before the end.
  for key = 0, 4 do
    while ch:count(key) > 0 do
      shoal.sleep(0.001)
    end
  end
  for _ = 1, 4 do
    ch:send("end", true)
  end
  local seen, count = {}, 0
  for _, p in ipairs(receivers) do
    for _, value in ipairs(p:result()) do
      local i = value % 1000000
      assert(not seen[i])
      seen[i], count = true, count + 1
    end
  end
  assert(count == n)
end

-- The list is read at the call: what becomes of it later has no effect.
do
  local list = { "u", "v" }
  local t = shoal.task(function()
    return ch:receive_any(list)
  end)
  shoal.yield()
  list[1], list[2] = "w", nil
  ch:send("w", 0)
  ch:send("v", 1)
  local key, value = t:result()
  assert(value == 1 and key == "v")
  ch:receive("w")
end
