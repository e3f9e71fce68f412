-- SPDX-License-Identifier: MIT
-- needs: no simulation
-- The end of a program while processes wait: luaproc hangs, Lanes stops them at random after 0.25
-- s, or waits 4 s for one in C code. Here those that can still do something finish, the others are
-- cancelled, and it is over at once.
local shoal = require("shoal")
local support = require("support")

local function run(source)
  local before = shoal.now()
  local status, out, err = support.run('local shoal = require "shoal"\n' .. source)
  assert(status == 0 and err == "", err)
  return out, shoal.now() - before
end

support.quick(2, function()
  assert(run([[
    local ch = shoal.channel()
    for i = 1, 20 do shoal.spawn(function() ch:receive(i) end) end
  ]]) == "")
end)

local out, took = run([[
  shoal.spawn(function()
    local s = require("shoal")
    for i = 1, 6 do s.sleep(0.1) end
    print("finished")
  end)
]])
assert(out == "finished\n" and took >= 0.6)

out = run([[
  shoal.spawn(function() require("foreign").nap(0.6) print("C code finished") end)
]])
assert(out == "C code finished\n")

-- By os.exit.
local status
status, out = support.run([[
  local shoal = require "shoal"
  local ch = shoal.channel()
  for i = 1, 20 do shoal.spawn(function() ch:receive(i) end) end
  shoal.yield()
  os.exit(9)
]])
assert(status == 9 and out == "")

-- The end comes in the middle of everything.
for i = 1, support.scaled(10) do
  status = support.run(([[
    local shoal = require "shoal"
    local ch = shoal.channel{limit = 1}
    for i = 1, 20 do
      shoal.spawn(function() while true do ch:send(i %% 3, i) end end)
      shoal.spawn(function() while true do ch:receive(i %% 3) end end)
      shoal.spawn(function() while true do ch:receive_any({1, 2, "x"}, 0.0001) end end)
    end
    shoal.sleep(%f)
    os.exit(3)
  ]]):format(i * 0.003))
  assert(status == 3, status)
end
