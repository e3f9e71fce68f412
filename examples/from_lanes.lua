-- SPDX-License-Identifier: MIT
-- A program for Lua Lanes, as it is: lanes search for the start below LIMIT that has the longest
-- Collatz sequence (halve an even number, else triple it and add one, until 1).
--
-- usage: shoal from_lanes.lua [LIMIT [LANES]]
--
-- Nothing in it is of Shoal: `lanes` is built in. What is different is that a lane costs no thread,
-- so there may be thousands, and that the cancel at the end is not lost in a pcall.
local lanes = require("lanes").configure()

local limit = math.tointeger(tonumber(arg[1] or 100000))
local count = math.tointeger(tonumber(arg[2] or 4))
if not limit or limit < 2 or not count or count < 1 then
  io.stderr:write("usage: from_lanes.lua [LIMIT [LANES]], LIMIT at least 2, LANES at least 1\n")
  os.exit(2)
end

local linda = lanes.linda({ name = "search" })
linda:limit("range", 2 * count) -- who sends to a full key waits

local search = lanes.gen("math", function(number)
  local ranges = 0
  while true do
    local _, range = linda:receive("range")
    if not range then
      return number, ranges
    end
    local best, length = 0, 0
    for start = range[1], range[2] do
      local n, steps = start, 1
      while n ~= 1 do
        n = n % 2 == 0 and n // 2 or 3 * n + 1
        steps = steps + 1
      end
      if steps > length then
        best, length = start, steps
      end
    end
    ranges = ranges + 1
    linda:send("found", { best, length })
  end
end)

-- A lane that would wait for ever. It is cancelled when the search is over.
local stubborn = lanes.gen("*", function()
  while true do
    pcall(linda.receive, linda, "never")
  end
end)()

local workers = {}
for i = 1, count do
  workers[i] = search(i)
end

local pieces, best, length = 0, 0, 0
local step = math.max(limit // (8 * count), 1)
local function take(found)
  if found[2] > length or (found[2] == length and found[1] < best) then
    best, length = found[1], found[2]
  end
end
local waiting = 0
for first = 1, limit - 1, step do
  linda:send("range", { first, math.min(first + step, limit) - 1 })
  pieces, waiting = pieces + 1, waiting + 1
  local key, found = linda:receive(0, "found")
  if key then
    take(found)
    waiting = waiting - 1
  end
end
for _ = 1, waiting do
  take(select(2, linda:receive("found")))
end

local ranges = 0
for _ = 1, count do
  linda:send("range", false) -- no more of them
end
for _, worker in ipairs(workers) do
  ranges = ranges + worker[2] -- waits for the lane, and is its second result
end
assert(ranges == pieces)
stubborn:cancel("hard")
print(("%d has the longest sequence below %d: %d numbers"):format(best, limit, length))
print(("%d lanes, and one that is %s"):format(count, stubborn.status))
