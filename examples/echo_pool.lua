-- SPDX-License-Identifier: MIT
-- Sends each line back to where it came from, on all processors: one process accepts connections
-- and hands them to others.
--
-- usage: shoal echo_pool.lua [PORT]
--
-- Without a port, it takes any, and clients in processes of their own try it out.
local shoal = require("shoal")
local socket = require("socket")

local port = tonumber(arg[1] or 0)
if not port or arg[2] then
  io.stderr:write("usage: echo_pool.lua [PORT]\n")
  os.exit(2)
end

local connections = shoal.channel()

-- A process of the pool: a task for each connection that it takes. The channel's only key is what
-- those that have time wait at, so the next connection goes to one of them.
local function work()
  local shoal = require("shoal") -- luacheck: ignore 431
  for connection in connections:each("next") do
    shoal.task(function()
      local client <close> = connection
      local line = client:receive()
      while line do
        client:send(line .. "\n")
        line = client:receive()
      end
    end)
  end
end
for i = 1, shoal.workers() do
  shoal.spawn({ name = "echo " .. i, daemon = true }, work)
end

local server = assert(socket.bind("127.0.0.1", port))
port = select(2, server:getsockname())

local acceptor = shoal.task(function()
  while true do
    local client, err = server:accept()
    if client then
      connections:send("next", client) -- it moves: here, it is closed now
    elseif err == "closed" then
      return
    end
  end
end)

if arg[1] then
  print("waiting for connections at port " .. port)
  acceptor:join()
end

local function talk(where, name, count)
  local client <close> = assert(require("socket").connect("127.0.0.1", where))
  for i = 1, count do
    client:send(("%s says %d\n"):format(name, i))
    assert(client:receive() == ("%s says %d"):format(name, i))
  end
  return name, count
end

local clients = {}
for i, name in ipairs({ "Ann", "Bob", "Cem" }) do
  clients[i] = shoal.spawn(talk, port, name, 1000 * i)
end
for _, client in ipairs(clients) do
  print(("%s got back %d lines"):format(client:result()))
end
server:close() -- accept returns nil, "closed"
acceptor:join()
