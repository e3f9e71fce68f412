-- SPDX-License-Identifier: MIT
-- Closures that share a variable.
local n = 0
for i = 1, 300000 do
  local f = function(k)
    n = n + k + i % 3
  end
  f(1)
end
print(n)
