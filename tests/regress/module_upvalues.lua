-- SPDX-License-Identifier: MIT
-- Lanes: "function not found in destination database" for upvalues that are modules or their
-- functions; llthreads and effil: package.path is not inherited. Here both just work.
local shoal = require("shoal")
local support = require("support")

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))
support.write_file(
  folder .. "/own_module.lua",
  [[
  local foreign = require("foreign")
  local M = { closure = foreign.closure("of C") }
  M.__index = M
  function M.new(n) return setmetatable({ n = n }, M) end
  function M:twice() return self.n * 2 end
  return M
]]
)
package.path = folder .. "/?.lua;" .. package.path

local own, foreign = require("own_module"), require("foreign")
local format, insert, floor = string.format, table.insert, math.floor
local write, closure, call = io.write, own.closure, foreign.call

local object = own.new(21)
local p = shoal.spawn(function(o)
  local t = {}
  insert(t, format("%d", floor(2.5)))
  assert(write == io.write and io.type(io.stdout) == "file")
  assert(closure() == "of C" and call(tostring, 1) == "1")
  assert(getmetatable(object) == require("own_module") and own == require("own_module"))
  return t[1], object:twice(), o:twice(), own.new(1)
end, own.new(4))
local text, a, b, made = p:result()
assert(text == "2" and a == 42 and b == 8)
assert(getmetatable(made) == own and made:twice() == 2)

-- In the grandchildren, too.
assert(shoal
  .spawn(function()
    return require("shoal")
      .spawn(function()
        return own.new(3):twice(), require("own_module") ~= nil
      end)
      :result()
  end)
  :result() == 6)
os.execute("rm -r " .. folder)
