-- SPDX-License-Identifier: MIT
-- A process whose hook raises each time can be cancelled, and holds up nobody.
local shoal = require("shoal")

local function raises(ch, mask, count)
  local inside
  debug.sethook(function()
    if inside then
      inside = false
      error("hook")
    end
  end, mask, count)
  ch:send("running", true)
  while true do
    pcall(function()
      inside = true
      while true do
      end
    end)
  end
end

for _, how in ipairs({ { "", 1000 }, { "", 1 }, { "l" }, { "l", 7 } }) do
  local ch = shoal.channel()
  local p = shoal.spawn(raises, ch, how[1], how[2])
  ch:receive("running")
  assert(p:cancel(30) == true)
end
