-- SPDX-License-Identifier: MIT
-- Handles of processes and channels travel, and those of one thing are equal.
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()
local named = shoal.channel("travel_handles")

-- Of a channel: in messages, in tables, as keys of tables, as upvalues, as arguments, as results.
do
  local p = shoal.spawn(function(a, list, map)
    local s = require("shoal")
    assert(a == ch and list[1] == a and map[a] == "found" and map[named] == "named")
    assert(s.channel("travel_handles") == named)
    return a, named, { a }
  end, ch, { ch }, { [ch] = "found", [named] = "named" })
  local a, b, list = p:result()
  assert(a == ch and b == named and list[1] == ch)
  assert(a.id == ch.id and b.name == "travel_handles")
end

-- Of a process: itself, its creator, and one it has never heard of.
do
  local me = shoal.self()
  local other = shoal.spawn(function(c)
    return c:receive("go")
  end, ch)
  local p = shoal.spawn(function(creator, sibling)
    local s = require("shoal")
    assert(math.type(creator.id) == "integer")
    assert(s.self() ~= creator and s.self() == s.process(s.self().id))
    return s.self(), creator, sibling, sibling:join()
  end, me, other)
  ch:send("go", 42)
  local itself, creator, sibling, ok, value = p:result()
  assert(itself == p and creator == me and sibling == other and ok and value == 42)
end

-- A handle that comes back is the very same value, so it may key a table.
do
  ch:send("self", ch)
  local got = ch:receive("self")
  assert(rawequal(got, ch))
  local set = { [ch] = 1 }
  assert(set[got] == 1 and set[named] == nil)
end

-- A channel that nobody but a message refers to lives on.
do
  do
    local inner = shoal.channel()
    inner:send("x", "inside")
    ch:send("channel", inner)
  end
  collectgarbage()
  collectgarbage()
  assert(ch:receive("channel"):receive("x") == "inside")
end

-- A process whose handle is dropped goes on.
do
  shoal.spawn(function(c)
    c:send("alive", "yes")
  end, ch)
  collectgarbage()
  assert(ch:receive("alive") == "yes")
end

-- A handle of a process that has ended still has its results, wherever it is.
do
  local p = shoal.spawn(function()
    return "kept"
  end)
  p:join()
  collectgarbage()
  assert(shoal
    .spawn(function(q)
      return q:status(), q:result()
    end, p)
    :result() == "done")
  assert(p:result() == "kept")
end

-- Handles are keys of channels.
do
  ch:send(named, "by channel")
  ch:send(shoal.self(), "by process")
  assert(ch:receive(named, 0) == "by channel")
  assert(ch:receive(shoal.self(), 0) == "by process")
  ch:send(named, 1)
  local keys = ch:keys()
  assert(#keys == 1 and keys[1] == named)
  local key = ch:receive_any({ "no", named })
  assert(key == named)
end

-- What they are called.
do
  local p = shoal.spawn({ name = "worker" }, function() end)
  assert(tostring(p):match("^process: %d+ %(worker%)$"), tostring(p))
  assert(tostring(p):match("%d+") == tostring(p.id) and p.name == "worker")
  assert(tostring(named):match("^channel: %d+ %(travel_handles%)$"), tostring(named))
  assert(tostring(ch):match("^channel: %d+$"))
  assert(shoal.type(p) == "process" and shoal.type(ch) == "channel")
  local t = shoal.task(function() end)
  assert(shoal.type(t) == "task" and tostring(t):match("^task: "))
  for _, value in ipairs({ 1, "x", {}, print, true, io.stdout }) do
    assert(shoal.type(value) == nil, tostring(value))
  end
  assert(p.missing == nil and ch.missing == nil and ch.name == nil)
  support.expect_error("", function()
    p.id = 5
  end)
  assert(not pcall(setmetatable, ch, {}))
  p:join()
  t:join()
end

-- A task belongs to its process.
do
  local t = shoal.task(function() end)
  support.expect_error("task", ch.send, ch, "task", t)
  support.expect_error("(at [1].t)", ch.send, ch, "task", { t = t })
  support.expect_error("task", shoal.spawn, function()
    return t
  end)
  t:join()
end

-- The outcomes that are values are the same everywhere.
do
  ch:send("outcomes", shoal.timeout, shoal.cancelled)
  local timeout, cancelled = ch:receive("outcomes")
  assert(timeout == shoal.timeout and cancelled == shoal.cancelled and timeout ~= cancelled)
  assert(tostring(timeout) == "timeout" and tostring(cancelled) == "cancelled")
  local ok, a, b = shoal
    .spawn(function(t)
      local s = require("shoal")
      return s.timeout == t, s.cancelled
    end, shoal.timeout)
    :join()
  assert(ok and a == true and b == shoal.cancelled)
end

-- Many references to one channel, in cycles of channels.
do
  local a, b = shoal.channel(), shoal.channel()
  for i = 1, 100 do
    a:send(i, b, a)
    b:send(i, a, { b, a })
  end
  local x, y = a:receive(50)
  assert(x == b and y == a)
end
