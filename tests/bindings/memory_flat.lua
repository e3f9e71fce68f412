-- SPDX-License-Identifier: MIT
-- What was used once leaves nothing behind.
local shoal = require("shoal")
local support = require("support")

-- A sanitizer keeps memory in quarantine.
local exact = support.scale >= 1

-- Runs f(n) to warm up, then twice again, which must not need more. What the C library keeps for
-- its threads grows for a while, so there are some attempts; a leak shows in each.
local function flat(name, most, n, f)
  n = support.scaled(n)
  if not exact then
    -- Nothing is measured; and what is lost a sanitizer finds in small numbers, too.
    n = math.min(n, support.every and 200 or 2000)
  end
  f(n)
  collectgarbage()
  collectgarbage()
  local growth
  for _ = 1, 5 do
    local before = support.memory()
    f(n)
    f(n)
    collectgarbage()
    collectgarbage()
    growth = support.memory() - before
    if not exact or growth <= most then
      return
    end
  end
  error(("%s: %d bytes more after %d rounds"):format(name, growth, n), 2)
end

local ch = shoal.channel()

-- Keys that are used once: strings and integers, by each way in and out.
local serial = 0
flat("one-shot keys", 2e6, 500000, function(n)
  for _ = 1, n do
    serial = serial + 1
    ch:send(serial, 1)
    ch:receive(serial)
  end
end)
flat("one-shot string keys", 2e6, 200000, function(n)
  for _ = 1, n do
    serial = serial + 1
    local key = "key " .. serial
    ch:send(key, 1)
    ch:receive(key)
  end
end)
flat("keys that were only looked at", 2e6, 100000, function(n)
  for _ = 1, n do
    serial = serial + 1
    ch:get(serial)
    ch:count(serial)
    ch:ttl(serial)
    ch:limit(serial)
    ch:receive(serial, 0)
    ch:set(serial)
  end
end)
flat("keys that were waited for in vain", 20e6, 20000, function(n)
  for _ = 1, n // 1000 do
    local tasks = {}
    for i = 1, 1000 do
      serial = serial + 1
      tasks[i] = shoal.task(ch.receive_any, ch, { serial, -serial, "none" }, 1e-9)
    end
    for i = 1, 1000 do
      tasks[i]:result()
    end
  end
end)
-- The end of a ttl before its time, and another ttl, leave no timer until then.
flat("keys with a ttl that were received or cleared", 2e6, 100000, function(n)
  for i = 1, n do
    serial = serial + 1
    ch:incr(serial, 1, 3600)
    ch:set("session", i)
    ch:expire("session", 3600)
    ch:expire("session", 7200)
    if i % 2 == 0 then
      ch:receive(serial)
    else
      ch:set(serial)
    end
  end
  ch:set("session")
end)
flat("keys that were set, counted and cleared", 2e6, 100000, function(n)
  for _ = 1, n do
    serial = serial + 1
    ch:set(serial, "x")
    ch:set(serial)
    ch:incr(serial)
    ch:receive(serial)
  end
end)
flat("keys that expire", 4e6, 50000, function(n)
  for i = 1, n do
    serial = serial + 1
    ch:set(serial, "x")
    ch:expire(serial, 0.001)
    if i % 1000 == 0 then
      shoal.sleep(0.002)
    end
  end
  while #ch:keys() > 0 do
    shoal.sleep(0.005)
  end
end)

-- Channels.
flat("channels", 60e6, 40000, function(n)
  for i = 1, n do
    local c = shoal.channel(i % 2 == 0 and "name " .. i or nil)
    c:send("k", c)
  end
end)

-- Timeouts that are never reached.
flat("timeouts far away", 4e6, 20000, function(n)
  for _ = 1, n do
    local t = shoal.task(function()
      return ch:receive("far", 1000)
    end)
    shoal.yield()
    ch:send("far", 1)
    t:join()
  end
end)

-- A process that only receives large messages.
flat("large messages", 30e6, 300, function(n)
  local text = ("x"):rep(1 << 20)
  local p = shoal.spawn(function()
    local total = 0
    for s in ch:each("large") do
      total = total + #s
    end
    return total
  end)
  ch:limit("large", 2)
  for _ = 1, n do
    ch:send("large", text)
  end
  ch:close("large")
  assert(p:result() == n << 20)
  ch = shoal.channel()
end)

-- Processes.
flat("processes", 20e6, 2000, function(n)
  for i = 1, n do
    local p = shoal.spawn(function()
      return i
    end)
    assert(p:result() == i)
  end
end)
flat("processes that fail", 20e6, 1000, function(n)
  for i = 1, n do
    local p = shoal.spawn(function()
      ch:receive("go")
      error({ i })
    end)
    local t = shoal.task(p.join, p)
    shoal.yield()
    ch:send("go", true)
    assert(select(2, t:result())[1] == i)
  end
end)

-- Tasks and coroutines that wait.
flat("coroutines that wait", 4e6, 20000, function(n)
  for _ = 1, n do
    coroutine.wrap(function()
      coroutine.yield(shoal.yield())
      shoal.yield()
    end)()
  end
end)
