-- SPDX-License-Identifier: MIT
-- skynet and moon: queues grow without limit; ltask: a full queue raises in the sender. Here a
-- sender waits while the key is at its limit, and the consumer sets the pace.
local shoal = require("shoal")
local support = require("support")

local n = support.scaled(2000)
local ch = shoal.channel({ limit = 10 })
local most = 0
local producers = {}
for i = 1, 3 do
  producers[i] = shoal.spawn(function()
    for j = 1, n do
      assert(ch:send("k", j) == true)
    end
  end)
end
local sum = 0
for i = 1, 3 * n do
  most = math.max(most, ch:count("k"))
  sum = sum + ch:receive("k")
  if i % 100 == 0 then
    shoal.yield()
  end
end
for _, p in ipairs(producers) do
  p:result()
end
assert(sum == 3 * n * (n + 1) // 2 and most <= 10, most)
