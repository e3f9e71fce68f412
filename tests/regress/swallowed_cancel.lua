-- SPDX-License-Identifier: MIT
-- Lanes: pcall swallows a cancel, and <close> is skipped by it. Here a process that is cancelled at
-- the end of the program ends, whatever it catches, and its close handlers run and may wait.
local support = require("support")

local SOURCE = [[
  local shoal = require "shoal"
  local ch = shoal.channel()
  local function closing(name)
    return setmetatable({}, {__close = function()
      require("shoal").sleep(0.01)
      print(name)
    end})
  end
  -- By pcall, xpcall, a coroutine, an error of its own, in a loop, in a place that cannot suspend.
  shoal.spawn(function()
    local x <close> = closing("pcall")
    while true do pcall(ch.receive, ch, "never") end
  end)
  shoal.spawn(function()
    local x <close> = closing("xpcall")
    while true do xpcall(ch.receive, function() return 1 end, ch, "never") end
  end)
  shoal.spawn(function()
    local x <close> = closing("resume")
    while true do
      coroutine.resume(coroutine.create(function()
        local y <close> = closing("inner")
        ch:receive("never")
      end))
    end
  end)
  shoal.spawn(function()
    local x <close> = closing("error")
    while true do pcall(function() pcall(ch.receive, ch, "never") error("mine") end) end
  end)
  shoal.spawn(function()
    local x <close> = closing("sort")
    while true do
      pcall(table.sort, {3, 2, 1}, function() ch:receive("never") end)
    end
  end)
  shoal.spawn(function()
    local x <close> = closing("task")
    require("shoal").task(function()
      local y <close> = closing("inner task")
      while true do pcall(ch.receive, ch, "never") end
    end):join()
  end)
]]

-- They have two seconds, in which a thread may have stood still.
support.some_time("all handlers run", function()
  local status, out, err = support.run(SOURCE)
  assert(status == 0 and err == "", err)
  local lines = {}
  for line in out:gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  table.sort(lines)
  return table.concat(lines, ", ") == "error, inner, inner task, pcall, resume, sort, task, xpcall"
end)
