-- SPDX-License-Identifier: MIT
-- Lanes: a table nested 50,000 deep is a segfault. Here it is an error, and 10,000 levels travel.
local shoal = require("shoal")
local support = require("support")

local deep = support.scaled(50000, 11000)

local function nested(depth)
  local t = {}
  for _ = 2, depth do
    t = { next = t }
  end
  return t
end

local ch = shoal.channel()
ch:send("k", nested(10000))
local t, depth = ch:receive("k"), 0
while t do
  t, depth = t.next, depth + 1
end
assert(depth == 10000)

for _, d in ipairs({ 10001, support.scaled(1000000, 11000) }) do
  local value = nested(d)
  local ok, err = pcall(ch.send, ch, "k", value)
  assert(not ok and err:find("deep", 1, true), err)
  ok, err = pcall(shoal.spawn, print, value)
  assert(not ok and err:find("deep", 1, true), err)
  ok, err = pcall(ch.send_batch, ch, "k", { 1, value })
  assert(not ok and err:find("deep", 1, true), err)
end
assert(ch:count("k") == 0)

-- Also as a result, as an error, and by other ways down than tables in tables.
local ok, err = shoal
  .spawn(function()
    return nested(deep)
  end)
  :join()
assert(ok == nil and err:find("deep", 1, true), err)
ok, err = shoal
  .spawn(function()
    error(nested(deep))
  end)
  :join()
assert(ok == nil and type(err) == "string")

local f = print
for _ = 1, deep do
  local inner = f
  f = function()
    return inner
  end
end
ok, err = pcall(ch.send, ch, "k", f)
assert(not ok and err:find("deep", 1, true), err)
local m = {}
for _ = 1, deep do
  m = setmetatable({}, m)
end
ok, err = pcall(ch.send, ch, "k", m)
assert(not ok and err:find("deep", 1, true), err)
local k = {}
for _ = 1, deep do
  k = { [k] = true }
end
ok, err = pcall(ch.send, ch, "k", k)
assert(not ok and err:find("deep", 1, true), err)
