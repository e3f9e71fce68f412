-- SPDX-License-Identifier: MIT
-- Values arrive as they were sent: through a channel, as arguments, and as results.
local shoal = require("shoal")
local support = require("support")
local foreign = require("foreign")

local ch = shoal.channel()

-- There and back: to another process, which must see what we see, and sends it on.
local echo = shoal.spawn(function(channel)
  for back, values in channel:each("ask") do
    channel:send(back, table.unpack(values, 1, values.n))
  end
end, ch)

local function travel(...)
  assert(ch:send("ask", "back", table.pack(...)))
  return ch:receive("back")
end

-- Numbers, strings, booleans, nil -----------------------------------------------------------------

local singles = {
  true,
  false,
  0,
  -1,
  1 << 53,
  (1 << 53) + 1,
  -(1 << 53) - 1,
  math.maxinteger,
  math.mininteger,
  127,
  128,
  255,
  256,
  65535,
  65536,
  -128,
  -129,
  2 ^ 53,
  0.0,
  -0.0,
  1.5,
  -1e308,
  5e-324,
  math.huge,
  -math.huge,
  0 / 0,
  "",
  "a",
  "\0",
  "a\0b\xff\xfe",
  ("x"):rep(39),
  ("x"):rep(40),
  ("x"):rep(41),
  ("x"):rep(255),
  ("x"):rep(256),
  ("x"):rep(65536),
  ("\0\xff"):rep(1 << 20),
}

for _, value in ipairs(singles) do
  assert(support.same(travel(value), value), tostring(value))
  assert(support.same(travel({ value })[1], value))
  local ok, got = shoal
    .spawn(function(v)
      return v
    end, value)
    :join()
  assert(ok and support.same(got, value))
end

support.expect(table.pack(travel(1, nil, 3, nil)), 1, nil, 3, nil)
support.expect(table.pack(travel(false, nil, nil)), false, nil, nil)

local many = {}
for i = 1, 250 do
  many[i] = i % 3 == 0 and i or (i % 3 == 1 and tostring(i) or i + 0.5)
end
support.expect(table.pack(travel(table.unpack(many))), table.unpack(many))

-- Results and arguments may be nil, also the first.
support.expect(
  table.pack(shoal
    .spawn(function(...)
      return select("#", ...), ...
    end, nil, 2, nil)
    :join()),
  true,
  3,
  nil,
  2,
  nil
)
support.expect(table.pack(shoal.spawn(function() end):join()), true)

-- Tables ------------------------------------------------------------------------------------------

local function same_travels(value)
  local got = travel(value)
  assert(support.same(got, value))
  return got
end

same_travels({})
same_travels({ {}, {}, { {} } })
same_travels({ 1, 2, 3, nil, 5 })
same_travels({ [1] = "a", [3] = "c", [-1] = "z", [1.5] = "f", [true] = "t", x = { y = { z = 1 } } })
same_travels({ [math.maxinteger] = 1, [math.mininteger] = 2, [2 ^ 53] = 3, [math.huge] = 4 })
same_travels({ [""] = 1, ["\0"] = 2, [false] = 3 })

local long = {}
for i = 1, support.scaled(50000) do
  long[i] = i
end
same_travels(long)
local wide = {}
for i = 1, support.scaled(10000) do
  wide["key " .. i] = { i, tostring(i) }
end
same_travels(wide)

-- Cycles and shared references, over all values of one message.
do
  local cycle = { name = "cycle" }
  cycle.self = cycle
  cycle.list = { cycle, { cycle } }
  local got = travel(cycle)
  assert(got ~= cycle and got.self == got and got.list[1] == got and got.list[2][1] == got)

  local shared = {}
  local a, b, c = travel(shared, { shared }, { x = shared })
  assert(a == b[1] and b[1] == c.x)

  local first, second = { 1 }, { 2 }
  first.other, second.other = second, first
  local f, s = travel(first, second)
  assert(f.other == s and s.other == f and f[1] == 1 and s[1] == 2)
end

-- A table as a key, also one that is met again.
do
  local key = { "key" }
  local got = travel({ [key] = key, again = key, list = { key } })
  local k, v
  for name, value in pairs(got) do
    if type(name) == "table" then
      k, v = name, value
    end
  end
  assert(k == v and got.again == k and got.list[1] == k and k[1] == "key")
end

-- The sender's table stays its own.
do
  local mine = { n = 1 }
  ch:send("copy", mine)
  mine.n = 2
  local got = ch:receive("copy")
  assert(got.n == 1 and got ~= mine)
end

-- Depth: 10,000 levels travel, more is an error that says so, and nothing is sent.
local function nested(depth)
  local t = {}
  for _ = 2, depth do
    t = { t }
  end
  return t
end

local function depth_of(t)
  local depth = 0
  while t do
    depth, t = depth + 1, t[1]
  end
  return depth
end

