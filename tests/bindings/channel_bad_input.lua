-- SPDX-License-Identifier: MIT
-- Wrong arguments raise, name the argument and what was expected, and change nothing.
local shoal = require("shoal")
local support = require("support")
local expect_error = support.expect_error

local ch = shoal.channel()

-- A method that is called as a plain function has its object as the first argument.
local function bad(position, expected, f, ...)
  local err = expect_error(expected, f, ...)
  if select("#", ...) > 0 and shoal.type((...)) then
    position = position + 1
  end
  expect_error("bad argument #" .. position, error, err)
end

expect_error("bad argument #1 to 'send' (a key is a string, integer,", function()
  ch:send(0.5, "x")
end)
expect_error("bad argument #2 to 'receive' (timeout must not be negative)", function()
  ch:receive("k", -1)
end)

-- Keys.
for _, key in ipairs({ 1.5, 1.0, 0 / 0, math.huge }) do
  bad(1, "send_for", ch.send, ch, key, "x")
  bad(1, "float", ch.receive, ch, key)
  assert(not select(2, pcall(ch.receive, ch, key)):find("send_for", 1, true))
  bad(1, "float", ch.get, ch, key)
  bad(1, "float", ch.receive_batch, ch, key, 1)
  bad(1, "float", ch.receive_any, ch, { "k", key })
  bad(1, "at position 2 of the list", ch.receive_any, ch, { "k", key })
end
for _, key in ipairs({ {}, print, io.stdout, coroutine.create(print) }) do
  local kind = type(key)
  bad(1, kind, ch.send, ch, key, "x")
  bad(1, kind, ch.receive, ch, key)
  bad(1, kind, ch.set, ch, key, "x")
  bad(1, kind, ch.add, ch, key, "x")
  bad(1, kind, ch.incr, ch, key)
  bad(1, kind, ch.count, ch, key)
  bad(1, kind, ch.limit, ch, key)
  bad(1, kind, ch.expire, ch, key, 1)
  bad(1, kind, ch.ttl, ch, key)
  bad(1, kind, ch.each, ch, key)
  bad(1, kind, ch.close, ch, key)
  bad(2, kind, ch.send_for, ch, 1, key, "x")
end
bad(1, "nil", ch.send, ch, nil, "x")
bad(1, "no value", ch.receive, ch)

-- Messages.
bad(2, "at least one value", ch.send, ch, "k")
bad(2, "must not be nil", ch.send, ch, "k", nil)
bad(2, "must not be nil", ch.send, ch, "k", nil, 1)
bad(3, "at least one value", ch.send_for, ch, 1, "k")
bad(3, "must not be nil", ch.send_for, ch, 1, "k", nil)
bad(2, "must not be nil", ch.set, ch, "k", nil)
bad(2, "at least one value", ch.add, ch, "k")

-- Timeouts.
for _, case in ipairs({
  { -1, "negative" },
  { -0.001, "negative" },
  { -math.huge, "negative" },
  { 0 / 0, "NaN" },
  { "1", "string" },
  { {}, "table" },
  { true, "boolean" },
}) do
  local timeout, expected = table.unpack(case)
  bad(2, expected, ch.receive, ch, "k", timeout)
  bad(2, expected, ch.receive_any, ch, { "k" }, timeout)
  bad(3, expected, ch.receive_batch, ch, "k", 1, timeout)
  bad(1, expected, ch.send_for, ch, timeout, "k", 1)
  bad(3, expected, ch.send_batch, ch, "k", { 1 }, timeout)
  bad(2, expected, ch.expire, ch, "k", timeout)
  bad(1, expected, shoal.sleep, timeout)
  bad(1, expected, shoal.wait, timeout)
  local t = shoal.task(function() end)
  bad(1, expected, t.join, t, timeout)
  bad(1, expected, t.result, t, timeout)
  t:join()
  local p = shoal.spawn(function() end)
  bad(1, expected, p.join, p, timeout)
  bad(1, expected, p.result, p, timeout)
  p:join()
end

-- Lists of keys.
bad(1, "table", ch.receive_any, ch, "k")
bad(1, "table", ch.receive_any, ch)
bad(1, "empty", ch.receive_any, ch, {})
bad(1, "position 2", ch.receive_any, ch, { "k", {} })
bad(1, "position 1", ch.receive_any, ch, { 1.5 })

-- Batches.
for _, max in ipairs({ 0, -1, 1.5, "1" }) do
  bad(2, "positive integer", ch.receive_batch, ch, "k", max)
end
bad(2, "positive integer", ch.receive_batch, ch, "k")
bad(4, "table", ch.receive_batch, ch, "k", 1, 0, "table")
bad(2, "table", ch.send_batch, ch, "k", "x")

-- Limits, incr, expire.
for _, limit in ipairs({ -1, 1.5, 0 / 0, "1", -math.huge }) do
  bad(2, "limit", ch.limit, ch, "k", limit)
  bad(1, "limit", shoal.channel, { limit = limit })
  bad(1, "bytes", shoal.channel, { bytes = limit })
end
bad(2, "number", ch.incr, ch, "k", "1")
bad(3, "negative", ch.incr, ch, "k", 1, -1)
bad(2, "time in seconds expected, got no value", ch.expire, ch, "k")

-- Options of a channel.
bad(1, "table", shoal.channel, 5)
bad(1, "table", shoal.channel, true)
bad(1, "name", shoal.channel, { name = 5 })
bad(1, "limits", shoal.channel, { limits = 5 })
bad(1, "option", shoal.channel, { "name" })

-- Not a channel.
for name in pairs({
  send = 1,
  receive = 1,
  receive_any = 1,
  receive_batch = 1,
  send_for = 1,
  send_batch = 1,
  each = 1,
  set = 1,
  get = 1,
  add = 1,
  incr = 1,
  expire = 1,
  ttl = 1,
  limit = 1,
  count = 1,
  keys = 1,
  close = 1,
}) do
  local method = ch[name]
  assert(type(method) == "function", name)
  expect_error("channel", method)
  expect_error("channel", method, {}, "k", 1)
  expect_error("channel", method, shoal.self(), "k", 1)
  expect_error("channel", method, io.stdout, "k", 1)
end

assert(#ch:keys() == 0, "a failed call changed something")
