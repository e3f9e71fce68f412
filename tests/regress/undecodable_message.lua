-- SPDX-License-Identifier: MIT
-- Lanes: a message that the receiver cannot decode is lost, with all that was in it. Here what
-- cannot be rebuilt arrives as a stand-in, and the rest of the message is intact.
local shoal = require("shoal")

local ch = shoal.channel()
local script = shoal.self().id

-- A module that the receiver lacks, and one that fails there.
package.preload.only_in_the_script = function()
  if require("shoal").self().id ~= script then
    error("this module fails to load")
  end
  return { f = require("foreign").closure(7) }
end
local f = require("only_in_the_script").f
local p = shoal.spawn(function()
  local first, g, last = ch:receive("k")
  assert(first == "first" and last[1] == "last")
  local ok, err = pcall(g)
  assert(not ok and tostring(err):find("fails to load", 1, true), err)
  local list = ch:receive_batch("k", 10)
  assert(list.n == 2 and list[1] == "x" and list[2] == "y")
  local key, again = ch:receive_any({ "a", "k2" })
  assert(key == "k2" and not pcall(again))
  return "all"
end)
ch:send("k", "first", f, { "last" })
ch:send("k2", f)
p:join(0.05)
ch:send_batch("k", { "x", "y" })
assert(p:result(30) == "all")

-- A loader of __transfer that fails.
local object = setmetatable({}, {
  __transfer = function()
    return 1, function()
      error("the loader fails")
    end
  end,
})
ch:send("loader", "before", object, "after")
ch:send("loader", "next")
local before, stand_in, after = ch:receive("loader", 0)
assert(before == "before" and after == "after")
local used, err = pcall(function()
  return stand_in.x
end)
assert(not used and tostring(err):find("the loader fails", 1, true), err)
assert(ch:receive("loader", 0) == "next" and ch:count("loader") == 0)
