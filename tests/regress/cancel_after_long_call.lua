-- SPDX-License-Identifier: MIT
-- needs: no simulation
-- A cancel that comes in a long C call, during which another thread takes the seat, still ends
-- cleanup code that loops: its thread is back at its seat before, and can be interrupted.
local shoal = require("shoal")

local ch = shoal.channel()

local function body(channel)
  local _ <close> = setmetatable({}, {
    __close = function()
      while true do
      end
    end,
  })
  channel:send("running", true)
  -- About a tenth of a second in one call.
  local text = ("a"):rep(450)
  text:find("^.-.-.-b")
end

-- With one worker, this process is who takes the seat.
for _ = 1, 5 do
  local p = shoal.spawn(body, ch)
  ch:receive("running")
  p:cancel(0.01)
  assert(select(2, p:join(30)) == shoal.cancelled)
end
