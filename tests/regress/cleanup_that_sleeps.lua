-- SPDX-License-Identifier: MIT
-- A sleep in a close handler takes its time and no more, also when less time for cleanup is left
-- than the canceller had given: a task of a process whose body has ended has five seconds.
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()
support.quick(4.5, function()
  local p = shoal.spawn(function()
    local s = require("shoal")
    local function wait(time)
      local closed <close> = setmetatable({}, {
        __close = function()
          s.sleep(time)
        end,
      })
      ch:send("waiting", closed ~= nil)
      ch:receive("never")
    end
    s.task(wait, 0.1)
    wait(0.01)
  end)
  assert(ch:receive("waiting") and ch:receive("waiting"))
  assert(p:cancel(60) == true)
end)
