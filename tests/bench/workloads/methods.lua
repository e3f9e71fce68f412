-- SPDX-License-Identifier: MIT
-- Calls of methods.
local Sum = {}
Sum.__index = Sum
function Sum:add(k)
  self.n = self.n + k
  return self
end
local object = setmetatable({ n = 0 }, Sum)
for i = 1, 600000 do
  object:add(i):add(1)
end
print(object.n)
