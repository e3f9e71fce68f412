-- SPDX-License-Identifier: MIT
-- needs: the program
-- print and io.write put out each call in one piece, also between processes.
local support = require("support")

local function run(source)
  local status, out, err = support.run('local shoal = require "shoal"\n' .. source)
  assert(status == 0 and err == "", err)
  return out
end

-- As in stock Lua.
assert(
  run([[
  print()
  print(1, nil, true, "a\0b", 1.5, -0.0, 1e100)
  print(setmetatable({}, {__tostring = function() return "text" end}))
  print(setmetatable({}, {__name = "kind"}) ~= nil)
  io.write("a", 1, 2.5, "\n")
  io.write()
  assert(io.write("") == io.stdout)
  io.stdout:write("x", "y\n")
  print(pcall(io.write, {}))
  print(select("#", print()))
]])
    == "\n1\tnil\ttrue\ta\0b\t1.5\t-0.0\t1e+100\ntext\ntrue\na12.5\nxy\n"
      .. "false\tbad argument #1 to 'io.write' (string expected, got table)\n\n0\n"
)

-- Lines of many processes are whole, and those of one are in order.
do
  local n = support.scaled(200)
  local out = run(([[
    for p = 1, 6 do
      shoal.spawn(function()
        local s = require("shoal")
        for i = 1, %d do
          local tail = (string.char(96 + p)):rep(i * 7 %% 300)
          if i %% 3 == 0 then
            print(p, i, tail)
          else
            io.write(p, "\t", i, "\t", tail, "\n")
          end
          if i %% 10 == 0 then s.yield() end
        end
      end)
    end
  ]]):format(n))
  local last, lines = {}, 0
  for line in out:gmatch("([^\n]*)\n") do
    local p, i, tail = line:match("^(%d)\t(%d+)\t(%a*)$")
    assert(p, "torn: " .. line)
    i = tonumber(i)
    assert(i == (last[p] or 0) + 1)
    assert(tail == string.char(96 + p):rep(i * 7 % 300))
    last[p], lines = i, lines + 1
  end
  assert(lines == 6 * n)
end

-- What waits while its text is made does not tear it.
assert(run([[
  local ch = shoal.channel()
  local slow = setmetatable({}, {__tostring = function() shoal.sleep(0.02) return "slow" end})
  shoal.task(function() print("in", "between") end)
  print("a", slow, "b")
]]) == "in\tbetween\na\tslow\tb\n")

-- Unfinished lines come out before the end, also by an error and by os.exit.
assert(run("io.write('no line feed')") == "no line feed")
do
  local status, out = support.run("io.write('before') error('x')")
  assert(status == 1 and out == "before")
  status, out = support.run("io.write('before') os.exit(3)")
  assert(status == 3 and out == "before")
end
