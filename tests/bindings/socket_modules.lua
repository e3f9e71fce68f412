-- SPDX-License-Identifier: MIT
-- The Lua files of the package lua-socket run on our core: http, smtp, ltn12, mime, url, and the
-- exceptions of socket.try.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local expect, expect_error, pack = support.expect, support.expect_error, table.pack

-- It is our core, in the program and in its processes.
assert(socket == require("socket.core") and socket._VERSION:find("Shoal", 1, true))
assert(shoal
  .spawn(function()
    return require("socket")._VERSION
  end)
  :result() == socket._VERSION)

-- try and protect.
do
  local closed = 0
  local try = socket.newtry(function()
    closed = closed + 1
  end)
  local f = socket.protect(function(...)
    return try(...)
  end)
  expect(pack(f(1, nil, 3)), 1, nil, 3)
  expect(pack(f(nil, "why", 3)), nil, "why")
  expect(pack(f(false, { 1 })), nil, { 1 })
  assert(closed == 2)
  local ok, err = pcall(try, nil, "why")
  assert(not ok and getmetatable(err) == false and err[1] == "why")
  -- Other errors pass.
  expect_error(
    "other",
    socket.protect(function()
      error("other")
    end)
  )
  expect(pack(pcall(socket.protect(error), { 5 })), false, { 5 })
  -- A wait in a protected function; the finalizer may wait as well.
  local slow = socket.newtry(function()
    shoal.yield()
    closed = closed + 1
  end)
  local g = socket.protect(function(value)
    shoal.sleep(0.001)
    return slow(value, "late")
  end)
  expect(pack(g(7)), 7, "late")
  expect(pack(g(nil)), nil, "late")
  assert(closed == 4)
  expect(pack(socket.skip(1, 1, 2, 3)), 2, 3)
  expect(pack(socket.skip(0, 1)), 1)
  expect(pack(socket.skip(4, 1)))
  -- A cancel is no error that they catch.
  local waiting = shoal.task(socket.protect(function()
    local guarded = socket.protect(shoal.sleep)
    while true do
      guarded(1000)
    end
  end))
  shoal.yield()
  assert(waiting:cancel(60))
  expect(pack(waiting:join()), nil, shoal.cancelled)
end

-- A server for HTTP, as small as can be: /slow answers when all have asked.
local server = assert(socket.bind("127.0.0.1", 0, 100))
local _, port = server:getsockname()
local base = "http://127.0.0.1:" .. port
local requests, together = 0, shoal.channel()

