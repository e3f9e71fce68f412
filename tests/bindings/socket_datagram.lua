-- SPDX-License-Identifier: MIT
-- Datagrams: UDP and unix; unix streams.
local shoal = require("shoal")
local socket = require("socket")
local unix = require("socket.unix")
local support = require("support")
local expect, expect_error, pack = support.expect, support.expect_error, table.pack

local function bound()
  local udp = assert(socket.udp4())
  expect(pack(udp:setsockname("127.0.0.1", 0)), 1)
  return udp, udp:getsockname()
end

-- Unconnected: to and from addresses.
do
  local a, ip, a_port = bound()
  local b, _, b_port = bound()
  assert(a.class == "udp{unconnected}" and tostring(a):find("^udp{unconnected}: "))
  expect(pack(a:sendto("hello", ip, b_port)), 5)
  expect(pack(b:receivefrom()), "hello", ip, a_port)
  -- An empty one is one.
  expect(pack(a:sendto("", ip, b_port)), 0)
  expect(pack(b:receivefrom()), "", ip, a_port)
  -- What does not fit is lost.
  a:sendto("0123456789", ip, b_port)
  a:sendto("next", ip, b_port)
  expect(pack(b:receive(4)), "0123")
  expect(pack(b:receive()), "next")
  a:sendto(("x"):rep(20000), ip, b_port)
  expect(pack(b:receive(30000)), ("x"):rep(20000))
  -- Addresses must be numbers.
  expect(pack(a:sendto("x", "localhost", b_port)), nil, "Name or service not known")
  expect_error("udp{connected} expected", a.send, a, "x")
  expect_error("udp{connected} expected", a.getpeername, a)
  expect(pack(b:dirty()), false)
end

-- Connected.
do
  local a, ip, a_port = bound()
  local b, _, b_port = bound()
  expect(pack(a:setpeername(ip, b_port)), 1)
  assert(a.class == "udp{connected}")
  expect(pack(a:getpeername()), ip, b_port, "inet")
  expect(pack(a:send("one")), 3)
  expect(pack(b:receivefrom()), "one", ip, a_port)
  expect(pack(b:sendto("two", ip, a_port)), 3)
  expect(pack(a:receive()), "two")
  expect_error("udp{unconnected} expected", a.sendto, a, "x", ip, b_port)
  expect_error("udp{unconnected} expected", a.receivefrom, a)
  -- What nobody receives is refused, which is said at the next call.
  b:close()
  a:send("lost")
  a:settimeout(20)
  expect(pack(a:receive()), nil, "connection refused")
  expect(pack(a:setpeername("*")), 1)
  assert(a.class == "udp{unconnected}")
end

-- Timeouts and closing.
do
  local a = bound()
  a:settimeout(0)
  expect(pack(a:receive()), nil, "timeout")
  expect(pack(a:receivefrom()), nil, "timeout")
  a:settimeout(0.02)
  expect(pack(a:receive()), nil, "timeout")
  expect(pack(a:close()), 1)
  expect(pack(a:receive()), "")
  local c = socket.udp4()
  c:setpeername("127.0.0.1", 9)
  c:close()
  expect(pack(c:send("x")), nil, "refused")
end

-- A socket without a family gets one at its first use.
do
  local b, ip, b_port = bound()
  local a = socket.udp()
  assert(a:getfd() == -1)
  expect(pack(a:sendto("x", ip, b_port)), 1)
  assert(a:getfd() >= 0 and a:getfamily() == "inet4")
  expect(pack(b:receive()), "x")
end

-- Options.
do
  local a = bound()
  expect(pack(a:setoption("broadcast", true)), 1)
  expect(pack(a:getoption("broadcast")), true)
  expect(pack(a:setoption("ip-multicast-ttl", 3)), 1)
  expect(pack(a:setoption("ip-multicast-if", "127.0.0.1")), 1)
  expect(pack(a:getoption("ip-multicast-if")), "127.0.0.1")
  expect(pack(a:getoption("error")), nil)
  expect_error("unsupported option `linger'", a.setoption, a, "linger", {})
  expect_error("boolean expected, got number", a.setoption, a, "reuseaddr", 1)
end

local folder = os.tmpname()
os.remove(folder)
local function path(name)
  return folder .. "." .. name
end

-- Unix streams.
do
  local server = assert(unix())
  assert(server.class == "unixstream{master}")
  expect(pack(server:bind(path("s"))), 1)
  expect(pack(server:getsockname()), path("s"))
  expect(pack(server:listen()), 1)
  local client = assert(unix.stream())
  expect(pack(client:connect(path("s"))), 1)
  local served = assert(server:accept())
  assert(client.class == "unixstream{client}" and served.class == "unixstream{client}")
  client:send("line\nrest")
  client:shutdown("send")
  expect(pack(served:receive()), "line", nil, nil)
  expect(pack(served:receive("*a")), "rest", nil, nil)
  expect(pack(unix.tcp():connect(path("none"))), nil, "No such file or directory")
  expect(pack(unix():bind(("x"):rep(200))), nil, "path too long")
  server:close()
  os.remove(path("s"))
end

-- A client waits for a server whose queue is full.
do
  local server = assert(unix.stream())
  assert(server:bind(path("q")) and server:listen(0))
  local first, second = unix.stream(), unix.stream()
  assert(first:connect(path("q")))
  local late = {}
  for i = 1, 3 do
    late[i] = shoal.task(function()
      local client = assert(unix.stream())
      assert(client:connect(path("q")))
      return client:send("hello\n")
    end)
  end
  second:settimeout(0)
  for _ = 1, 4 do
    assert(server:accept())
  end
  for i = 1, 3 do
    expect(pack(late[i]:join()), true, 6, nil, nil)
  end
  os.remove(path("q"))
end

-- Unix datagrams.
do
  local a, b = assert(unix.dgram()), assert(unix.udp())
  expect(pack(a:bind(path("a"))), 1)
  expect(pack(b:bind(path("b"))), 1)
  expect(pack(a:sendto("hello", path("b"))), 5)
  expect(pack(b:receivefrom()), "hello", path("a"))
  expect(pack(b:connect(path("a"))), 1)
  assert(b.class == "unixdgram{connected}")
  expect(pack(b:send("")), 0)
  expect(pack(a:receive()), "")
  a:settimeout(0)
  expect(pack(a:receive()), nil, "timeout")
  os.remove(path("a"))
  os.remove(path("b"))
end
