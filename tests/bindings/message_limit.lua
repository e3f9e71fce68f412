-- SPDX-License-Identifier: MIT
-- message_limit: how large a message may be that a process sends.
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()
local LIMIT = "message larger than the limit of 1000 bytes"

-- Everything that makes a message raises, names the place, and sends nothing.
do
  local errors = shoal.channel()
  local p = shoal.spawn({ message_limit = 1000 }, function()
    local s = require("shoal")
    local big = ("x"):rep(1001)
    local many = {}
    for i = 1, 2000 do
      many[i] = i
    end
    local function try(place, f, ...)
      local ok, err = pcall(f, ...)
      errors:send("k", place, ok, err)
    end
    try("[1]", ch.send, ch, "k", big)
    try("[2]", ch.send, ch, "k", 1, big)
    try("[1].a.b", ch.send, ch, "k", { a = { b = big } })
    try("[1]", ch.send, ch, "k", many)
    try("[1]", ch.send, ch, "k", { big, big })
    try("[3]", ch.send, ch, "k", ("x"):rep(400), ("x"):rep(400), ("x"):rep(400))
    try("[1]", ch.send_for, ch, 0, "k", big)
    try("element 2 of the list", ch.send_batch, ch, "k", { "small", big })
    try("[1]", ch.set, ch, "k", big)
    try("[1]", ch.add, ch, "k", big)
    try("[2]", s.spawn, "return ...", 1, big)
    try("body", s.spawn, "return '" .. big .. "'")
    try("body(upvalue big)", s.spawn, function()
      return big
    end)
    try("env.x", s.spawn, { env = { x = big } }, "")
  end)
  p:result()
  assert(errors:count("k") == 14)
  errors:close()
  for place, ok, err in errors:each("k") do
    assert(not ok, place .. " was sent")
    assert(err:find(LIMIT, 1, true), err)
    assert(err:find(place, 1, true), err)
  end
  assert(#ch:keys() == 0)
end

-- Up to the limit, a message is sent; a string takes some bytes more than it has.
do
  local p = shoal.spawn({ message_limit = 1000 }, function()
    local most = 0
    for size = 900, 1000 do
      if pcall(ch.set, ch, "k", ("x"):rep(size)) then
        most = size
      end
    end
    return most, #ch:receive("k")
  end)
  local most, received = p:result()
  assert(most == received and most > 980 and most < 1000, most)
end

-- Small limits concern small messages.
do
  local p = shoal.spawn({ message_limit = 20 }, function()
    local sent = ch:send("k", 1, 2, 3)
    local _, err = pcall(ch.send, ch, "k", "0123456789", "0123456789")
    return sent, err:find("larger than the limit of 20 bytes (at [2])", 1, true) ~= nil
  end)
  local sent, refused = p:result()
  assert(sent == true and refused == true)
  local q = shoal.spawn({ message_limit = 20 }, "error(('x'):rep(500), 0)")
  assert(select(2, q:join()) == ("x"):rep(200))
  assert(ch:count("k") == 1 and ch:receive("k") == 1)
end

-- Results and error values.
do
  local p = shoal.spawn({ message_limit = 1000 }, "return 1, ('x'):rep(2000)")
  local ok, err = p:join()
  assert(ok == nil and err:find(LIMIT .. " (at [2])", 1, true), err)
  local q = shoal.spawn({ message_limit = 1000 }, "error(('x'):rep(2000), 0)")
  ok, err = q:join()
  assert(ok == nil and err == ("x"):rep(1000), #err)
end

-- What is received does not count, nor what others send.
do
  local p = shoal.spawn({ message_limit = 100 }, function()
    return #ch:receive("k")
  end)
  ch:send("k", ("x"):rep(5000))
  assert(p:result() == 5000)
end

-- It is a bound for all descendants; and so is the limit for memory.
do
  local p = shoal.spawn({ message_limit = "1K" }, function()
    local s = require("shoal")
    local ok, err = pcall(s.spawn, { message_limit = "2K" }, "")
    local inherited = s.spawn(function()
      return pcall(ch.send, ch, "k", ("x"):rep(1500))
    end)
    local less = s.spawn({ message_limit = 500 }, function()
      return pcall(ch.send, ch, "k", ("x"):rep(700))
    end)
    return ok, err, inherited:result(), (less:result())
  end)
  local ok, err, inherited, less = p:result()
  assert(not ok and err:find("no more than 1024 bytes", 1, true), err)
  assert(inherited == false and less == false)
  local q = shoal.spawn({ memory_limit = "300K" }, function()
    local text, list = ("x"):rep(10000), {}
    for i = 1, 100 do
      list[i] = text
    end
    return pcall(ch.send, ch, "k", list)
  end)
  ok, err = q:result()
  assert(not ok and err:find("larger than the limit of 307200 bytes", 1, true), err)
end

-- The options are checked.
for option, expected in pairs({
  memory_limit = 'a positive number of bytes, or a text such as "64M"',
  message_limit = 'a positive number of bytes, or a text such as "64M"',
  cpu_limit = "a positive number of seconds",
  channels = "a list of names",
}) do
  local text = ("option '%s': %s expected"):format(option, expected)
  for _, value in ipairs({ "64X", "", "M", "-1K", "99999999999999999G", -1, 0 / 0, true, print }) do
    support.expect_error(text, shoal.spawn, { [option] = value }, "")
  end
end
support.expect_error("got 1.5", shoal.spawn, { memory_limit = 1.5 }, "")
support.expect_error("got 0.0", shoal.spawn, { cpu_limit = 0 }, "")
support.expect_error("a list of names expected", shoal.spawn, { channels = { 1 } }, "")
support.expect_error("there is no option 'memory'", shoal.spawn, { memory = 1 }, "")
for _, value in ipairs({ "200K", "1M", "1G", 1 << 20, 1e6, "1000000" }) do
  assert(shoal.spawn({ memory_limit = value, message_limit = value }, "return 1"):result() == 1)
end