assert(depth_of(travel(nested(9998))) == 9998)
for _, depth in ipairs({ 10010, support.scaled(100000, 20000) }) do
  local err = support.expect_error("deep", ch.send, ch, "deep", nested(depth))
  assert(#err < 1000, "the error names the whole path")
  assert(ch:count("deep") == 0)
end
-- Breadth is no depth.
do
  local chain = {}
  local all = { chain }
  for i = 1, 20000 do
    local t = {}
    all[#all + 1] = t
    chain[i] = t
  end
  assert(#travel(all)[1] == 20000)
end

-- Metatables --------------------------------------------------------------------------------------

do
  local mt = { __index = { greet = "hello" } }
  local a, b = travel(setmetatable({ 1 }, mt), setmetatable({ 2 }, mt))
  assert(a.greet == "hello" and getmetatable(a) == getmetatable(b), "one copy for both")
  assert(getmetatable(a) ~= mt)

  local callable = travel(setmetatable({ n = 1 }, {
    __call = function(self, by)
      self.n = self.n + by
      return self.n
    end,
    __len = function()
      return 42
    end,
  }))
  assert(callable(2) == 3 and callable(2) == 5 and #callable == 42)

  -- Encoding and decoding look at the raw table.
  local guarded = setmetatable({ x = 1 }, {
    __index = error,
    __newindex = error,
    __pairs = error,
    __len = error,
  })
  assert(rawget(travel(guarded), "x") == 1)

  -- A hidden metatable travels, and stays hidden.
  local hidden = travel(setmetatable({}, { __metatable = "secret", __index = { y = 2 } }))
  assert(getmetatable(hidden) == "secret" and hidden.y == 2)

  -- A metatable that is the table itself.
  local own = {}
  own.__index = own
  own.z = 3
  setmetatable(own, own)
  local got = travel(own)
  assert(getmetatable(got) == got and got.z == 3)

  -- Weak tables and finalizers work where they arrive.
  local weak = travel(setmetatable({ { "collected" } }, { __mode = "v" }))
  collectgarbage()
  assert(weak[1] == nil)
end

-- __transfer: what it returns travels instead, and is loaded by the loader.
do
  local point = setmetatable({ x = 3, y = 4, cache = coroutine.create(print) }, {
    __transfer = function(t)
      return { t.x, t.y }, function(xy)
        return { x = xy[1], y = xy[2], loaded = true }
      end
    end,
  })
  local got, again, list = travel(point, point, { point })
  assert(got.x == 3 and got.y == 4 and got.loaded and got.cache == nil)
  assert(again == got and list[1] == got, "one load for all its references")

  package.preload.loader_of_travel = function()
    return {
      load = function(text)
        return { text = text }
      end,
    }
  end
  local named = setmetatable({}, {
    __transfer = function()
      return "3,4", "loader_of_travel:load"
    end,
  })
  local ok, text = shoal
    .spawn(function(t)
      return t.text
    end, named)
    :join()
  assert(ok and text == "3,4", text)

  local failing = setmetatable({}, {
    __transfer = function()
      error("stays here")
    end,
  })
  support.expect_error("stays here", ch.send, ch, "failing", failing)
  local bad = setmetatable({}, {
    __transfer = function()
      return 1, 2
    end,
  })
  support.expect_error("__transfer", ch.send, ch, "failing", bad)
  assert(ch:count("failing") == 0)
end

-- Light userdata ----------------------------------------------------------------------------------

assert(travel(foreign.pointer(0x1234)) == foreign.pointer(0x1234))
assert(travel(foreign.pointer(0)) == foreign.pointer(0))

-- What may not travel: the error names the place, and nothing is sent -----------------------------

do
  local thread = coroutine.create(print)
  local cases = {
    { "cannot send a coroutine (at [1])", thread },
    { "cannot send a coroutine (at [2])", 1, thread },
    { "cannot send a coroutine (at [1].jobs[3].co)", { jobs = { 1, 2, { co = thread } } } },
    { '[1]["a b"][true]', { ["a b"] = { [true] = thread } } },
    { "cannot send", foreign.object() },
    { "[1].file", { file = io.tmpfile() } },
    { "cannot send", foreign.closure(1) },
    { "cannot send", coroutine.wrap(print) },
  }
  for _, case in ipairs(cases) do
    support.expect_error(case[1], ch.send, ch, "bad", table.unpack(case, 2))
    support.expect_error(case[1], ch.set, ch, "bad", table.unpack(case, 2))
    support.expect_error(case[1], ch.add, ch, "bad", table.unpack(case, 2))
    support.expect_error("cannot send", shoal.spawn, function() end, table.unpack(case, 2))
  end
  support.expect_error("cannot send a coroutine", ch.send_batch, ch, "bad", { 1, thread })
  assert(ch:count("bad") == 0 and #ch:keys() == 0)

  -- As a key of a table.
  support.expect_error("cannot send a coroutine", ch.send, ch, "bad", { [thread] = 1 })

  -- Results of a process are its error then.
  for _, body in ipairs({
    function()
      return coroutine.wrap(print)
    end,
    function()
      return 1, { co = coroutine.create(print) }
    end,
  }) do
    local ok, err, traceback = shoal.spawn(body):join()
    assert(ok == nil and err:find("cannot send", 1, true) and traceback, err)
  end
end

-- Random values, as a property --------------------------------------------------------------------

local random = support.random()

local function random_scalar()
  local kind = random(7)
  if kind == 1 then
    return random(0)
  elseif kind == 2 then
    return random(-200, 200)
  elseif kind == 3 then
    return random() * 10 ^ random(-30, 30)
  elseif kind == 4 then
    return random(2) == 1
  else
    local bytes = {}
    for i = 1, random(0, 60) do
      bytes[i] = string.char(random(0, 255))
    end
    return table.concat(bytes)
  end
end

local function random_value(depth, known)
  local kind = random(10)
  if depth == 0 or kind <= 4 then
    return random_scalar()
  elseif kind == 5 and #known > 0 then
    return known[random(#known)]
  end
  local t = {}
  known[#known + 1] = t
  for i = 1, random(0, 8) do
    t[i] = random_value(depth - 1, known)
  end
  for _ = 1, random(0, 8) do
    t[random_scalar()] = random_value(depth - 1, known)
  end
  return t
end

for _ = 1, support.scaled(100) do
  local values = { n = random(6) }
  local known = {}
  for i = 1, values.n do
    values[i] = random_value(random(0, 3), known)
  end
  local got = table.pack(travel(table.unpack(values, 1, values.n)))
  assert(support.same(got, values), "a random value changed")
end

ch:close()
echo:result()
