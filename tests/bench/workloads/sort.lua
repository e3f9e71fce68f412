-- SPDX-License-Identifier: MIT
-- A sort with a comparator.
local seed, list = 1, {}
for i = 1, 40000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  list[i] = seed
end
table.sort(list, function(a, b)
  return a < b
end)
print(list[1], list[#list])
