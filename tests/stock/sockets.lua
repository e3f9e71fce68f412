-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- LuaSocket's own core and ours, with socket.lua on top: one thread of control that talks to itself.
local socket = require("socket")

-- Integers and floats are the same here: LuaSocket has floats alone.
local function text_of(value)
  if type(value) == "number" then
    return ("%g"):format(value)
  elseif type(value) == "string" then
    return #value > 60 and ("%d bytes"):format(#value) or ("%q"):format(value)
  elseif type(value) == "table" then
    local keys = {}
    for key in pairs(value) do
      keys[#keys + 1] = tostring(key)
    end
    table.sort(keys)
    return "{" .. table.concat(keys, " ") .. "}"
  elseif type(value) == "userdata" then
    return value.class
  end
  return tostring(value)
end

local function show(...)
  local list = table.pack(...)
  for i = 1, list.n do
    list[i] = text_of(list[i])
  end
  print(debug.getinfo(2, "l").currentline, table.concat(list, ", "))
end

-- An error without its place. (Under which of its two names the module is found changes.)
local function fails(f, ...)
  local ok, err = pcall(f, ...)
  local text =
    tostring(err):gsub("^.-:%d+: ", ""):gsub("%.0$", ""):gsub("socket%.core%.", "socket.")
  print(debug.getinfo(2, "l").currentline, ok, text)
end

local server = assert(socket.bind("127.0.0.1", 0))
local ip, port = server:getsockname()
local function pair()
  local client = assert(socket.connect(ip, port))
  return client, assert(server:accept())
end

-- Objects.
show(server, socket.tcp(), socket.tcp4(), socket.tcp6(), socket.udp(), socket.udp4(), socket.udp6())
show(socket._SETSIZE, socket._DATAGRAMSIZE, socket._SOCKETINVALID)
for _, class in ipairs({ "tcp{master}", "tcp{client}", "tcp{server}", "udp{connected}" }) do
  local meta = debug.getregistry()[class]
  local methods = {}
  for name in pairs(meta.__index) do
    methods[#methods + 1] = name
  end
  table.sort(methods)
  print(class, meta.__index.class, table.concat(methods, " "))
end
local functions = {}
for name, value in pairs(socket) do
  functions[#functions + 1] = name .. ":" .. type(value)
end
table.sort(functions)
print(table.concat(functions, " "))

-- receive.
local a, b = pair()
for _, pattern in ipairs({ "*l", "*a", 0, 1, 3, 5, "2" }) do
  for _, prefix in ipairs({ "", "x", "abc", "abcdefgh", 12 }) do
    local c, d = pair()
    c:send("li\rne\r\nmore\nand an end")
    c:shutdown("send")
    show(pattern, prefix, d:receive(pattern, prefix))
    show(d:receive(pattern, prefix))
    show(d:receive(pattern))
    show(d:dirty())
    show(d:receive("*a"))
    show(d:receive("*a"))
    c:close()
    d:close()
  end
end
for _, pattern in ipairs({ "l", "a", "", "*", "*x", -1, "-1", "1x", "all" }) do
  fails(a.receive, a, pattern)
end
fails(a.receive, a, {})
fails(a.receive, a, "*l", {})

-- send.
for _, first in ipairs({ 1, 0, 2, 6, 7, 100, -1, -6, -7, -100, 2.5, "3" }) do
  for _, last in ipairs({ -1, 1, 0, 3, 6, 100, -3, -100 }) do
    show(first, last, a:send("abcdef", first, last))
  end
end
a:shutdown("send")
show(b:receive("*a"))
show(a:send("x"))
show(a:send(""))
fails(b.send, b)
fails(b.send, b, {})
fails(b.shutdown, b, "all")
show(b:shutdown())
show(a:close())
show(a:close())
show(a:send("x", 3))
show(a:receive("*l", "pre"))
show(a:getfd())
show(a:getpeername())
show(a:getsockname())
show(a:settimeout(1))

-- Timeouts.
a, b = pair()
show(a:gettimeout())
for _, mode in ipairs({ "b", "t", "r", "block", "total" }) do
  show(a:settimeout(0.01, mode), a:gettimeout())
  show(a:receive("*l"))
end
show(a:settimeout(), a:gettimeout())
show(a:settimeout(-3, "t"), a:gettimeout())
show(a:settimeout(0), a:receive(3))
b:send("ab")
socket.select({ a }, nil, 10)
show(a:receive(3))
show(a:receive(3, "ab"))
fails(a.settimeout, a, 1, "x")
fails(a.settimeout, a, "x")
show(server:settimeout(0), server:accept())
server:settimeout(nil)
b:close()

-- Classes.
fails(server.receive, server)
fails(a.accept, a)
fails(a.bind, a, "*", 0)
fails(a.listen, a)
fails(a.close, {})
fails(a.close)
fails(socket.tcp().send, socket.tcp(), "x")
fails(socket.udp().send, socket.udp(), "x")
fails(server.getstats, server)

-- Errors of addresses.
local gone = assert(socket.bind("127.0.0.1", 0))
local _, gone_port = gone:getsockname()
gone:close()
show(gone:accept())
show(socket.connect("127.0.0.1", gone_port))
show(socket.bind("127.0.0.1", port))
show(socket.bind("1.2.3.4", 0))
show(socket.connect("::1", gone_port))
show(socket.connect("127.0.0.1", "no such port"))
show(socket.tcp():listen())
show(socket.tcp():getsockname())
show(socket.tcp():getpeername())
show(socket.tcp4():getpeername())
show(socket.tcp4():getfamily(), socket.tcp6():getfamily(), socket.tcp():getfamily())
local master = socket.tcp()
show(master:connect("127.0.0.1", gone_port), master)
show(master:receive())
show(master:connect(ip, port), master)
show(master:connect(ip, port))
show(server:accept())
fails(socket.connect)
fails(socket.connect, "127.0.0.1")
fails(socket.connect, "127.0.0.1", 1, nil, nil, "inet7")
fails(server.bind, server)
local late = socket.tcp()
late:settimeout(0)
show(late:connect(ip, port))
socket.select(nil, { late }, 10)
show(late:connect(ip, port))
show(late:connect(ip, port))
show(server:accept())

-- Options.
local s = socket.tcp4()
for _, name in ipairs({
  "keepalive",
  "reuseaddr",
  "reuseport",
  "tcp-nodelay",
  "tcp-keepidle",
  "tcp-keepcnt",
  "tcp-keepintvl",
  "linger",
  "error",
}) do
  show(name, s:getoption(name))
  fails(s.setoption, s, name)
  fails(s.setoption, s, name, 7)
  fails(s.setoption, s, name, true)
  fails(s.setoption, s, name, { on = true, timeout = 5 })
  show(name, s:getoption(name))
end
show(s:setoption("ipv6-v6only", true))
show(s:setoption("tcp-defer-accept", 1), s:setoption("tcp-fastopen", 1))
fails(s.getoption, s, "a name that is much too long to be one of an option")
fails(s.getoption, s)
s:close()
show(s:getoption("keepalive"))
show(s:setoption("keepalive", true))

-- Datagrams.
local u, v = socket.udp4(), socket.udp4()
show(u:setsockname("127.0.0.1", 0), v:setsockname("127.0.0.1", 0))
local _, u_port = u:getsockname()
show(v:sendto("hello", "127.0.0.1", u_port))
show((u:receivefrom()))
show(v:sendto("", "127.0.0.1", u_port))
show((u:receivefrom()))
show(v:sendto("0123456789", "127.0.0.1", u_port))
show(u:receive(3))
show(v:sendto("x", "no number", u_port))
show(v:sendto("x", "127.0.0.1", "http"))
show(v:setpeername("127.0.0.1", u_port), v)
show(v:send("one"))
show(u:receive())
show(v:getpeername() == "127.0.0.1")
fails(v.sendto, v, "x", "127.0.0.1", u_port)
fails(v.receivefrom, v)
show(v:settimeout(0.01), v:receive())
show(v:setpeername("*"), v)
show(u:close(), u:receive(), u:dirty())
show(v:setpeername("127.0.0.1", u_port))
v:send("lost")
v:settimeout(10)
show(v:receive())
show(v:close(), v:send("x"))
for _, name in ipairs({ "broadcast", "dontroute", "ip-multicast-loop", "ip-multicast-if", "error" }) do
  local w = socket.udp4()
  show(name, w:getoption(name))
  fails(w.setoption, w, name, true)
  show(name, w:getoption(name))
end

-- select.
a, b = pair()
show(socket.select(nil, nil, 0))
show(socket.select({}, {}, 0.01))
show(socket.select({ a, b }, nil, 0))
local r, w, err = socket.select({ a }, { a, b }, 0)
show(#r, #w, w[a] and w[b] and w[w[1]], err)
b:send("one\ntwo\n")
show(a:receive(), a:dirty())
r, w, err = socket.select({ a }, nil)
show(#r, r[1] == a, r[a], #w, err)
show(a:receive(), a:dirty())
fails(socket.select, 1)
fails(socket.select, nil, 1)
fails(socket.select, nil, nil, {})
show(socket.select({ {}, {
  getfd = function()
    return -1
  end,
}, socket.tcp() }, nil, 0))

-- try and protect, skip, sleep, gettime.
local try = socket.newtry(function()
  print("finalizer")
end)
show(try(1, 2), (try("a")))
show(socket.protect(try)(nil, "why"))
show(socket.protect(try)(false, { 1 }))
fails(socket.protect(error), "other")
show(socket.skip(1, 1, 2), socket.skip(0, 1))
fails(socket.skip)
show(socket.sleep(0), socket.sleep(-1), socket.sleep(0.001))
fails(socket.sleep)
show(math.abs(socket.gettime() - os.time()) < 5)

-- Names.
show(socket.dns.getaddrinfo("127.0.0.1")[1].addr, socket.dns.getaddrinfo("::1")[1].family)
show(socket.dns.toip("127.0.0.1"))
fails(socket.dns.getnameinfo)
show(socket.dns.gethostname() ~= "")

-- unix.
local unix = require("socket.unix")
local names = {}
for name, value in pairs(unix) do
  names[#names + 1] = name .. ":" .. type(value)
end
table.sort(names)
print(table.concat(names, " "))
local path = os.tmpname()
os.remove(path)
local us = unix()
show(us, us:bind(path), us:getsockname() == path, us:listen(), us)
local uc = unix.stream()
show(uc:connect(path), uc)
local up = us:accept()
show(up, uc:send("line\nrest"), uc:shutdown("send"))
show(up:receive())
show(up:receive("*a"))
fails(us.receive, us)
os.remove(path)
show(unix.stream():connect(path))
show(unix.stream():bind(("x"):rep(200)))
local ud, ue = unix.dgram(), unix.udp()
show(ud, ud:bind(path), ue:sendto("x", path))
show(ud:receivefrom())
show(ue:connect(path), ue, ue:send("two"))
show(ud:receive())
os.remove(path)
