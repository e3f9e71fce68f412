-- SPDX-License-Identifier: MIT
-- needs: the program
-- Lanes and effil: the error of a process that nobody joins is silent, or has lost its file and
-- line. Here it is reported soon, with both, and the program's exit status says so.
local support = require("support")

local status, out, err = support.run([[
  local shoal = require "shoal"
  shoal.spawn({name = "first"}, function()
    local function fails() local t; return t.x end
    fails()
  end)
  require("support").until_reported("first")
  print("goes on")
]])
assert(status == 1 and out == "goes on\n", status)
assert(err:find("first", 1, true) and err:find(":3: attempt to index a nil value", 1, true), err)
assert(err:find(":4: in function", 1, true), err)
-- Once.
assert(select(2, err:gsub("attempt to index", "")) == 1, err)
