-- SPDX-License-Identifier: MIT
-- Processes in a ring select among sockets, messages and ends with random timeouts; several tasks
-- look at one socket, some sockets are closed, some processes are cancelled. Each message and each
-- byte that was sent is received once, in order, and what is said to be ready is.
local shoal = require("shoal")
local socket = require("socket")
local support = require("support")
local random = support.random()

local server = assert(socket.bind("127.0.0.1", 0))
local ip, port = server:getsockname()
local function pair()
  local client = assert(socket.connect(ip, port))
  return client, assert(server:accept())
end

-- `ends` are sockets with numbers of the streams of bytes that go out and come in there. What
-- happens is noted in the channel `notes`; at the end, also of a cancel, the sockets go there.
local function run(me, ch, notes, ends, steps, seed)
  local PERIOD = 251
  local bytes = {}
  for i = 0, PERIOD - 1 do
    bytes[i + 1] = string.char(i)
  end
  local pattern = table.concat(bytes):rep(40)
  -- The bytes of a stream from `from` on.
  local function stream(from, count)
    return pattern:sub(from % PERIOD + 1, from % PERIOD + count)
  end

  math.randomseed(seed)
  for _, at in ipairs(ends) do
    at.sent, at.received = 0, 0
    assert(at.socket:settimeout(0))
  end
  -- At the end, or when a cancel has been raised: one that comes at the end is raised before it.
  local function give_back()
    for at in
      function()
        return table.remove(ends)
      end
    do
      notes:send("end", at)
    end
  end
  local _ <close> = support.closing(give_back)
  notes:send("begun", true)

  -- Takes what is there, if nobody else is about to. Returns whether it was anything.
  local function read(at)
    local whole, why, part = at.socket:receive(random(1, 4000))
    local got = whole or part
    assert(got == stream(at.received, #got), "bytes are lost, or come twice")
    at.received = at.received + #got
    assert(whole or why == "timeout" or why == "socket busy reading", why)
    return #got > 0 or why == "socket busy reading"
  end
  local function write(at)
    local data = stream(at.sent, random(1, 8000))
    local all, why, some = at.socket:send(data)
    assert(all or why == "timeout", why)
    at.sent = at.sent + (all or some)
    return (all or some) > 0
  end

  local idle = assert(socket.udp4())
  assert(idle:setsockname("127.0.0.1", 0))
  local is_closed = false
  if random(3) == 1 then
    local pause = random() / 50
    shoal.task(function()
      shoal.sleep(pause)
      is_closed = true
      idle:close()
    end)
  end
  -- Looks at a socket beside the body, and takes what is there.
  local has_rival = random(2) == 1
  local rival = has_rival
    and shoal.task(function()
      local at = ends[1]
      while true do
        if shoal.select({ { at.socket, "read" }, timeout = 0.001 }) then
          shoal.shield(read, at)
        end
      end
    end)

  local next = 0
  local function step()
    local cases, kinds, places = {}, {}, {}
    local message = me .. " " .. next
    local ended
    for i = 1, random(1, 5) do
      local draw = random(12)
      local key = random(3)
      local at = ends[random(#ends)]
      places[i] = at
      if draw <= 2 then
        cases[i], kinds[i] = { ch, key }, "receive"
      elseif draw <= 4 then
        cases[i], kinds[i] = { ch, key, send = { message } }, "send"
      elseif draw <= 7 then
        cases[i], kinds[i] = { at.socket, "read" }, "read"
      elseif draw <= 9 then
        cases[i], kinds[i] = { at.socket, "write" }, "write"
      elseif draw == 10 then
        cases[i], kinds[i] = { idle, "read" }, "idle"
      else
        ended = ended
          or shoal.task(function(s)
            shoal.sleep(s)
            return "end"
          end, random() / 1000)
        cases[i], kinds[i] = { ended }, "end"
      end
    end
    -- What will end needs no timeout.
    if not ended then
      cases.timeout = random(3) == 1 and 0 or random() / 500
    end
    local i, a, b = shoal.select(cases)
    local kind = kinds[i]
    if not i then
      assert(a == "timeout" and not ended)
    elseif kind == "end" then
      assert(a and b == "end" or b == shoal.cancelled)
    elseif kind == "idle" then
      assert(is_closed and a == nil and b == "closed")
    elseif kind == "send" then
      assert(a == true)
      notes:send("sent", message)
      next = next + 1
    elseif kind == "receive" then
      notes:send("received", a)
    elseif kind == "read" then
      -- Nobody comes between the two calls but a rival.
      assert(a == true)
      assert(read(places[i]) or has_rival and places[i] == ends[1], "nothing to read")
    else
      assert(a == true)
      assert(write(places[i]), "no room to write")
    end
    if ended then
      ended:cancel()
    end
  end
  for _ = 1, steps do
    shoal.shield(step)
    shoal.sleep(random(8) == 1 and 0.0005 or 0)
  end
  if rival then
    rival:cancel(math.huge)
  end
  idle:close()
  shoal.shield(give_back)
end

local function round(size, limit)
  local ch = shoal.channel({ limit = limit })
  local notes = shoal.channel()
  -- Between neighbours, a connection; for each of its directions, a stream.
  local ends = {}
  for i = 1, size do
    ends[i] = {}
  end
  for i = 1, size do
    local right, left = pair()
    table.insert(ends[i], { socket = right, out = 2 * i, from = 2 * i + 1 })
    table.insert(ends[i % size + 1], { socket = left, out = 2 * i + 1, from = 2 * i })
  end
  local all = {}
  for me = 1, size do
    local steps = support.scaled(300, 20)
    all[me] = shoal.spawn(run, me, ch, notes, ends[me], steps, random(1 << 30))
  end
  -- Who is cancelled before would not give the sockets back.
  for _ = 1, size do
    notes:receive("begun")
  end
  shoal.sleep(random() / 50)
  all[random(size)]:cancel(math.huge)
  for _, p in ipairs(all) do
    local ok, why, trace = p:join()
    assert(ok or why == shoal.cancelled, trace and why .. trace)
  end

  local sent, received = {}, {}
  for kind, into in pairs({ sent = sent, received = received }) do
    for _ = 1, notes:count(kind) do
      local message = notes:receive(kind)
      assert(not into[message], "twice " .. kind .. ": " .. message)
      into[message] = true
    end
  end
  for key = 1, 3 do
    for _ = 1, ch:count(key) do
      local message = ch:receive(key)
      assert(not received[message], "also stands: " .. message)
      received[message] = true
    end
    assert(select("#", ch:receive(key, 0)) == 2)
  end
  for message in pairs(sent) do
    assert(received[message], "lost: " .. message)
  end
  for message in pairs(received) do
    assert(sent[message], "never sent: " .. message)
  end

  -- What is left of the bytes stands in the sockets.
  local bytes, left = {}, {}
  for _ = 1, 2 * size do
    local at = assert(notes:receive("end", 0))
    bytes[at.out] = at.sent
    left[#left + 1] = at
  end
  for _, at in ipairs(left) do
    local rest = bytes[at.from] - at.received
    at.socket:settimeout(60)
    assert(rest == 0 or #assert(at.socket:receive(rest)) == rest)
  end
  for _, at in ipairs(left) do
    at.socket:settimeout(0)
    local one, why = at.socket:receive(1)
    assert(not one and why == "timeout", "more bytes than were sent")
  end
end

for _, limit in ipairs({ 0, 2, math.huge }) do
  round(2, limit)
  round(4, limit)
end

-- A token goes round, each time by a socket or by a message: nobody has a timeout, so a wake-up
-- that is lost would be seen.
do
  local SIZE = 4
  local hops = support.scaled(4000, 100)
  local ch = shoal.channel()
  local ins, outs = {}, {}
  for i = 1, SIZE do
    outs[i], ins[i % SIZE + 1] = pair()
  end
  local all = {}
  for me = 1, SIZE do
    all[me] = shoal.spawn(function(c, size, from, to, seed)
      math.randomseed(seed)
      while true do
        local i, n = shoal.select({ { c, "stop" }, { c, me }, { from, "read" } })
        if i == 1 then
          return
        elseif i == 3 then
          local line, why = from:receive()
          -- Cases are tried one after the other: a neighbour may have stopped, and ended, between.
          if not line then
            assert(why == "closed" and select(2, c:receive("stop", 0)) == "closed", why)
            return
          end
          n = tonumber(line)
        end
        if n == 0 then
          c:close("stop")
        elseif math.random(2) == 1 then
          c:send(me % size + 1, n - 1)
        else
          assert(to:send(n - 1 .. "\n"))
        end
      end
    end, ch, SIZE, ins[me], outs[me], random(1 << 30))
  end
  ch:send(1, hops)
  for _, p in ipairs(all) do
    assert(p:join())
  end
end