local function answer(client)
  local method, path = client:receive():match("^(%u+) (%S+)")
  local length = 0
  repeat
    local line = client:receive()
    length = tonumber(line:lower():match("^content%-length: (%d+)")) or length
  until line == ""
  local body = length > 0 and client:receive(length) or ""
  if path:find("^/slow") then
    requests = requests + 1
    if requests == 9 then
      for _ = 1, 9 do
        together:send("go", true)
      end
    end
    together:receive("go")
  end
  if path == "/moved" then
    client:send("HTTP/1.1 302 Found\r\nLocation: " .. base .. "/new\r\nContent-Length: 0\r\n\r\n")
  elseif path == "/chunked" then
    client:send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for word in ("in some chunks"):gmatch("%a+ ?") do
      client:send(("%x\r\n%s\r\n"):format(#word, word))
      shoal.yield()
    end
    client:send("0\r\n\r\n")
  else
    local text = ("%s %s %s"):format(method, path, body)
    client:send("HTTP/1.0 200 OK\r\nX-Test: yes\r\n\r\n" .. text)
  end
  client:close()
end

local acceptor = shoal.task(function()
  while true do
    local client = server:accept()
    if not client then
      return
    end
    shoal.task(answer, client)
  end
end)

local http = require("socket.http")
local ltn12 = require("ltn12")
do
  local body, code, headers, status = http.request(base .. "/page")
  assert(body == "GET /page " and code == 200 and status == "HTTP/1.0 200 OK")
  assert(headers["x-test"] == "yes")
  assert(http.request(base .. "/form", "a=1&b=2") == "POST /form a=1&b=2")
  assert(http.request(base .. "/chunked") == "in some chunks")
  assert(http.request(base .. "/moved") == "GET /new ")
  local parts = {}
  local ok, put_code = http.request({
    url = base .. "/put",
    method = "PUT",
    source = ltn12.source.string(("x"):rep(100000)),
    headers = { ["content-length"] = 100000 },
    sink = ltn12.sink.table(parts),
  })
  assert(ok == 1 and put_code == 200)
  assert(table.concat(parts) == "PUT /put " .. ("x"):rep(100000))
end

-- Nine requests at once: the server answers none of them before it has all.
do
  local tasks = {}
  for i = 1, 9 do
    tasks[i] = shoal.task(http.request, base .. "/slow" .. i)
  end
  for i = 1, 9 do
    local ok, body, code = tasks[i]:join()
    assert(ok and body == ("GET /slow%d "):format(i) and code == 200)
  end
end

-- From processes.
do
  local list = {}
  for i = 1, 4 do
    list[i] = shoal.spawn(function(url)
      return (require("socket.http").request(url))
    end, base .. "/" .. i)
  end
  for i = 1, 4 do
    expect(pack(list[i]:join()), true, ("GET /%d "):format(i))
  end
end

-- A host that is not there, a port where nobody listens.
server:close()
assert(acceptor:join())
expect(pack(http.request(base)), nil, "connection refused")

-- SMTP.
do
  local smtp = require("socket.smtp")
  local mail_server = assert(socket.bind("127.0.0.1", 0))
  local _, mail_port = mail_server:getsockname()
  local got = shoal.task(function()
    local client = mail_server:accept()
    local lines = {}
    client:send("220 ready\r\n")
    while true do
      local line = client:receive()
      lines[#lines + 1] = line
      if line == "DATA" then
        client:send("354 go on\r\n")
        repeat
          line = client:receive()
          lines[#lines + 1] = line
        until line == "."
        client:send("250 taken\r\n")
      elseif line == "QUIT" then
        client:send("221 bye\r\n")
        client:close()
        return table.concat(lines, "\n")
      else
        client:send("250 ok\r\n")
      end
    end
  end)
  local ok, err = smtp.send({
    from = "<a@example.com>",
    rcpt = "<b@example.com>",
    source = smtp.message({ headers = { subject = "test" }, body = "hello\r\n.dot" }),
    server = "127.0.0.1",
    port = mail_port,
  })
  assert(ok == 1, err)
  local _, text = got:join()
  assert(text:find("MAIL FROM:<a@example.com>", 1, true) and text:find("\nhello\n..dot", 1, true))
end

-- The rest of the package.
do
  local mime, url = require("mime"), require("socket.url")
  assert(mime.b64("shoal") == "c2hvYWw=" and mime.unb64("c2hvYWw=") == "shoal")
  assert(url.parse("http://host:80/path").port == "80" and url.escape("a b") == "a%20b")
  local sunk = {}
  local chain = ltn12.filter.chain(mime.encode("base64"), mime.wrap("base64"))
  ltn12.pump.all(
    ltn12.source.chain(ltn12.source.string(("x"):rep(100)), chain),
    (ltn12.sink.table(sunk))
  )
  assert(#table.concat(sunk) > 100)
  -- Sources and sinks of sockets.
  local listener = assert(socket.bind("127.0.0.1", 0))
  local _, listener_port = listener:getsockname()
  local sender = shoal.task(function()
    local client = assert(socket.connect("127.0.0.1", listener_port))
    return ltn12.pump.all(
      ltn12.source.string(("y"):rep(50000)),
      socket.sink("close-when-done", client)
    )
  end)
  local peer = listener:accept()
  sunk = {}
  ltn12.pump.all(socket.source("until-closed", peer), (ltn12.sink.table(sunk)))
  assert(table.concat(sunk) == ("y"):rep(50000) and sender:join())
end
