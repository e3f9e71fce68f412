-- SPDX-License-Identifier: MIT
-- Strings are built, formatted and searched.
local parts = {}
for i = 1, 60000 do
  parts[#parts + 1] = "item " .. i .. ","
end
local text = table.concat(parts)
local digits = 0
for number in text:gmatch("%d+") do
  digits = digits + #number
end
for i = 1, 30000 do
  digits = digits + #("%d:%s"):format(i, "v")
end
print(#text, digits)
