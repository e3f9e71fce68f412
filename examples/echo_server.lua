-- SPDX-License-Identifier: MIT
-- Sends each line back to where it came from: a task for each connection.
--
-- usage: shoal echo_server.lua [PORT]
--
-- Without a port, it takes any, and clients in processes of their own try it out.
local shoal = require("shoal")
local socket = require("socket")

local port = tonumber(arg[1] or 0)
if not port or arg[2] then
  io.stderr:write("usage: echo_server.lua [PORT]\n")
  os.exit(2)
end

local server = assert(socket.bind("127.0.0.1", port))
port = select(2, server:getsockname())

-- Until the other end closes. A socket in a <close> variable is closed at the end of its scope.
local function echo(connection)
  local client <close> = connection
  while true do
    local line = client:receive()
    if not line then
      return
    end
    client:send(line .. "\n")
  end
end

local acceptor = shoal.task(function()
  while true do
    local client, err = server:accept()
    if client then
      shoal.task(echo, client)
    elseif err == "closed" then
      return
    end
  end
end)

if arg[1] then
  print("waiting for connections at port " .. port)
  acceptor:join()
end

-- A client: its process has its own state, so it requires what it needs.
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
