-- SPDX-License-Identifier: MIT
-- No message is lost or doubled when timeouts race with it.
local shoal = require("shoal")
local support = require("support")

local random = support.random()
local n = support.scaled(3000)

-- Receivers with timeouts about as long as the pauses of the senders, by all receiving calls.
local function stress(options)
  local ch = shoal.channel({ limit = options.limit })
  local function sender(me, seed)
    math.randomseed(seed)
    local s = require("shoal")
    for i = 1, n do
      local value = me * 1000000 + i
      if options.sends_give_up then
        repeat
          local ok = ch:send_for(math.random() * 0.0002, "k", value)
        until ok
      else
        ch:send("k", value)
      end
      local pause = math.random(20)
      if pause == 1 then
        s.sleep(math.random() * 0.0003)
      elseif pause < 4 then
        s.yield()
      end
    end
  end
  local function receiver(seed)
    math.randomseed(seed)
    local got, timeouts = {}, 0
    while true do
      local kind, timeout = math.random(3), math.random() * 0.0003
      local value, why
      if kind == 1 then
        value, why = ch:receive("k", timeout)
      elseif kind == 2 then
        local key, v = ch:receive_any({ "a", "k", "b" }, timeout)
        value, why = key and v, v
      else
        local list, reason = ch:receive_batch("k", 3, timeout)
        if list then
          for i = 2, list.n do
            got[#got + 1] = list[i]
          end
        end
        value, why = list and list[1], reason
      end
      if value then
        got[#got + 1] = value
      elseif why == "closed" then
        return got, timeouts
      else
        assert(why == "timeout")
        timeouts = timeouts + 1
      end
    end
  end
  local senders, receivers = {}, {}
  for i = 1, options.senders do
    senders[i] = shoal.spawn(sender, i, random(0))
  end
  for i = 1, options.receivers do
    receivers[i] = shoal.spawn(receiver, random(0))
  end
  for _, p in ipairs(senders) do
    p:result()
  end
  ch:close()
  local seen, count, all_timeouts = {}, 0, 0
  for _, p in ipairs(receivers) do
    local got, timeouts = p:result()
    all_timeouts = all_timeouts + timeouts
    for _, value in ipairs(got) do
      assert(not seen[value], "received twice")
      seen[value], count = true, count + 1
    end
  end
  local expected = options.senders * n
  assert(count == expected, ("%d of %d were received"):format(count, expected))
  -- In a short run there may be none.
  assert(all_timeouts > 0 or support.scale < 0.1, "no timeout came up")
end

stress({ senders = 1, receivers = 1 })
stress({ senders = 3, receivers = 3 })
stress({ senders = 2, receivers = 2, limit = 1, sends_give_up = true })
stress({ senders = 2, receivers = 3, limit = 0, sends_give_up = true })

-- Closing races with senders: what send said was sent is received, the rest is not.
for round = 1, support.scaled(100) do
  local ch = shoal.channel({ limit = round % 3 + (round % 2 == 0 and 0 or 5) })
  local p = shoal.spawn(function()
    local sent = 0
    while ch:send("k", sent + 1) do
      sent = sent + 1
    end
    return sent
  end)
  local got = 0
  for _ = 1, random(0, 20) do
    got = ch:receive("k", 0.001) or got
  end
  ch:close()
  for value in ch:each("k") do
    assert(value == got + 1)
    got = value
  end
  assert(p:result() == got)
end
