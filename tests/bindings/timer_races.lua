-- SPDX-License-Identifier: MIT
-- Timers that are started, cancelled and received by many at once: a message comes once, or its
-- timer was cancelled.
local shoal = require("shoal")
local support = require("support")
local random = support.random()

local COUNT = support.scaled(2000, 50)

local function start_all(me, ch, count, seed)
  local s = require("shoal")
  math.randomseed(seed)
  local kept, expected = {}, 0
  for i = 1, count do
    local timer = s.after(math.random() / 500, ch, "k", me * 1000000 + i)
    if math.random(2) == 1 then
      kept[#kept + 1] = timer
    else
      expected = expected + 1
    end
    if math.random(4) == 1 and #kept > 0 then
      s.sleep(math.random() / 2000)
      if not table.remove(kept, math.random(#kept)):cancel() then
        expected = expected + 1
      end
    end
  end
  return expected + #kept
end

local ch = shoal.channel()
local beats = shoal.channel()
local starters, beat = {}, shoal.every(0.001, beats, "b", true)
for me = 1, 3 do
  starters[me] = shoal.spawn(start_all, me, ch, COUNT, random(1 << 30))
end
local cancelled = shoal.task(function()
  beats:receive("b")
  shoal.sleep(0.01)
  beat:cancel()
end)
local expected = 0
for _, p in ipairs(starters) do
  expected = expected + p:result()
end
cancelled:result()
local seen = {}
for _ = 1, expected do
  local value = ch:receive("k")
  assert(not seen[value])
  seen[value] = true
end
shoal.sleep(0.02)
assert(ch:count("k") == 0)
beats:receive("b", 0)
shoal.sleep(0.02)
assert(beats:count("b") == 0)
