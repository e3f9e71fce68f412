-- SPDX-License-Identifier: MIT
-- Sockets and tasks: who waits, who is told, and what others do meanwhile.
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

-- One reader and one writer at a time, also in both directions at once.
do
  local a, b = pair()
  local text = ("x"):rep(8000000)
  local reader = shoal.task(function()
    return a:receive(3)
  end)
  local writer = shoal.task(function()
    return a:send(text)
  end)
  while writer:status() ~= "waiting" or reader:status() ~= "waiting" do
    shoal.yield()
  end
  expect(pack(a:receive("*l", "p")), nil, "socket busy reading", "p")
  expect(pack(a:send("y")), nil, "socket busy writing", 0)
  b:send("abc")
  expect(pack(reader:join()), true, "abc", nil, nil)
  assert(#b:receive(#text) == #text)
  expect(pack(writer:join()), true, #text, nil, nil)
  -- Then it is free again.
  b:send("def")
  expect(pack(a:receive(3)), "def", nil, nil)
end

-- A close tells whoever waits, for whatever it waits.
do
  local a, b = pair()
  b:send("part")
  local reader = shoal.task(function()
    return a:receive("*l")
  end)
  local writer = shoal.task(function()
    return a:send(("x"):rep(8000000))
  end)
  local other = assert(socket.bind("127.0.0.1", 0))
  local acceptor = shoal.task(function()
    return other:accept()
  end)
  local udp = assert(socket.udp4())
  udp:setsockname("127.0.0.1", 0)
  local receiver = shoal.task(function()
    return udp:receive()
  end)
  while writer:status() ~= "waiting" or receiver:status() ~= "waiting" do
    shoal.yield()
  end
  for _, each in ipairs({ a, other, udp }) do
    assert(each:close() == 1)
  end
  local _, result, err, part = reader:join()
  assert(result == nil and err == "closed" and (part == "part" or part == ""))
  local _, sent, why, last = writer:join()
  assert(sent == nil and why == "closed" and last > 0)
  expect(pack(acceptor:join()), true, nil, "closed")
  expect(pack(receiver:join()), true, nil, "closed")
end

-- A cancelled task leaves the socket to others.
do
  local a, b = pair()
  local reader = shoal.task(function()
    return a:receive()
  end)
  shoal.yield()
  assert(reader:cancel(60))
  b:send("line\n")
  expect(pack(a:receive()), "line", nil, nil)
end

-- A call waits wherever it is made: in a comparison, a coroutine, a gsub.
do
  local a, b = pair()
  local echo = shoal.task(function()
    for line in
      function()
        return (b:receive())
      end
    do
      b:send(line .. "\n")
    end
  end)
  local list = { 3, 1, 2 }
  table.sort(list, function(x, y)
    a:send(("%d %d\n"):format(x, y))
    local first, second = a:receive():match("(%d) (%d)")
    return tonumber(first) < tonumber(second)
  end)
  assert(table.concat(list) == "123")
  assert((("abc"):gsub("%a", function(c)
    a:send(c .. c .. "\n")
    return (a:receive())
  end)) == "aabbcc")
  local lines = coroutine.wrap(function()
    for i = 1, 3 do
      a:send(i .. "\n")
      coroutine.yield((a:receive()))
    end
  end)
  assert(lines() .. lines() .. lines() == "123")
  a:close()
  assert(echo:join())
end

-- Many connections at once, in tasks of one process.
do
  local count = support.scaled(100, 10)
  local acceptor = shoal.task(function()
    for _ = 1, count do
      local peer = assert(server:accept())
      shoal.task(function()
        for line in
          function()
            return (peer:receive())
          end
        do
          assert(peer:send(line:upper() .. "\n"))
        end
        peer:close()
      end)
    end
  end)
  local tasks = {}
  for i = 1, count do
    tasks[i] = shoal.task(function()
      local client <close> = assert(socket.connect(ip, port))
      for j = 1, 20 do
        assert(client:send(("a%d.%d\n"):format(i, j)))
        assert(client:receive() == ("A%d.%d"):format(i, j))
      end
    end)
  end
  for _, task in ipairs(tasks) do
    assert(task:join())
  end
  assert(acceptor:join())
end

-- Between processes.
do
  local worker = shoal.spawn(function(where)
    local s = require("socket")
    local client = assert(s.connect("127.0.0.1", where))
    assert(client:send("from " .. require("shoal").self().id .. "\n"))
    return client:receive("*a")
  end, port)
  local peer = assert(server:accept())
  assert(peer:receive() == "from " .. worker.id)
  peer:send("answer")
  peer:close()
  expect(pack(worker:join()), true, "answer", nil, nil)
end

-- A process is given sockets by its list of libraries.
do
  local function try()
    return (pcall(require, "socket.core"))
  end
  assert(shoal.spawn({ libs = { "socket" } }, try):result() == true)
  assert(shoal.spawn({ libs = { "shoal" } }, try):result() == false)
  -- Their C modules, if a path leads there, are none of ours: with sockets, ours come first.
  local p = shoal.spawn({ libs = { "socket", "string" } }, function()
    local core = require("socket.core")
    return core._VERSION:find("Shoal", 1, true) ~= nil, core.tcp4():close()
  end)
  expect(pack(p:join()), true, true, 1)
end

-- A socket that is dropped, or leaves a scope, is closed: the other end sees it.
do
  local a, b = pair()
  do
    local c <close> = a
    assert(c:getfd() >= 0)
  end
  assert(a:getfd() == -1)
  expect(pack(b:receive()), nil, "closed", "")
  local d = select(2, pair())
  collectgarbage()
  collectgarbage()
  expect(pack(d:receive()), nil, "closed", "")
end

-- While tasks wait for sockets, the program has something to wait for; and says for what.
do
  local a, b = pair()
  local p = shoal.spawn({ name = "reader" }, function(where)
    local client = require("socket").connect("127.0.0.1", where)
    return client:receive()
  end, port)
  local peer = assert(server:accept())
  -- It may still wait for its connection.
  local text = ""
  while not text:find("^read") do
    shoal.yield()
    text = p:stats().waiting_on or ""
  end
  assert(text:find("^read on tcp{client} 127.0.0.1:" .. port .. ", at "), text)
  peer:send("done\n")
  expect(pack(p:join()), true, "done", nil, nil)
  a:close()
  b:close()
end
