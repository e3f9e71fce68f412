-- SPDX-License-Identifier: MIT
-- Three processes in a row: one produces numbers, one filters them, one prints what is left: the
-- square numbers that read the same backwards.
--
-- usage: shoal pipeline.lua [COUNT]            the squares of 1 to COUNT
--
-- The stages run at the same time, and none runs far ahead: a key of these channels holds at most
-- eight messages, and a send to a full one waits.
local shoal = require("shoal")

local count = math.tointeger(tonumber(arg[1] or 3000))
if not count or count < 1 then
  io.stderr:write("usage: pipeline.lua [COUNT], COUNT at least 1\n")
  os.exit(2)
end

local squares = shoal.channel({ limit = 8 })
local palindromes = shoal.channel({ limit = 8 })

shoal.spawn(function()
  for n = 1, count do
    squares:send("next", n * n, n) -- a message may have several values
  end
  squares:close() -- tells the next stage that this was all
end)

shoal.spawn(function()
  for square, root in squares:each("next") do
    local digits = tostring(square)
    if digits == digits:reverse() then
      palindromes:send("next", square, root)
    end
  end
  palindromes:close()
end)

local consumer = shoal.spawn(function()
  local found = 0
  for square, root in palindromes:each("next") do
    found = found + 1
    print(("%d = %d²"):format(square, root))
  end
  return found
end)

print(("%d of %d squares are palindromes"):format(consumer:result(), count))
