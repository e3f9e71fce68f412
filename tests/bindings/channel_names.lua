-- SPDX-License-Identifier: MIT
-- A named channel is one in the whole runtime.
local shoal = require("shoal")
local support = require("support")
local expect_error = support.expect_error

-- The same name gives the same channel, in any process.
do
  local a = shoal.channel("news")
  assert(a == shoal.channel("news") and a == shoal.channel({ name = "news" }))
  assert(a.name == "news" and a ~= shoal.channel("other") and a ~= shoal.channel())
  assert(shoal.channel() ~= shoal.channel() and shoal.channel({}) ~= shoal.channel({}))
  local p = shoal.spawn(function()
    local c = require("shoal").channel("news")
    c:send("from", "there")
    return c
  end)
  assert(p:result() == a and a:receive("from") == "there")
  assert(math.type(a.id) == "integer" and a.id ~= shoal.channel("other").id)
  assert(shoal.channel("") == shoal.channel("") and shoal.channel("a\0b") ~= shoal.channel("a\0c"))
end

-- Another limit than it has raises; none given does not ask.
do
  local a = shoal.channel({ name = "limited", limit = 3 })
  assert(shoal.channel("limited") == a and a:limit("k") == 3)
  assert(shoal.channel({ name = "limited", limit = 3 }) == a)
  expect_error("limited", shoal.channel, { name = "limited", limit = 4 })
  shoal.channel("unlimited")
  local b <const> = shoal.channel("unlimited")
  expect_error("unlimited", shoal.channel, { name = "unlimited", limit = 4 })
  assert(b:limit("k") == math.huge)
end

local function collect()
  collectgarbage()
  collectgarbage()
end

-- The name is kept while a handle refers to it, also when closed; then it is free.
do
  local id
  do
    local a = shoal.channel("passing")
    id = a.id
    a:send("k", "old")
    a:close()
    assert(shoal.channel("passing").id == id)
    local got, why = shoal.channel("passing"):send("k", 1)
    assert(got == nil and why == "closed")
  end
  collect()
  local b = shoal.channel("passing")
  assert(b.id ~= id and b:count("k") == 0)
  assert(b:send("k", "new") and b:receive("k") == "new")
end

-- A waiter keeps it.
do
  local ready = shoal.channel()
  local p = shoal.spawn(function()
    local s = require("shoal")
    ready:send("k", true)
    return s.channel("by a waiter"):receive("k")
  end)
  ready:receive("k")
  support.until_waiting(p)
  -- The name is looked up again and again, the handle dropped in between.
  for _ = 1, 5 do
    shoal.sleep(0.002)
    collect()
  end
  shoal.channel("by a waiter"):send("k", "found")
  assert(p:result() == "found")
end

-- A message keeps it.
do
  local carrier = shoal.channel()
  shoal.channel("by a message"):send("k", "kept")
  carrier:send("c", shoal.channel("by a message"))
  collect()
  assert(shoal.channel("by a message"):receive("k", 0) == "kept")
  local id = shoal.channel("by a message").id
  collect()
  assert(carrier:receive("c").id == id)
end

-- A process' arguments and a process' results keep it.
do
  local p = shoal.spawn(function()
    local c = require("shoal").channel("by a result")
    c:send("k", 7)
    return c
  end)
  p:join()
  collect()
  assert(shoal.channel("by a result"):receive("k", 0) == 7)
end

-- A message that stands in it does not keep it.
do
  do
    local a = shoal.channel("in itself")
    a:send("k", a)
    a:send("k", "more")
  end
  collect()
  local b = shoal.channel("in itself")
  assert(b:count("k") == 0, "a handle that stands in its own channel is not counted")
end

-- Many processes that open the same names and drop them.
do
  local n = support.scaled(300)
  local all = {}
  for i = 1, 4 do
    all[i] = shoal.spawn(function()
      local s = require("shoal")
      for j = 1, n do
        local c = s.channel("busy " .. j % 3)
        c:send("k", i)
        assert(c:receive("k"))
        if j % 10 == 0 then
          collectgarbage()
        end
      end
    end)
  end
  for _, p in ipairs(all) do
    p:result()
  end
end
