-- SPDX-License-Identifier: MIT
-- Two processes send a ball to and fro.
--
-- usage: shoal ping_pong.lua [ROUNDS]
local shoal = require("shoal")

local rounds = math.tointeger(tonumber(arg[1] or 200000))
if not rounds or rounds < 1 then
  io.stderr:write("usage: ping_pong.lua [ROUNDS], ROUNDS at least 1\n")
  os.exit(2)
end

-- One channel, two keys: what is sent to "ping" is received from "ping" only.
local table_tennis = shoal.channel()

local pong = shoal.spawn({ name = "pong" }, function()
  local hits = 0
  for ball in table_tennis:each("ping") do
    hits = hits + 1
    table_tennis:send("pong", ball)
  end
  return hits
end)

local ping = shoal.spawn({ name = "ping" }, function()
  local start = shoal.now()
  for ball = 1, rounds do
    table_tennis:send("ping", ball)
    assert(table_tennis:receive("pong") == ball)
  end
  table_tennis:close()
  return shoal.now() - start
end)

local seconds = ping:result()
print(("%s returned %d balls to %s"):format(pong.name, pong:result(), ping.name))
print(("%.2f µs for a round trip"):format(seconds / rounds * 1e6))
