-- SPDX-License-Identifier: MIT
-- Names and options: socket.dns, addresses of sockets, getoption and setoption.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local expect, expect_error, pack = support.expect, support.expect_error, table.pack
local dns = socket.dns

-- Numbers need no look-up.
do
  expect(pack(dns.getaddrinfo("127.0.0.1")), { { family = "inet", addr = "127.0.0.1" } })
  expect(pack(dns.getaddrinfo("::1")), { { family = "inet6", addr = "::1" } })
  assert(dns.toip("127.0.0.1") == "127.0.0.1")
end

-- Names.
do
  assert(type(dns.gethostname()) == "string")
  local ip, all = dns.toip("localhost")
  assert(ip == "127.0.0.1" and all.ip[1] == ip and type(all.alias) == "table")
  assert(type(all.name) == "string")
  local name, of_number = dns.tohostname("127.0.0.1")
  assert(type(name) == "string" and of_number.ip[1] == "127.0.0.1")
  local found = dns.getaddrinfo("localhost")
  assert(#found >= 1 and (found[1].addr == "127.0.0.1" or found[1].addr == "::1"))
  local names, port = dns.getnameinfo("127.0.0.1", "80")
  assert(#names == 1 and (port == "http" or port == "80"))
  assert(#dns.getnameinfo("127.0.0.1") == 1)
  expect_error("host and serv cannot be both nil", dns.getnameinfo)
  expect_error("string expected", dns.toip)
end

-- Names that are none. (Without a network the resolver may not know.)
do
  local unknown = {
    ["host or service not provided, or not known"] = true,
    ["temporary failure in name resolution"] = true,
    ["non-recoverable failure in name resolution"] = true,
  }
  local bad = "no such name.invalid"
  local found, err = dns.getaddrinfo(bad)
  assert(found == nil and unknown[err], err)
  found, err = socket.connect(bad, 80)
  assert(found == nil and unknown[err], err)
  found, err = socket.tcp():bind(bad, 80)
  assert(found == nil and unknown[err], err)
  found, err = dns.toip(bad)
  assert(found == nil and type(err) == "string")
  found, err = socket.connect("127.0.0.1", "no such port")
  assert(found == nil and err == "service not supported for socket type", err)
end

-- Many at once, the same and others; the tasks of the process go on meanwhile.
do
  local tasks = {}
  for i = 1, support.scaled(100, 10) do
    tasks[i] = shoal.task(i % 2 == 0 and dns.getaddrinfo or dns.toip, "localhost")
  end
  for _, task in ipairs(tasks) do
    local ok, found = task:join()
    assert(ok and found)
  end
  -- Who is cancelled while it looks up leaves the others alone.
  local a = shoal.task(dns.getaddrinfo, "localhost")
  local b = shoal.task(dns.getaddrinfo, "localhost")
  shoal.yield()
  a:cancel()
  assert(b:join())
end

-- By name.
do
  local server = assert(socket.bind("localhost", 0))
  local ip, port, family = server:getsockname()
  assert(ip == "127.0.0.1" or ip == "::1")
  assert(family == (ip == "::1" and "inet6" or "inet"))
  local client = assert(socket.connect("localhost", port))
  local peer = assert(server:accept())
  local client_ip, client_port = client:getsockname()
  expect(pack(peer:getpeername()), client_ip, client_port, family)
  assert(client:getfamily() == (family == "inet6" and "inet6" or "inet4"))
  local bound = assert(socket.connect(ip, port, ip, 0))
  assert(bound:getsockname() == ip)
  -- "*" is any address.
  local any = assert(socket.bind("*", 0))
  assert(any:getsockname() == "0.0.0.0")
  local _, any_port = any:getsockname()
  local four = assert(socket.connect4("localhost", any_port))
  assert(four:getpeername() == "127.0.0.1")
  expect(pack(socket.tcp4():getpeername()), nil, "Transport endpoint is not connected")
  expect(pack(socket.tcp():getsockname()), nil, "Bad file descriptor")
end

-- Options.
do
  local s = assert(socket.tcp4())
  for _, name in ipairs({ "keepalive", "reuseaddr", "reuseport", "tcp-nodelay" }) do
    expect(pack(s:getoption(name)), false)
    expect(pack(s:setoption(name, true)), 1)
    expect(pack(s:getoption(name)), true)
    expect_error("boolean expected, got number", s.setoption, s, name, 1)
  end
  for _, name in ipairs({ "tcp-keepidle", "tcp-keepcnt", "tcp-keepintvl" }) do
    expect(pack(s:setoption(name, 7)), 1)
    expect(pack(s:getoption(name)), 7)
  end
  expect(pack(s:setoption("linger", { on = true, timeout = 3 })), 1)
  expect(pack(s:getoption("linger")), { on = true, timeout = 3 })
  expect_error("boolean 'on' field expected", s.setoption, s, "linger", {})
  expect_error("number 'timeout' field expected", s.setoption, s, "linger", { on = true })
  expect_error("table expected, got no value", s.setoption, s, "linger")
  assert(s:setoption("recv-buffer-size", 20000) == 1 and s:getoption("recv-buffer-size") >= 20000)
  assert(s:setoption("send-buffer-size", 20000) == 1 and s:getoption("send-buffer-size") >= 20000)
  expect(pack(s:getoption("error")), nil)
  expect_error("unsupported option `colour'", s.getoption, s, "colour")
  expect_error("unsupported option `error'", s.setoption, s, "error", true)
  s:close()
  expect(pack(s:getoption("keepalive")), nil, "getsockopt failed")
  expect(pack(s:setoption("keepalive", true)), nil, "setsockopt failed")
end

-- A descriptor that is taken out of a socket and put into another.
do
  local server = assert(socket.bind("127.0.0.1", 0))
  local ip, port = server:getsockname()
  local client = assert(socket.connect(ip, port))
  local peer = assert(server:accept())
  client:settimeout(0.001)
  client:receive()
  local other = socket.tcp()
  expect(pack(other:setfd(client:getfd())))
  client:setfd(-1)
  expect(pack(client:receive()), nil, "closed", "")
  assert(other:getpeername() == ip)
  peer:send("x")
  local r = socket.select({ other }, nil, 30)
  assert(r[1] == other)
  other:close()
  expect(pack(peer:receive()), nil, "closed", "")
end
