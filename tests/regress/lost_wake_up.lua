-- SPDX-License-Identifier: MIT
-- luaproc: wake-ups get lost between the main script and a process, in 3 of 5 runs; ltask and
-- copas: when a timeout and a message meet. Here a wait ends by the one or the other, always.
local shoal = require("shoal")
local support = require("support")

-- The script and a process, in lockstep, thousands of times.
local ch = shoal.channel()
local n = support.scaled(5000)
local p = shoal.spawn(function()
  for i = 1, n do
    assert(ch:receive("to") == i)
    ch:send("from", i)
  end
end)
for i = 1, n do
  ch:send("to", i)
  assert(ch:receive("from", 30) == i)
end
p:result(30)

-- A message that comes just when the timeout does: it is received then or later, and never both.
local random = support.random()
local q = shoal.spawn(function(seed)
  math.randomseed(seed)
  local s = require("shoal")
  for i = 1, n // 5 do
    ch:receive("ready", 30)
    s.sleep(0.0005 + math.random() * 0.001)
    ch:send("race", i)
  end
end, random(0))
local timeouts, expected = 0, 1
while expected <= n // 5 do
  ch:send("ready", true)
  local value, why = ch:receive("race", 0.001)
  if value == nil then
    assert(why == "timeout")
    timeouts = timeouts + 1
    value = ch:receive("race", 30)
  end
  assert(value == expected, value)
  expected = expected + 1
end
q:result(30)
assert(ch:count("race") == 0)
print(timeouts .. " timeouts in " .. n // 5 .. " rounds")
