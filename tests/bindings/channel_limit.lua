-- SPDX-License-Identifier: MIT
-- A send waits while its key is at its limit.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

-- The limit of a channel is that of each key.
do
  local ch = shoal.channel({ limit = 2 })
  assert(ch:limit("a") == 2)
  ch:send("a", 1)
  ch:send("a", 2)
  ch:send("b", 1)
  expect(pack(ch:send_for(0, "a", 3)), nil, "timeout")
  expect(pack(ch:send_for(0.01, "a", 3)), nil, "timeout")
  assert(ch:count("a") == 2 and ch:count("b") == 1, "a failed send changes nothing")
  local t = shoal.task(function()
    return ch:send("a", 3)
  end)
  shoal.yield()
  assert(t:status() == "waiting" and ch:count("a") == 2)
  assert(ch:receive("a") == 1)
  assert(t:result() == true and ch:count("a") == 2)
  assert(ch:receive("a") == 2 and ch:receive("a") == 3)
end

-- Waiting senders go in order; one that timed out leaves no gap and no message.
do
  local ch = shoal.channel({ limit = 1 })
  ch:send("k", 0)
  local tasks = {}
  for i = 1, 6 do
    tasks[i] = shoal.task(function()
      return ch:send_for(i % 2 == 0 and 0.01 or math.huge, "k", i)
    end)
    shoal.yield()
  end
  for i = 2, 6, 2 do
    tasks[i]:join()
  end
  local got = {}
  for _ = 1, 4 do
    got[#got + 1] = ch:receive("k")
  end
  expect(pack(table.unpack(got)), 0, 1, 3, 5)
  for i, t in ipairs(tasks) do
    if i % 2 == 0 then
      expect(pack(t:result()), nil, "timeout")
    else
      expect(pack(t:result()), true)
    end
  end
  assert(ch:count("k") == 0)
end

-- limit(key, n): sets one key's, returns what it was; raising it lets waiting senders go.
do
  local ch = shoal.channel()
  assert(ch:limit("k") == math.huge)
  assert(ch:limit("k", 1) == math.huge and ch:limit("k") == 1)
  assert(ch:limit("other") == math.huge)
  ch:send("k", 1)
  local tasks = {}
  for i = 1, 3 do
    tasks[i] = shoal.task(function()
      return ch:send("k", i + 1)
    end)
    shoal.yield()
  end
  assert(ch:limit("k", 3) == 1)
  assert(tasks[1]:result() == true and tasks[2]:result() == true)
  assert(tasks[3]:status() == "waiting" and ch:count("k") == 3)
  assert(ch:limit("k", math.huge) == 3)
  assert(tasks[3]:result() == true)
  for i = 1, 4 do
    assert(ch:receive("k") == i)
  end
  -- Lowering it takes nothing away.
  for i = 1, 3 do
    ch:send("k", i)
  end
  ch:limit("k", 1)
  assert(ch:count("k") == 3)
  ch:receive("k")
  ch:receive("k")
  expect(pack(ch:send_for(0, "k", 9)), nil, "timeout")
  ch:receive("k")
  expect(pack(ch:send_for(0, "k", 9)), true)
  -- A key keeps its limit while it is empty.
  ch:receive("k")
  assert(ch:limit("k") == 1)
end

-- Limit 0 is a rendezvous: a send returns when its message has been received.
do
  local ch = shoal.channel({ limit = 0 })
  expect(pack(ch:send_for(0, "k", 1)), nil, "timeout")
  expect(pack(ch:send_for(0.01, "k", 1)), nil, "timeout")
  expect(pack(ch:receive("k", 0)), nil, "timeout")
  local sent = false
  local t = shoal.task(function()
    ch:send("k", "x", 2)
    sent = true
  end)
  shoal.yield()
  assert(not sent and ch:count("k") == 0, "nothing stands there")
  expect(pack(ch:receive("k", 0)), "x", 2)
  t:result()
  assert(sent)
  -- The receiver was first.
  local r = shoal.task(function()
    return ch:receive("k")
  end)
  shoal.yield()
  expect(pack(ch:send_for(0, "k", "direct")), true)
  assert(r:result() == "direct")
end

-- Rendezvous under stress: what is sent is received, what is not is not, over processes, with
-- timeouts on both sides, on several keys.
do
  local random = support.random()
  local ch = shoal.channel({ limit = 0 })
  local n = support.scaled(400)
  local function sender(me, seed)
    math.randomseed(seed)
    local sent, timeouts = {}, 0
    for i = 1, n do
      local timeout = (i == 1 or math.random(4) == 1) and math.huge or math.random() * 0.0005
      local value = me * 1000000 + i
      local ok, why = ch:send_for(timeout, math.random(3), value)
      if ok then
        sent[#sent + 1] = value
      else
        assert(why == "timeout")
        timeouts = timeouts + 1
      end
    end
    return sent, timeouts
  end
  local function receiver(seed)
    math.randomseed(seed)
    local got = {}
    while true do
      local key, value
      if math.random(2) == 1 then
        key, value = ch:receive_any({ 1, 2, 3, "end" }, 0.0005)
      else
        value, key = ch:receive(math.random(3), math.random() * 0.0005), true
      end
      if key == "end" then
        return got
      elseif value and value ~= "timeout" then
        got[#got + 1] = value
      end
      if math.random(4) == 1 then
        require("shoal").sleep(math.random() * 0.002)
      end
    end
  end
  local senders, receivers = {}, {}
  for i = 1, 3 do
    senders[i] = shoal.spawn(sender, i, random(0))
    receivers[i] = shoal.spawn(receiver, random(0))
  end
  local sent, got, all_timeouts = {}, {}, 0
  for _, p in ipairs(senders) do
    local list, timeouts = p:result()
    table.move(list, 1, #list, #sent + 1, sent)
    all_timeouts = all_timeouts + timeouts
  end
  -- In a short run there may be no timeout.
  assert(#sent > 0 and (all_timeouts > 0 or support.scale < 0.1))
  for _ = 1, 3 do
    ch:send("end", true)
  end
  for _, p in ipairs(receivers) do
    local list = p:result()
    table.move(list, 1, #list, #got + 1, got)
  end
  table.sort(sent)
  table.sort(got)
  assert(support.same(sent, got), ("%d sent, %d received"):format(#sent, #got))
end

-- bytes: of all that stands in the channel, over all keys.
do
  local ch = shoal.channel({ bytes = 10000 })
  local text = ("x"):rep(4000)
  assert(ch:send_for(0, "a", text) and ch:send_for(0, "b", text))
  expect(pack(ch:send_for(0, "c", text)), nil, "timeout")
  assert(ch:send_for(0, "c", "short"))
  local t = shoal.task(function()
    return ch:send("c", text)
  end)
  shoal.yield()
  assert(t:status() == "waiting")
  assert(ch:receive("b") == text)
  assert(t:result() == true)
  assert(ch:receive("c") == "short" and ch:receive("c") == text)
  assert(ch:receive("a") == text)
  -- A single message that is larger than all of it may stand alone.
  local large = shoal.task(function()
    return ch:send("large", ("x"):rep(50000))
  end)
  shoal.yield()
  assert(#ch:receive("large") == 50000 and large:result() == true)
end

-- A bounded pipeline of processes: slow at the end, and never more than the limit between.
do
  local ch = shoal.channel({ limit = 4 })
  local n = support.scaled(500)
  local source = shoal.spawn(function()
    for i = 1, n do
      ch:send("a", i)
    end
    ch:close("a")
  end)
  local middle = shoal.spawn(function()
    for i in ch:each("a") do
      ch:send("b", i * 2)
    end
    ch:close("b")
  end)
  local sum = 0
  for i in ch:each("b") do
    assert(ch:count("a") <= 4 and ch:count("b") <= 4)
    sum = sum + i
  end
  assert(sum == n * (n + 1))
  source:result()
  middle:result()
end
