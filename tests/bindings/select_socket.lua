-- SPDX-License-Identifier: MIT
-- shoal.select: cases that are sockets.
local shoal = require("shoal")
local socket = require("socket")
local unix = require("socket.unix")
local support = require("support")
local expect, expect_error = support.expect, support.expect_error

local server = assert(socket.bind("127.0.0.1", 0))
local ip, port = server:getsockname()
local peers = {} -- which must not be collected: that would be a close
local function pair()
  local client = assert(socket.connect(ip, port))
  local peer = assert(server:accept())
  peers[#peers + 1] = peer
  return client, peer
end

local function select(cases)
  return table.pack(shoal.select(cases))
end

-- A task that selects, and waits.
local function selecting(cases)
  local task = shoal.task(shoal.select, cases)
  while task:status() ~= "waiting" do
    shoal.yield()
  end
  return task
end

local function expect_result(task, ...)
  local result = table.pack(task:join())
  assert(table.remove(result, 1) == true, result[1])
  result.n = result.n - 1
  expect(result, ...)
end

-- Ready at once, in the order of the list; nothing is taken.
do
  local a, b = pair()
  local ch = shoal.channel()
  expect(select({ { a, "read" }, { ch, 1 }, timeout = 0 }), nil, "timeout")
  expect(select({ { a, "read" }, { ch, 1 }, timeout = 0.001 }), nil, "timeout")
  expect(select({ { a, "read" }, { a, "write" } }), 2, true)
  b:send("one\ntwo\n")
  expect(select({ { ch, 1 }, { a, "read" }, { a, "write" } }), 2, true)
  expect(select({ { a, "read" }, timeout = 0 }), 1, true)
  -- What stands in the buffer counts.
  expect(table.pack(a:receive()), "one", nil, nil)
  expect(select({ { ch, 1 }, { a, "read" } }), 2, true)
  expect(table.pack(a:receive()), "two", nil, nil)
  expect(select({ { a, "read" }, timeout = 0 }), nil, "timeout")
  ch:send(1, "message")
  expect(select({ { ch, 1 }, { a, "write" } }), 1, "message")
  expect(select({ { a, "write" }, { ch, 1, send = { 5 } } }), 1, true)
  assert(ch:count(1) == 0)
end

-- Each way in which a wait ends; the others have not happened.
do
  local a, b = pair()
  local ch = shoal.channel({ limit = 0 })
  local cases = { { ch, "in" }, { ch, "out", send = { "x" } }, { a, "read" } }
  local task = selecting(cases)
  b:send("1")
  expect_result(task, 3, true)
  assert(a:receive(1) == "1")
  task = selecting(cases)
  ch:send("in", "message", nil)
  expect_result(task, 1, "message", nil)
  task = selecting(cases)
  assert(ch:receive("out") == "x")
  expect_result(task, 2, true)
  -- An edge that came for nobody ends no later wait.
  b:send("2")
  assert(a:receive(1) == "2")
  expect(select({ { a, "read" }, timeout = 0.01 }), nil, "timeout")
  -- The end of the stream can be read.
  task = selecting(cases)
  b:close()
  expect_result(task, 3, true)
  expect(table.pack(a:receive(1)), nil, "closed", "")
  -- The end of a process, beside a socket.
  local c = pair()
  local p = shoal.spawn(function()
    shoal.sleep(0.001)
    return 5
  end)
  expect(select({ { c, "read" }, { p } }), 2, true, 5)
end

-- Room to write.
do
  local a, b = pair()
  local sender = shoal.task(function()
    return a:send(("x"):rep(8000000))
  end)
  while sender:status() ~= "waiting" do
    shoal.yield()
  end
  local task = selecting({ { a, "write" }, { a, "read" } })
  assert(#b:receive(8000000) == 8000000)
  expect_result(sender, 8000000, nil, nil)
  expect_result(task, 1, true)
end

-- A server; a socket that connects; unix and udp.
do
  local task = selecting({ { server, "read" } })
  local client = assert(socket.connect(ip, port))
  expect_result(task, 1, true)
  assert(server:accept()):close()
  client:close()

  local connecting = assert(socket.tcp4())
  connecting:settimeout(0)
  connecting:connect(ip, port)
  expect(select({ { connecting, "write" } }), 1, true)
  assert(server:accept())

  local path <close> = support.temporary()
  os.remove(path.path)
  local local_server = assert(unix.stream())
  assert(local_server:bind(path.path))
  assert(local_server:listen())
  task = selecting({ { local_server, "read" } })
  local near = assert(unix.stream())
  assert(near:connect(path.path))
  expect_result(task, 1, true)
  local far = assert(local_server:accept())
  task = selecting({ { far, "read" } })
  near:send("x")
  expect_result(task, 1, true)
  assert(far:receive(1) == "x")

  local udp = assert(socket.udp4())
  assert(udp:setsockname("127.0.0.1", 0))
  task = selecting({ { udp, "read" } })
  local other = assert(socket.udp4())
  assert(other:setpeername(udp:getsockname()))
  expect(select({ { other, "write" } }), 1, true)
  other:send("datagram")
  expect_result(task, 1, true)
  assert(udp:receive() == "datagram")

  local bound = assert(unix.dgram())
  local bound_path <close> = support.temporary()
  os.remove(bound_path.path)
  assert(bound:bind(bound_path.path))
  task = selecting({ { bound, "read" } })
  local sender = assert(unix.dgram())
  assert(sender:sendto("d", bound_path.path))
  expect_result(task, 1, true)
  assert(bound:receive() == "d")
end

-- Closed: before, meanwhile, and by a move to another process.
do
  local a = pair()
  a:close()
  expect(select({ { a, "read" } }), 1, nil, "closed")
  expect(select({ { socket.tcp(), "write" }, timeout = 0 }), 1, nil, "closed")
  local b = pair()
  local ch = shoal.channel()
  local task = selecting({ { ch, 1 }, { b, "read" } })
  b:close()
  expect_result(task, 2, nil, "closed")
  collectgarbage()
  local c, d = pair()
  task = selecting({ { c, "read" }, { ch, 1 } })
  ch:send("socket", c)
  expect_result(task, 1, nil, "closed")
  c = ch:receive("socket")
  d:send("x")
  expect(select({ { c, "read" } }), 1, true)
  assert(c:receive(1) == "x")
  -- A message that is not sent leaves the socket.
  expect(select({ { shoal.channel({ limit = 0 }), 1, send = { c } }, timeout = 0 }), nil, "timeout")
  expect(select({ { c, "write" } }), 1, true)
end

-- Several tasks look at one socket, another one reads it: all are told, also of a close.
do
  local a, b = pair()
  local never = shoal.channel()
  local function look()
    return selecting({ { never, 1 }, { a, "read" } })
  end
  local reader = shoal.task(function()
    return a:receive()
  end)
  local first, second = look(), look()
  b:send("half")
  expect_result(first, 2, true)
  expect_result(second, 2, true)
  b:send(" line\n")
  expect_result(reader, "half line", nil, nil)
  first, second = look(), look()
  reader = shoal.task(function()
    return a:receive()
  end)
  local third = shoal.task(socket.select, { a })
  while third:status() ~= "waiting" or reader:status() ~= "waiting" do
    shoal.yield()
  end
  a:close()
  expect_result(first, 2, nil, "closed")
  expect_result(second, 2, nil, "closed")
  local _, found = third:join()
  assert(found[1] == a)
  expect_result(reader, nil, "closed", "")
end

-- If the reader is faster, there is nothing left to read, and the others go on waiting.
do
  local a, b = pair()
  local ch = shoal.channel()
  local reader = shoal.task(function()
    return a:receive(1)
  end)
  while reader:status() ~= "waiting" do
    shoal.yield()
  end
  local task = selecting({ { a, "read" }, { ch, 1 } })
  b:send("x")
  expect_result(reader, "x", nil, nil)
  for _ = 1, 3 do
    shoal.yield()
  end
  ch:send(1, "message")
  expect_result(task, 2, "message")
end

-- Where Lua cannot yield; in a coroutine; a cancel leaves the socket as it was.
do
  local a, b = pair()
  local result
  shoal.task(function()
    shoal.sleep(0.001)
    b:send("x")
  end)
  assert(("x"):gsub("x", function()
    result = select({ { a, "read" } })
  end) == "x")
  expect(result, 1, true)
  result = coroutine.wrap(select)({ { a, "read" } })
  expect(result, 1, true)
  a:receive(1)
  local task = selecting({ { a, "read" } })
  assert(task:cancel(60))
  b:send("y")
  expect(select({ { a, "read" } }), 1, true)
  assert(a:receive(1) == "y")
end

-- Reports name the socket.
do
  local a = pair()
  local p = support.until_waiting(shoal.spawn(function(s)
    shoal.select({ { s, "read" }, { shoal.channel("jobs"), 1 } })
  end, a))
  local text = p:stats().waiting_on
  local wanted = ("read on tcp{client} %s:%d; receive on channel"):format(ip, port)
  assert(text:find(wanted, 1, true), text)
  p:cancel(60)
end

-- Arguments.
do
  local a = pair()
  local ch = shoal.channel()
  local good = { ch, "sent", send = { 1 } }
  local function wrong(expected, case)
    expect_error("case 2: " .. expected, shoal.select, { good, case })
    assert(ch:count("sent") == 0)
  end
  wrong('a socket is waited for with "read" or "write"', { a })
  wrong('a socket is waited for with "read" or "write"', { a, "reed" })
  wrong('a socket is waited for with "read" or "write"', { a, 1 })
  wrong("only a channel can be sent to", { a, "read", send = { 1 } })
  wrong("more than a handle and a key", { a, "read", "write" })
  wrong("a channel, process, task, future or socket expected, got userdata", { io.stdout, "read" })
end
