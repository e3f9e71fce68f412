-- SPDX-License-Identifier: MIT
-- Tables whose metatable says how they are sent: in lindas, arguments, upvalues and results.
local support = require("support")
local lanes = require("lanes").configure()
local l = lanes.linda()

local function sent(value)
  assert(l:send("k", value))
  return select(2, l:receive("k"))
end
local function with(field, value)
  return setmetatable({ 1, 2 }, { [field] = value })
end

local hint
local converted = with("__lanesconvert", function(t, how)
  hint = how
  return "converted " .. #t
end)
assert(sent(converted) == "converted 2" and hint == "regular")
assert(sent({ { converted } })[1][1] == "converted 2")
assert(sent(with("__lanesconvert", lanes.null)) == nil)
assert(sent(with("__lanesconvert", function()
  return lanes.null
end)) == nil)
local decayed = sent(with("__lanesconvert", "decay"))
assert(type(decayed) == "userdata" and not getmetatable(decayed))

-- In a lane, whatever libraries it has.
local h = lanes.gen("base", function(argument)
  return argument, converted
end)(converted)
assert(h[1] == "converted 2" and h[2] == "converted 2")
h = lanes.gen("*", function()
  return setmetatable({}, {
    __lanesconvert = function()
      return { "of a lane" }
    end,
  })
end)()
assert(h[1][1] == "of a lane")

-- A clone is filled by the sender, and keeps the metatable.
local original = with("__lanesclone", function(clone, from)
  clone.sum = from[1] + from[2]
end)
getmetatable(original).__index = { kind = "counted" }
local clone = sent(original)
assert(clone.sum == 3 and clone[1] == nil and clone.kind == "counted")
assert(original[1] == 1 and original.sum == nil)

-- A metatable with both __transfer and one of these goes by the first.
assert(sent(setmetatable({}, {
  __lanesconvert = lanes.null,
  __transfer = function()
    return "transferred", function(value)
      return value
    end
  end,
})) == "transferred")

local function refuses(expected, value)
  local err = support.expect_error(expected, function()
    l:send("k", value)
  end)
  assert(err:find("lanes_convert.lua:%d+: "), err)
end
refuses(
  "__lanesconvert must be a function, lanes.null or 'decay', not a number",
  with("__lanesconvert", 1)
)
refuses(
  "__lanesconvert must be a function, lanes.null or 'decay', not a string",
  with("__lanesconvert", "x")
)
refuses("__lanesclone must be a function, not a boolean", with("__lanesclone", true))
refuses(
  "in the conversion",
  with("__lanesconvert", function()
    error("in the conversion")
  end)
)
refuses(
  "itself to be converted",
  with("__lanesconvert", function()
    return converted
  end)
)
assert((l:count("k") or 0) == 0)
