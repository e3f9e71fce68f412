-- SPDX-License-Identifier: MIT
-- TCP: what receive, send and their kin return, row by row as in LuaSocket.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local expect, expect_error, pack = support.expect, support.expect_error, table.pack

-- A connection: the client's end and the server's.
local function pair()
  local server <close> = assert(socket.bind("127.0.0.1", 0))
  local ip, port = server:getsockname()
  local client = assert(socket.connect(ip, port))
  return client, assert(server:accept())
end

-- Classes, names and constants.
do
  assert(socket._VERSION:find("^LuaSocket ") and socket._SETSIZE == 1024)
  assert(socket._DATAGRAMSIZE == 8192 and socket._SOCKETINVALID == -1)
  local master = socket.tcp()
  assert(tostring(master):find("^tcp{master}: 0x") and master.class == "tcp{master}")
  assert(master:getfd() == -1 and getmetatable(master)["tcp{any}"] == true)
  local c, s = pair()
  assert(tostring(c):find("^tcp{client}: ") and s.class == "tcp{client}")
  expect_error("tcp{client} expected", master.receive, master)
  expect_error("tcp{client} expected", c.receive, 1)
  expect_error("tcp{master} expected", c.listen, c)
  expect_error("tcp{any} expected", c.close, io.stdout)
  expect(pack(c:close()), 1)
  expect(pack(c:close()), 1)
  assert(c:getfd() == -1 and s:close() == 1)
end

-- Lines.
do
  local c, s = pair()
  expect(pack(c:send("one\r\ntwo\nth\rree\r\n")), 17, nil, nil)
  expect(pack(s:receive()), "one", nil, nil)
  expect(pack(s:dirty()), true)
  expect(pack(s:receive("*l")), "two", nil, nil)
  -- Each carriage return goes, wherever it stands.
  expect(pack(s:receive("*line", "pre")), "prethree", nil, nil)
  expect(pack(s:dirty()), false)
  c:send("half")
  c:close()
  expect(pack(s:receive("*l", "a ")), nil, "closed", "a half")
  expect(pack(s:receive("*l", "a ")), nil, "closed", "a ")
end

-- Numbers of bytes.
do
  local c, s = pair()
  c:send("0123456789")
  expect(pack(s:receive(4)), "0123", nil, nil)
  expect(pack(s:receive("2")), "45", nil, nil)
  expect(pack(s:receive(5, "abc")), "abc67", nil, nil)
  expect(pack(s:receive(3, "abc")), "abc", nil, nil)
  expect(pack(s:receive(1, "abc")), "abc", nil, nil)
  expect(pack(s:receive(4, 12)), "1289", nil, nil)
  -- None: it waits till there is one, which stays.
  local waited = shoal.task(function()
    return s:receive(0)
  end)
  shoal.yield()
  assert(waited:status() == "waiting")
  c:send("x")
  expect(pack(waited:join()), true, "", nil, nil)
  assert(s:dirty())
  c:close()
  expect(pack(s:receive(3)), nil, "closed", "x")
end

-- All of it.
do
  local c, s = pair()
  c:send("some")
  c:send("thing")
  c:shutdown("send")
  expect(pack(s:receive("*a", ">")), ">something", nil, nil)
  expect(pack(s:receive("*a")), nil, "closed", "")
  expect(pack(s:receive("*a", ">")), nil, "closed", ">")
  -- The other direction is open.
  s:send("back\n")
  expect(pack(c:receive()), "back", nil, nil)
end

-- Patterns that are none.
do
  local c = pair()
  for _, bad in ipairs({ "l", "a", "*x", "", "-1", -1 }) do
    expect_error("invalid receive pattern", c.receive, c, bad)
  end
  expect_error("invalid option", c.shutdown, c, "all")
  expect_error("invalid timeout mode", c.settimeout, c, 1, "x")
end

-- What is sent: a part of a string; where it ends.
do
  local c, s = pair()
  expect(pack(c:send("abcdef", 2)), 6, nil, nil)
  expect(pack(c:send("abcdef", 2, 3)), 3, nil, nil)
  expect(pack(c:send("abcdef", -2)), 6, nil, nil)
  expect(pack(c:send("abcdef", 1, -5)), 2, nil, nil)
  expect(pack(c:send("abcdef", 5, 2)), 4, nil, nil)
  expect(pack(c:send("", 1)), 0, nil, nil)
  expect(pack(c:send(12)), 2, nil, nil)
  c:close()
  expect(pack(s:receive("*a")), "bcdefbcefab12", nil, nil)
  expect(pack(c:send("")), 0, nil, nil)
  expect(pack(c:send("x")), nil, "closed", 0)
  expect(pack(c:receive()), nil, "closed", "")
  expect(pack(c:getpeername()), nil, "Bad file descriptor")
end

-- Timeouts: what has come is given, and taken. Nothing waits at 0.
do
  local c, s = pair()
  expect(pack(s:gettimeout()), -1, -1)
  expect(pack(s:settimeout(0)), 1)
  expect(pack(s:receive()), nil, "timeout", "")
  c:send("part")
  while not s:dirty() do
    local _, err, part = s:receive("*l")
    assert(err == "timeout")
    if part ~= "" then
      assert(part == "part")
      break
    end
    shoal.yield()
  end
  expect(pack(s:receive("*l", "part")), nil, "timeout", "part")
  s:settimeout(0.02)
  expect(pack(s:receive(5)), nil, "timeout", "")
  s:settimeout(nil)
  s:settimeout(0.02, "t")
  expect(pack(s:gettimeout()), -1, 0.02)
  expect(pack(s:receive("*a")), nil, "timeout", "")
  s:settimeout(30, "b")
  expect(pack(s:receive("*a")), nil, "timeout", "")
  s:settimeout(0.02, "b")
  s:settimeout(30, "r")
  expect(pack(s:receive("*a")), nil, "timeout", "")
  expect(pack(s:gettimeout()), 0.02, 30)
end

-- A peer that does not read: send stops, says where, and goes on from there.
do
  local c, s = pair()
  local text = ("0123456789"):rep(2000000)
  c:settimeout(0.05)
  local sent, err, last = c:send(text)
  assert(sent == nil and err == "timeout" and last > 0 and last < #text)
  local reader = shoal.task(function()
    return #s:receive("*a")
  end)
  c:settimeout(nil)
  assert(c:send(text, last + 1) == #text)
  c:close()
  expect(pack(reader:join()), true, #text)
end

-- Statistics.
do
  local c, s = pair()
  c:send("12345\n67")
  s:receive()
  local received, sent, age = s:getstats()
  assert(received == 6 and sent == 0 and age >= 0 and age < 100)
  assert(select(2, c:getstats()) == 8)
  expect(pack(s:setstats(1, 2, 1000)), 1)
  received, sent, age = s:getstats()
  assert(received == 1 and sent == 2 and age >= 1000)
end

-- Errors of addresses.
do
  local server = assert(socket.bind("127.0.0.1", 0))
  local ip, port = server:getsockname()
  assert(math.type(port) == "integer" and ip == "127.0.0.1")
  expect(pack(socket.bind("127.0.0.1", port)), nil, "address already in use")
  server:close()
  expect(pack(server:accept()), nil, "closed")
  expect(pack(socket.connect("127.0.0.1", port)), nil, "connection refused")
  local master = socket.tcp()
  expect(pack(master:connect("127.0.0.1", port)), nil, "connection refused")
  assert(master.class == "tcp{client}")
  expect(pack(socket.tcp():listen()), nil, "Bad file descriptor")
  expect(pack(socket.tcp4():bind("::1", 0)), nil, "Address family for hostname not supported")
end
