-- SPDX-License-Identifier: MIT
-- A key of a channel is a FIFO of messages.
local shoal = require("shoal")
local support = require("support")
local foreign = require("foreign")
local expect, pack = support.expect, table.pack

local ch = shoal.channel()

-- Send and receive: in order, whole tuples, key by key.
assert(ch:send("a", 1) == true)
ch:send("a", 2, "two", nil, false, nil)
ch:send("b", "other")
expect(pack(ch:receive("a")), 1)
expect(pack(ch:receive("b")), "other")
expect(pack(ch:receive("a")), 2, "two", nil, false, nil)

-- Keys of all kinds, and none is another.
do
  local other = shoal.channel()
  local keys = {
    "",
    "1",
    1,
    0,
    -1,
    math.maxinteger,
    math.mininteger,
    true,
    false,
    "true",
    "a\0b",
    "a\0c",
    ("long "):rep(1000),
    ("long "):rep(1000) .. "!",
    foreign.pointer(1),
    foreign.pointer(0),
    ch,
    other,
    shoal.self(),
  }
  for i, key in ipairs(keys) do
    ch:send(key, i)
  end
  assert(#ch:keys() == #keys)
  for i, key in ipairs(keys) do
    assert(ch:count(key) == 1)
    expect(pack(ch:receive(key, 0)), i)
    assert(ch:count(key) == 0)
  end
  assert(#ch:keys() == 0)
end

-- A receiver that waits gets what is sent later.
do
  local p = shoal.spawn(function()
    return ch:receive("later")
  end)
  ch:send("later", "x", 2)
  expect(pack(p:join()), true, "x", 2)
end

-- Waiting receivers are served in order, and each message is received once.
do
  local tasks = {}
  for i = 1, 10 do
    tasks[i] = shoal.task(function()
      return ch:receive("queue")
    end)
    shoal.yield()
    assert(tasks[i]:status() == "waiting")
  end
  for i = 1, 10 do
    ch:send("queue", i)
  end
  for i = 1, 10 do
    assert(tasks[i]:result() == i)
  end
  assert(ch:count("queue") == 0)
end

-- Timeouts.
do
  expect(pack(ch:receive("none", 0)), nil, "timeout")
  support.quick(5, function()
    local before = shoal.now()
    expect(pack(ch:receive("none", 0.02)), nil, "timeout")
    assert(shoal.now() - before >= 0.02)
  end)
  -- With timeout 0, what stands there is received.
  ch:send("some", 1)
  expect(pack(ch:receive("some", 0)), 1)
  -- A waiter that has timed out is out of the queue.
  ch:send("none", "for the next")
  expect(pack(ch:receive("none", math.huge)), "for the next")
  -- It ends early if something comes.
  local t = shoal.task(function()
    return ch:receive("soon", 1000)
  end)
  shoal.yield()
  ch:send("soon", 1)
  assert(t:result(1000) == 1)
end

-- each: until the key is closed.
do
  for i = 1, 5 do
    ch:send("each", i, i * i)
  end
  ch:close("each")
  local sum, squares = 0, 0
  for i, square in ch:each("each") do
    sum, squares = sum + i, squares + square
  end
  assert(sum == 15 and squares == 55)
  for _ in ch:each("each") do
    error("closed and empty")
  end
  local step = ch:each("each")
  expect(pack(step()), nil, "closed")
end
-- While others send.
do
  local p = shoal.spawn(function()
    local n = 0
    for i in ch:each("stream") do
      n = n + i
    end
    return n
  end)
  for i = 1, 1000 do
    ch:send("stream", i)
  end
  ch:close("stream")
  assert(p:result() == 500500)
end

-- Order over several senders, if one send happened before another: passed through a token.
do
  local token = shoal.channel()
  local n = support.scaled(300)
  local function sender(me, next_one)
    for i = 1, n do
      token:receive(me)
      ch:send("ordered", (i - 1) * 3 + me)
      token:send(next_one, true)
    end
  end
  local all = { shoal.spawn(sender, 1, 2), shoal.spawn(sender, 2, 3), shoal.spawn(sender, 3, 1) }
  token:send(1, true)
  for i = 1, n * 3 do
    assert(ch:receive("ordered") == i)
  end
  for _, p in ipairs(all) do
    p:result()
  end
end

-- Order of each sender, where they do not know of each other.
do
  local n, senders = support.scaled(2000), 4
  for s = 1, senders do
    shoal.spawn(function()
      for i = 1, n do
        ch:send("mixed", s, i)
      end
    end)
  end
  local last = { 0, 0, 0, 0 }
  for _ = 1, n * senders do
    local s, i = ch:receive("mixed")
    assert(i == last[s] + 1)
    last[s] = i
  end
  assert(support.same(last, { n, n, n, n }))
end

-- Every message is received exactly once, by many receivers in many processes.
do
  local n, receivers = support.scaled(5000), 5
  local all = {}
  for r = 1, receivers do
    all[r] = shoal.spawn(function()
      local got = {}
      for i in ch:each("work") do
        got[#got + 1] = i
      end
      return got
    end)
  end
  for i = 1, n do
    ch:send("work", i)
  end
  ch:close("work")
  local seen, count = {}, 0
  for _, p in ipairs(all) do
    local before = 0
    for _, i in ipairs(p:result()) do
      assert(not seen[i] and i > before)
      seen[i], before, count = true, i, count + 1
    end
  end
  assert(count == n)
end

-- Ping-pong.
do
  local n = support.scaled(3000)
  local p = shoal.spawn(function()
    for _ = 1, n do
      ch:send("pong", ch:receive("ping") + 1)
    end
  end)
  local v = 0
  for _ = 1, n do
    ch:send("ping", v)
    v = ch:receive("pong")
  end
  assert(v == n)
  p:result()
end
