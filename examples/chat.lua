-- SPDX-License-Identifier: MIT
-- A chat over TCP: what one says, all others hear.
--
-- usage: shoal chat.lua [PORT]      then, from elsewhere: nc 127.0.0.1 PORT
--
-- Without a port, it takes any, and two guests in processes of their own have a chat.
--
-- A guest has two tasks: one reads from the connection, the other writes to it what stands under
-- the guest's key in a channel. So nobody waits for a guest who is slow to read: beyond a hundred
-- lines, what he has not read is lost to him.
local shoal = require("shoal")
local socket = require("socket")

local port = tonumber(arg[1] or 0)
if not port or arg[2] then
  io.stderr:write("usage: chat.lua [PORT]\n")
  os.exit(2)
end

local server = assert(socket.bind("127.0.0.1", port))
port = select(2, server:getsockname())

local lines = shoal.channel({ limit = 100 }) -- one key for each guest
local guests = {} -- key → name

local function tell_others(key, text)
  for other in pairs(guests) do
    if other ~= key then
      lines:send_for(0, other, text)
    end
  end
end

local last_key = 0
local function welcome(client)
  last_key = last_key + 1
  local key = last_key
  client:send("Who are you?\n")
  local name = client:receive()
  if name then
    local writer = shoal.task(function()
      for text in lines:each(key) do
        client:send(text .. "\n")
      end
    end)
    client:send(("Hello %s, you are number %d.\n"):format(name, key))
    guests[key] = name
    tell_others(key, name .. " has come")
    for text in
      function()
        return (client:receive())
      end
    do
      tell_others(key, name .. ": " .. text)
    end
    guests[key] = nil
    tell_others(key, name .. " has gone")
    lines:close(key)
    writer:join()
  end
  client:close()
end

local acceptor = shoal.task(function()
  while true do
    local client, err = server:accept()
    if client then
      shoal.task(welcome, client)
    elseif err == "closed" then
      return
    end
  end
end)

if arg[1] then
  print("waiting for guests at port " .. port)
  acceptor:join()
end

-- A guest says `words`, each when he has heard the line that stands before it.
local function guest(where, name, words, show)
  local client <close> = assert(require("socket").connect("127.0.0.1", where))
  client:receive()
  client:send(name .. "\n")
  local say = {}
  for i = 1, #words, 2 do
    say[words[i]] = words[i + 1]
  end
  for line in
    function()
      return (client:receive())
    end
  do
    if show then
      print(line)
    end
    if say[line] == "" then
      return
    elseif say[line] then
      client:send(say[line] .. "\n")
    end
  end
end

local ann = shoal.spawn(guest, port, "Ann", {
  "Bob has come",
  "Hello Bob",
  "Bob: How are you?",
  "Very well",
  "Bob has gone",
  "",
}, true)
-- He comes when she is there.
while not next(guests) do
  shoal.sleep(0.01)
end
local bob =
  shoal.spawn(guest, port, "Bob", { "Ann: Hello Bob", "How are you?", "Ann: Very well", "" })
ann:result()
bob:result()
server:close()
acceptor:join()
