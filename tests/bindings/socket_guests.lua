-- SPDX-License-Identifier: MIT
-- Programs that were written for LuaSocket: dispatchers of coroutines, a client of Redis, and the
-- controller of another library as a guest in one task.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")

-- Dispatchers of coroutines -----------------------------------------------------------------------

-- A process that serves files of the sizes that are their names, a bit at a time.
local server = assert(socket.bind("127.0.0.1", 0))
local host, port = server:getsockname()

local acceptor = shoal.task(function()
  while true do
    local client = server:accept()
    if not client then
      return
    end
    shoal.task(function()
      local size = tonumber(client:receive():match("^GET /(%d+)"))
      repeat
      until client:receive() == ""
      client:send("HTTP/1.0 200 OK\r\n\r\n")
      for at = 1, size, 5000 do
        client:send(("x"):rep(math.min(5000, size - at + 1)))
        shoal.yield()
      end
      client:close()
    end)
  end
end)

-- As in "Programming in Lua": a download yields its connection when there is nothing to read.
local function receive(connection)
  connection:settimeout(0)
  local s, status, partial = connection:receive(2 ^ 10)
  if status == "timeout" then
    coroutine.yield(connection)
  end
  return s or partial, status
end

local totals
local function download(file)
  local c = assert(socket.connect(host, port))
  local count = 0
  c:send("GET " .. file .. " HTTP/1.0\r\n\r\n")
  while true do
    local s, status = receive(c)
    count = count + #s
    if status == "closed" then
      break
    end
  end
  c:close()
  totals[file] = count
end

local threads = {}
local function get(file)
  table.insert(
    threads,
    coroutine.create(function()
      download(file)
    end)
  )
end

-- One that tries all of them again and again, and one that waits for the next with select.
local function poll_dispatch()
  local i = 1
  while #threads > 0 do
    if threads[i] == nil then
      i = 1
    end
    local ok, connection = coroutine.resume(threads[i])
    assert(ok, connection)
    if not connection then
      table.remove(threads, i)
    else
      i = i + 1
    end
  end
end

local function select_dispatch()
  local i = 1
  local connections = {}
  while true do
    if threads[i] == nil then
      if threads[1] == nil then
        break
      end
      i = 1
      connections = {}
    end
    local ok, connection = coroutine.resume(threads[i])
    assert(ok, connection)
    if not connection then
      table.remove(threads, i)
    else
      i = i + 1
      connections[#connections + 1] = connection
      if #connections == #threads then
        socket.select(connections)
      end
    end
  end
end

for _, dispatch in ipairs({ poll_dispatch, select_dispatch }) do
  totals = {}
  local sizes = { 1, 5000, 12345, support.scaled(200000, 20000) }
  for _, size in ipairs(sizes) do
    get("/" .. size)
  end
  dispatch()
  for _, size in ipairs(sizes) do
    assert(totals["/" .. size] == size + #"HTTP/1.0 200 OK\r\n\r\n")
  end
end
server:close()
assert(acceptor:join())

-- redis-lua ---------------------------------------------------------------------------------------

package.path = package.path .. ";/usr/share/lua/5.1/?.lua"

-- Whether the server listens, in at most half a minute. By the clock of the system: in the
-- simulator, a sleep takes no time.
local function comes_up(path)
  for _ = 1, 600 do
    local probe = require("socket.unix")()
    local connected = probe:connect(path)
    probe:close()
    if connected then
      return true
    end
    os.execute("sleep 0.05")
  end
end

-- A server of its own in a folder of its own, which goes with it.
local function start_redis(tries)
  local pipe = assert(io.popen("mktemp -d"))
  local folder = pipe:read("l")
  pipe:close()
  local free = assert(socket.bind("127.0.0.1", 0))
  local _, redis_port = free:getsockname()
  free:close()
  assert(os.execute(([[
    redis-server --port %d --bind 127.0.0.1 --unixsocket %s/socket --pidfile %s/pid --save '' \
      --dir %s --daemonize yes >/dev/null
  ]]):format(redis_port, folder, folder, folder)))
  local path = folder .. "/socket"
  if not comes_up(path) then
    -- Another program has taken the port.
    assert(tries < 3, "redis-server does not listen")
    os.execute("rm -rf " .. folder)
    return start_redis(tries + 1)
  end
  return setmetatable({ port = redis_port, path = path }, {
    __close = function()
      os.execute(("kill $(cat %s/pid); rm -rf %s"):format(folder, folder))
    end,
  })
end

do
  local redis = require("redis")
  local running <close> = start_redis(1)
  local client = redis.connect("127.0.0.1", running.port)
  assert(client:ping() and client:set("key", "value") and client:get("key") == "value")
  assert(redis.connect("unix://" .. running.path):get("key") == "value")
  -- Each task with its connection; they add up.
  local tasks = {}
  for i = 1, 10 do
    tasks[i] = shoal.task(function()
      local mine = redis.connect("127.0.0.1", running.port)
      for _ = 1, 20 do
        mine:incr("count")
      end
      return mine:get("count")
    end)
  end
  for _, task in ipairs(tasks) do
    assert(task:join())
  end
  assert(client:get("count") == "200")
  -- A transaction runs its block in a coroutine, and a subscription is an iterator that receives.
  local replies = client:transaction({ watch = "count", cas = true, retry = 2 }, function(t)
    local value = t:get("count")
    t:multi()
    t:set("count", value + 1)
    t:get("count")
  end)
  assert(replies[2] == "201")
  local listener = redis.connect("127.0.0.1", running.port)
  local listening = shoal.task(function()
    local got = {}
    for message, abort in listener:pubsub({ subscribe = { "channel" } }) do
      if message.kind == "subscribe" then
        client:publish("channel", "one")
        client:publish("channel", "stop")
      else
        got[#got + 1] = message.payload
        if message.payload == "stop" then
          abort()
        end
      end
    end
    return table.concat(got, " ")
  end)
  local ok, got = listening:join()
  assert(ok and got == "one stop", got)
end

-- cqueues -----------------------------------------------------------------------------------------

do
  local cqueues = require("cqueues")
  local cq = cqueues.new()
  local ticks, received = 0, nil
  -- Who answers is another process: the code of a host would stand below the guest's wait.
  local box = shoal.channel()
  local peer = shoal.spawn(function()
    local listener = assert(require("socket").bind("127.0.0.1", 0))
    box:send("port", select(2, listener:getsockname()))
    local connection = assert(listener:accept())
    connection:send("from outside")
    connection:close()
  end)
  local peer_port = box:receive("port")
  cq:wrap(function()
    for _ = 1, 5 do
      cqueues.sleep(0.001)
      ticks = ticks + 1
    end
  end)
  cq:wrap(function()
    -- Our sockets wait in its coroutines as well, though it cannot go on meanwhile.
    local client = assert(socket.connect("127.0.0.1", peer_port))
    received = client:receive("*a")
  end)
  -- The controller has a descriptor: so its task waits as for any other.
  local guest = shoal.task(function()
    local pollable = {
      getfd = function()
        return cq:pollfd()
      end,
    }
    while not cq:empty() do
      assert(cq:step(0))
      if not cq:empty() then
        socket.select({ pollable }, nil, cq:timeout())
      end
    end
  end)
  local ok, err = guest:join()
  assert(ok, err)
  peer:result()
  assert(ticks == 5 and received == "from outside")
end
