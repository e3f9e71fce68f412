-- SPDX-License-Identifier: MIT
-- Loops with access to a table.
local list = {}
for i = 1, 1000 do
  list[i] = i
end
local sum = 0
for _ = 1, 2000 do
  for i = 1, #list do
    sum = sum + list[i]
    list[i] = i
  end
end
print(sum)
