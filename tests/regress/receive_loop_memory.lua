-- SPDX-License-Identifier: MIT
-- Lanes 4: a loop that only receives keeps the memory of what it received, 3 GB for 3,000 messages
-- of 1 MB. Here a message's memory goes when the garbage collector takes the value.
local shoal = require("shoal")
local support = require("support")

local n = support.scaled(1000)
local ch = shoal.channel({ limit = 4 })
local p = shoal.spawn(function()
  local text = ("x"):rep(1 << 20)
  for _ = 1, n do
    ch:send("k", text)
  end
  ch:close()
end)
local before, most, received = support.memory(), 0, 0
for text in ch:each("k") do
  assert(#text == 1 << 20)
  received = received + 1
  if received % 10 == 0 then
    most = math.max(most, support.memory() - before)
  end
end
assert(received == n)
assert(support.scale < 1 or most < 200e6, most)
p:result()
