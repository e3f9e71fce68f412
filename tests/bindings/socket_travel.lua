-- SPDX-License-Identifier: MIT
-- Sockets in messages: they move.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local expect, pack = support.expect, table.pack

local server = assert(socket.bind("127.0.0.1", 0))
local ip, port = server:getsockname()
local function pair()
  local client = assert(socket.connect(ip, port))
  return client, assert(server:accept())
end

-- As an argument: with what has come and its timeouts; the sender's is closed. The receiver need
-- not have loaded the library.
do
  local a, b = pair()
  b:settimeout(7, "t")
  a:send("one\ntwo\n")
  assert(b:receive() == "one" and b:dirty())
  local p = shoal.spawn({ libs = { "string" } }, function(given)
    given:send("hello\n")
    return given:receive(), given.class, given:gettimeout()
  end, b)
  assert(a:receive() == "hello")
  expect(pack(p:join()), true, "two", "tcp{client}", -1, 7)
  expect(pack(b:receive()), nil, "closed", "")
  expect(pack(b:send("x")), nil, "closed", 0)
  expect(pack(b:getfd()), -1)
  -- The process has ended, and its sockets with it.
  expect(pack(a:receive()), nil, "closed", "")
end

-- Through a channel, twice in one message, and on to the next.
do
  local a, b = pair()
  local ch = shoal.channel()
  assert(ch:send("k", { b, b }, b))
  local list, again = ch:receive("k")
  assert(list[1] == again and list[2] == again and again ~= b)
  assert(ch:send("k", again))
  local third = ch:receive("k")
  a:send("x\n")
  expect(pack(third:receive()), "x", nil, nil)
  expect(pack(again:receive()), nil, "closed", "")
  expect(pack(b:receive()), nil, "closed", "")
  third:close()
  expect(pack(a:receive()), nil, "closed", "")
end

-- A send that fails changes nothing.
do
  local a, b = pair()
  a:send("one\ntwo\n")
  assert(b:receive() == "one")
  local full = shoal.channel({ limit = 1 })
  full:send("k", 1)
  expect(pack(full:send_for(0, "k", b)), nil, "timeout")
  support.expect_error("cannot send a coroutine", full.send, full, "k", b, coroutine.create(print))
  full:close()
  expect(pack(full:send("k", b)), nil, "closed")
  expect(pack(b:receive()), "two", nil, nil)
  a:send("three\n")
  local r = socket.select({ b }, nil, 30)
  assert(r[1] == b)
  expect(pack(b:receive()), "three", nil, nil)
end

-- What nobody receives is closed with the message, when the sender's has gone.
do
  local ch = shoal.channel()
  local function send_one()
    local a, b = pair()
    ch:send("k", b)
    return a
  end
  local a = send_one()
  collectgarbage()
  a:send("still open\n")
  ch:set("k")
  expect(pack(a:receive()), nil, "closed", "")
end

-- Who waits for a socket that is sent is told that it is closed.
do
  local a, b = pair()
  local reader = shoal.task(function()
    return b:receive()
  end)
  local _, d = pair()
  local looker = shoal.task(function()
    return #socket.select({ d })
  end)
  shoal.yield()
  local ch = shoal.channel()
  ch:send("k", b, d)
  expect(pack(reader:join()), true, nil, "closed", "")
  expect(pack(looker:join()), true, 1)
  local c = ch:receive("k")
  a:send("x\n")
  expect(pack(c:receive()), "x", nil, nil)
end

-- Each message is received once, and so is its socket; a result can be had twice, its socket once.
do
  local a, b = pair()
  local p = shoal.spawn(function(given)
    return given
  end, b)
  do
    local first, second = p:result(), p:result()
    assert(first == second)
    a:send("x\n")
    expect(pack(first:receive()), "x", nil, nil)
    first:close()
  end
  collectgarbage()
  expect(pack(p:result():receive()), nil, "closed", "")
end

-- A server that gives its connections to workers; a server, a datagram socket and a unix one move.
do
  local jobs = shoal.channel()
  local workers = {}
  for i = 1, 3 do
    workers[i] = shoal.spawn(function()
      local served = 0
      for client in jobs:each("job") do
        client:send(client:receive():upper() .. "\n")
        client:close()
        served = served + 1
      end
      return served
    end)
  end
  local count = support.scaled(60, 6)
  local clients = {}
  for i = 1, count do
    local client, peer = pair()
    clients[i] = client
    jobs:send("job", peer)
  end
  for i = 1, count do
    clients[i]:send("word\n")
  end
  for i = 1, count do
    expect(pack(clients[i]:receive()), "WORD", nil, nil)
  end
  jobs:close()
  local served = 0
  for i = 1, 3 do
    served = served + workers[i]:result()
  end
  assert(served == count)
  local u = socket.udp4()
  u:setsockname("127.0.0.1", 0)
  local _, u_port = u:getsockname()
  socket.udp4():sendto("datagram", "127.0.0.1", u_port)
  local p = shoal.spawn(function(given, given_udp)
    local client = given:accept()
    client:send(given_udp:receive() .. "\n")
    return given.class, given_udp.class
  end, server, u)
  expect(pack(assert(socket.connect(ip, port)):receive()), "datagram", nil, nil)
  expect(pack(p:join()), true, "tcp{server}", "udp{unconnected}")
  expect(pack(server:accept()), nil, "closed")
end
