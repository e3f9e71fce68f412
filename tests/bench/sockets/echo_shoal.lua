-- SPDX-License-Identifier: MIT
-- Echoes blocks of 64 bytes on so many connections, until all are closed: one task for each, in so
-- many processes.
local shoal = require("shoal")
local socket = require("socket")

local connections, processes = tonumber((...)), tonumber((select(2, ...)))

local function echo(client)
  local block = client:receive(64)
  while block do
    client:send(block)
    block = client:receive(64)
  end
  client:close()
end

local server = assert(socket.bind("127.0.0.1", 0, 4096))
print((select(2, server:getsockname())))
io.stdout:flush()

if processes == 1 then
  for _ = 1, connections do
    shoal.task(echo, assert(server:accept()))
  end
else
  local clients = shoal.channel()
  for key = 1, processes do
    shoal.spawn(function()
      require("socket")
      for client in clients:each(key) do
        shoal.task(echo, client)
      end
    end)
  end
  for i = 1, connections do
    clients:send(i % processes + 1, assert(server:accept()))
  end
  clients:close()
end
