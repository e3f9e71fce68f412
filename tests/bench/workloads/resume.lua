-- SPDX-License-Identifier: MIT
-- Switches between coroutines.
local generator = coroutine.wrap(function()
  while true do
    coroutine.yield(1)
  end
end)
local n = 0
for _ = 1, 500000 do
  n = n + generator()
end
local co = coroutine.create(function()
  while true do
    coroutine.yield()
  end
end)
for _ = 1, 500000 do
  coroutine.resume(co)
end
print(n)
