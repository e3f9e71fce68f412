-- SPDX-License-Identifier: MIT
-- Many processes that wait: none costs a thread, all are woken, all end.
local shoal = require("shoal")
local support = require("support")

local n = 2000
local ch = shoal.channel()
local before = support.threads()

local all = {}
for i = 1, n do
  all[i] = shoal.spawn(function()
    ch:incr("up")
    local a = ch:receive(i)
    require("shoal").sleep(0.001)
    return a + i
  end)
end
while (ch:get("up") or 0) < n do
  shoal.sleep(0.005)
end
assert(#shoal.processes() == n + 1)
-- (Some take the place of those that stood still.)
assert(support.threads() < before + n // 10, "waiting costs threads")

for i = n, 1, -1 do
  ch:send(i, i)
end
for i = 1, n do
  assert(all[i]:result() == 2 * i)
end
shoal.wait()
assert(#shoal.processes() == 1)

-- A ring: each passes on what it gets.
do
  local size, rounds = 503, support.scaled(20)
  local ring = shoal.channel()
  for i = 1, size do
    shoal.spawn(function()
      for token in ring:each(i) do
        ring:send(i % size + 1, token + 1)
        if token >= size * rounds then
          ring:close()
        end
      end
    end)
  end
  ring:send(1, 1)
  assert(shoal.wait() == true)
end

-- A chain of spawns.
do
  local function next_one(depth)
    if depth == 0 then
      return "end"
    end
    return require("shoal").spawn(next_one, depth - 1):result()
  end
  assert(next_one(500) == "end")
end
