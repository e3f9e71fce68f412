-- SPDX-License-Identifier: MIT
-- Large transfers, slow and broken peers, and limits of the system.
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

local megabytes = support.scaled(100, 5)
local piece = ("0123456789abcdef"):rep(1 << 16)

-- 100 MB through "*a", in one piece and in many, in time that grows with the size alone.
for _, chunk in ipairs({ piece, piece:sub(1, 5000) }) do
  local a, b = pair()
  local sender = shoal.task(function()
    for _ = 1, megabytes * (1 << 20) // #chunk do
      assert(a:send(chunk))
    end
    a:close()
  end)
  local all = b:receive("*a")
  assert(sender:join())
  assert(#all == megabytes * (1 << 20) // #chunk * #chunk)
  assert(all:sub(1, #chunk) == chunk and all:sub(-#chunk) == chunk)
end

-- The same by lines and by counts, between processes.
do
  local lines = support.scaled(100000, 1000)
  local p = shoal.spawn(function(where, count)
    local client = assert(require("socket").connect("127.0.0.1", where))
    for i = 1, count do
      assert(client:send("line " .. i .. "\r\n"))
    end
    local got = 0
    while true do
      local text, err, part = client:receive(1000)
      got = got + #(text or part)
      if err == "closed" then
        return got
      end
    end
  end, port, lines)
  local peer = assert(server:accept())
  for i = 1, lines do
    assert(peer:receive() == "line " .. i)
  end
  assert(peer:send(piece) == #piece)
  peer:close()
  expect(pack(p:join()), true, #piece)
end

-- A line of a megabyte; a peer that writes byte by byte.
do
  local a, b = pair()
  local sender = shoal.task(function()
    assert(a:send(piece .. "\n"))
    a:setoption("tcp-nodelay", true)
    for c in ("drop by drop\n"):gmatch(".") do
      assert(a:send(c))
      shoal.yield()
    end
  end)
  assert(b:receive() == piece)
  assert(b:receive() == "drop by drop")
  assert(sender:join())
end

-- A slow reader: the sender waits for it, and nothing is lost.
do
  local a, b = pair()
  local text = piece:rep(8)
  local sender = shoal.task(function()
    local sent = a:send(text)
    a:close()
    return sent
  end)
  local parts = {}
  while true do
    local part, err, rest = b:receive(10007)
    parts[#parts + 1] = part or rest
    if err then
      break
    end
    shoal.yield()
  end
  assert(table.concat(parts) == text)
  expect(pack(sender:join()), true, #text)
end

-- A reset: "closed" on both sides, for who waits and who calls, and no signal.
do
  local a, b = pair()
  local reader = shoal.task(function()
    return b:receive()
  end)
  shoal.yield()
  a:setoption("linger", { on = true, timeout = 0 })
  a:close()
  expect(pack(reader:join()), true, nil, "closed", "")
  local ok, err
  repeat
    ok, err = b:send("x")
  until not ok
  assert(err == "closed")
  -- What has been sent to a peer that is gone.
  local c, d = pair()
  c:send("unread")
  socket.select({ d }, nil, 10)
  d:close()
  repeat
    ok, err = c:send("x")
  until not ok
  assert(err == "closed")
end

-- A half-open connection: one direction ends, the other goes on.
do
  local a, b = pair()
  a:shutdown("send")
  expect(pack(b:receive()), nil, "closed", "")
  assert(b:send("still\n"))
  expect(pack(a:receive()), "still", nil, nil)
  expect(pack(a:send("x")), nil, "closed", 0)
end

-- Connections that nobody answers: the timeout ends them.
do
  local deaf = assert(socket.tcp4())
  assert(deaf:bind("127.0.0.1", 0) and deaf:listen(0))
  local deaf_ip, deaf_port = deaf:getsockname()
  local waiting = {}
  local err
  for i = 1, 10 do
    waiting[i] = socket.tcp4()
    waiting[i]:settimeout(0.05)
    err = select(2, waiting[i]:connect(deaf_ip, deaf_port))
    if err then
      break
    end
  end
  assert(err == "timeout", err)
end

-- A connection in the background.
do
  local client = socket.tcp()
  client:settimeout(0)
  expect(pack(client:connect(ip, port)), nil, "timeout")
  local _, w = socket.select(nil, { client }, 30)
  assert(w[1] == client)
  expect(pack(client:connect(ip, port)), 1)
  expect(pack(client:connect(ip, port)), nil, "already connected")
  assert(server:accept())
  local gone = assert(socket.bind("127.0.0.1", 0))
  local _, gone_port = gone:getsockname()
  gone:close()
  local refused = socket.tcp()
  refused:settimeout(0)
  local _, err = refused:connect(ip, gone_port)
  if err == "timeout" then
    socket.select(nil, { refused }, 30)
    expect(pack(refused:getoption("error")), "connection refused")
  else
    assert(err == "connection refused")
  end
end

-- No more descriptors: an error that says so, and it goes on when there are some again.
do
  local status, out, err = support.run(
    [[
    local socket = require("socket")
    local server = assert(socket.bind("127.0.0.1", 0, 100))
    local ip, port = server:getsockname()
    local clients, why = {}
    repeat
      local client
      client, why = socket.connect(ip, port)
      clients[#clients + 1] = client
    until not client
    assert(why == "Too many open files", why)
    local made, err = socket.tcp4()
    assert(made == nil and err == why)
    local accepted, accept_err = server:accept()
    assert(accepted == nil and accept_err == why)
    for _, client in ipairs(clients) do
      client:close()
    end
    assert(server:accept())
    assert(socket.connect(ip, port))
    print("recovered")
  ]],
    "bash -c 'ulimit -n 64; exec \"$@\"' bash"
  )
  assert(status == 0 and out == "recovered\n", out .. err)
end

-- An idle connection costs little.
do
  local count = support.scaled(400, 50)
  local kept = {}
  collectgarbage()
  collectgarbage()
  local before = collectgarbage("count")
  for i = 1, count do
    local a, b = pair()
    a:settimeout(0)
    a:receive()
    kept[i] = { a, b }
  end
  collectgarbage()
  collectgarbage()
  assert(#kept == count)
  local each = (collectgarbage("count") - before) * 1024 / (2 * count)
  assert(each < 1024, each)
end
