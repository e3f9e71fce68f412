-- SPDX-License-Identifier: MIT
-- socket.select: over sockets, and over whatever has a descriptor.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local expect_error = support.expect_error

local server = assert(socket.bind("127.0.0.1", 0))
local ip, port = server:getsockname()
local function pair()
  local client = assert(socket.connect(ip, port))
  return client, assert(server:accept())
end

-- The result is a list that also finds the place of an object.
local function expect_list(list, ...)
  local wanted = { ... }
  assert(#list == #wanted, #list)
  for i, object in ipairs(wanted) do
    assert(list[i] == object and list[object] == i)
  end
end

-- Nothing, something, all of it.
do
  local a, b = pair()
  local c, d = pair()
  local r, w, err = socket.select({ a, b, c, d }, nil, 0)
  expect_list(r)
  expect_list(w)
  assert(err == "timeout")
  r, w, err = socket.select({ a }, nil, 0.01)
  assert(#r == 0 and #w == 0 and err == "timeout")
  b:send("x")
  r, w, err = socket.select({ c, a, d }, nil)
  expect_list(r, a)
  expect_list(w)
  assert(err == nil)
  d:send("y")
  socket.select({ c }, nil)
  r, w = socket.select({ c, a, d }, { b, d }, 60)
  expect_list(r, c, a)
  expect_list(w, b, d)
  -- A socket may stand in both lists.
  r, w = socket.select({ a }, { a }, 60)
  expect_list(r, a)
  expect_list(w, a)
  -- The end of a stream is something to read.
  b:close()
  a:receive(1)
  r = socket.select({ a }, nil, 60)
  expect_list(r, a)
end

-- What stands in the buffer of a socket counts, and ends the wait.
do
  local a, b = pair()
  b:send("one\ntwo\n")
  assert(a:receive() == "one" and a:dirty())
  local r, w, err = socket.select({ a }, { a })
  expect_list(r, a)
  expect_list(w, a)
  assert(err == nil)
end

-- It waits, and one is enough.
do
  local list, peers = {}, {}
  for i = 1, 20 do
    list[i], peers[i] = pair()
  end
  local ready = shoal.task(function()
    return socket.select(list)
  end)
  shoal.yield()
  assert(ready:status() == "waiting")
  peers[13]:send("x")
  local _, r = ready:join()
  expect_list(r, list[13])
end

-- Several tasks may look at one socket; one that receives there does not disturb.
do
  local a, b = pair()
  local reader = shoal.task(function()
    return a:receive()
  end)
  local lookers = {}
  for i = 1, 3 do
    lookers[i] = shoal.task(function()
      local r = socket.select({ a, a }, nil)
      return r[1] == a
    end)
  end
  shoal.yield()
  b:send("line\n")
  local ok, line = reader:join()
  assert(ok and line == "line")
  -- What was there may have been taken; so once more.
  b:send("x")
  for i = 1, 3 do
    assert(select(2, lookers[i]:join()) == true)
  end
end

-- Objects of others; what has no descriptor is passed over.
do
  local a, b = pair()
  local calls = 0
  local wrapped = {
    getfd = function()
      calls = calls + 1
      return a:getfd()
    end,
    dirty = function()
      return false
    end,
  }
  local dirty = {
    getfd = function()
      return b:getfd()
    end,
    dirty = function()
      return true
    end,
  }
  local closed = socket.tcp()
  local r, _, err = socket.select({ {}, closed, wrapped }, nil, 0.01)
  assert(#r == 0 and err == "timeout" and calls == 1)
  local looker = shoal.task(function()
    return socket.select({ closed, wrapped }, { {} })
  end)
  shoal.yield()
  b:send("x")
  local _, found = looker:join()
  expect_list(found, wrapped)
  r = socket.select({ wrapped, dirty, closed }, nil, 10)
  expect_list(r, dirty, wrapped)
end

-- Descriptors beyond 1024 are no matter, and many at once are not either.
do
  local many, clients = {}, {}
  for i = 1, support.scaled(300, 20) do
    many[i], clients[i] = pair()
  end
  local last = #many
  many[last + 1] = many[1]
  local looker = shoal.task(function()
    return socket.select(many, nil)
  end)
  shoal.yield()
  clients[last]:send("x")
  local _, r = looker:join()
  expect_list(r, many[last])
end

-- A sleep; a close while it waits; wrong arguments.
do
  local before = shoal.now()
  local r, w, err = socket.select(nil, nil, 0.03)
  assert(#r == 0 and #w == 0 and err == "timeout" and shoal.now() - before >= 0.03)
  local a, b = pair()
  local looker = shoal.task(function()
    return socket.select({ a }, nil)
  end)
  while looker:status() ~= "waiting" do
    shoal.yield()
  end
  a:close()
  -- It is ready: no call of it waits.
  local _, found = looker:join()
  expect_list(found, a)
  b:close()
  expect_error("table expected", socket.select, 1)
  expect_error("table expected", socket.select, nil, "x")
  expect_error("number expected", socket.select, nil, nil, {})
end

-- Loops that only poll hold up nobody.
do
  local a, b = pair()
  local done = false
  local busy = shoal.task(function()
    a:settimeout(0)
    while not done do
      local _, _, part = a:receive()
      assert(part == "" or done)
      socket.select({ a }, nil, 0)
    end
  end)
  for _ = 1, 10 do
    shoal.yield()
  end
  done = true
  b:send("x")
  assert(busy:join())
end
