-- SPDX-License-Identifier: MIT
-- shoal.buffer: shared bytes, their methods, and how they travel.
local shoal = require("shoal")
local support = require("support")
local expect, expect_error, pack = support.expect, support.expect_error, table.pack

local random = support.random()

local function random_text(most)
  local bytes = {}
  for i = 1, random(0, most) do
    bytes[i] = string.char(random(0, 255))
  end
  return table.concat(bytes)
end

-- What it is made of: a string, a number as in string functions, a buffer, a list of these.
do
  assert(shoal.buffer("abc"):string() == "abc")
  assert(shoal.buffer(""):string() == "" and #shoal.buffer("") == 0)
  assert(shoal.buffer(42):string() == "42")
  local a = shoal.buffer("a\0b")
  assert(#a == 3 and a:string() == "a\0b")
  assert(rawequal(shoal.buffer(a), a))
  assert(shoal.buffer({ "x", a, 1, 2.5, shoal.buffer("") }):string() == "xa\0b12.5")
  assert(shoal.buffer({}):string() == "")
  local long = {}
  for i = 1, 1000 do
    long[i] = i % 2 == 0 and shoal.buffer(tostring(i)) or tostring(i)
  end
  local text = {}
  for i = 1, 1000 do
    text[i] = tostring(i)
  end
  assert(shoal.buffer(long):string() == table.concat(text))
end

-- What it is not made of.
do
  expect_error("a string, buffer or list of them expected, got no value", shoal.buffer)
  expect_error("(a string, buffer or list of them expected, got nil)", shoal.buffer, nil)
  expect_error("got boolean", shoal.buffer, true)
  expect_error("a string or buffer expected at position 2, got table", shoal.buffer, { "a", {} })
  expect_error("at position 1, got function", shoal.buffer, { print })
  expect_error("at position 1, got userdata", shoal.buffer, { shoal.channel() })
end

-- Its kind, its text, and what cannot be changed.
do
  local b = shoal.buffer("abc")
  assert(shoal.type(b) == "buffer" and type(b) == "userdata")
  assert(tostring(b) == "buffer: 3 bytes")
  assert(b.missing == nil and getmetatable(b) == "buffer")
  assert(not pcall(setmetatable, b, {}))
  expect_error("", function()
    b.x = 1
  end)
  expect_error("shoal.buffer expected", b.string, "abc")
  expect_error("shoal.buffer expected", b.string, shoal.channel())
  expect_error("shoal.buffer expected", b.string, io.stdout)
  expect_error("a key is a string", shoal.channel().send, shoal.channel(), b, 1)
end

-- Equal bytes are equal buffers, but other keys of a table.
do
  local a, b = shoal.buffer("same"), shoal.buffer("same")
  assert(a == b and not rawequal(a, b) and a ~= shoal.buffer("other") and a ~= "same")
  assert(a ~= shoal.buffer("sam") and shoal.buffer("") == shoal.buffer({}))
  assert(a:sub(2, 3) == shoal.buffer("am") and a ~= shoal.channel() and a ~= io.stdout)
  assert(({ [a] = 1 })[b] == nil)
end

-- Ranges mean what they mean for strings.
do
  local text = "hello, world"
  local b = shoal.buffer(text)
  local positions = { 0, 1, 2, 5, 11, 12, 13, 100, -1, -2, -12, -13, -100 }
  positions[#positions + 1] = math.maxinteger
  positions[#positions + 1] = math.mininteger
  for _, i in ipairs(positions) do
    assert(b:sub(i):string() == text:sub(i))
    assert(b:string(i) == text:sub(i))
    expect(pack(b:byte(i)), text:byte(i))
    expect(pack(b:find("o", i)), text:find("o", i, true))
    expect(pack(b:find("", i)), text:find("", i, true))
    for _, j in ipairs(positions) do
      assert(b:sub(i, j):string() == text:sub(i, j), ("%d, %d"):format(i, j))
      assert(b:string(i, j) == text:sub(i, j))
      expect(pack(b:byte(i, j)), text:byte(i, j))
    end
  end
  expect(pack(b:byte()), 104)
  expect_error("number expected", b.sub, b)
  expect_error("bad argument #1 to 'sub' (number expected, got string)", function()
    b:sub("x")
  end)
  expect_error("bad argument #2 to 'string' (number has no integer representation)", function()
    b:string(1, 1.5)
  end)
end

-- A slice of a slice; all of it is the buffer itself.
do
  local b = shoal.buffer("0123456789")
  assert(rawequal(b:sub(1), b) and rawequal(b:sub(-100, 100), b))
  local part = b:sub(3, 8)
  assert(part:sub(2, 3):string() == "34" and #part == 6 and part:sub(2, 3):sub(3):string() == "")
  assert(part:find("5") == 4 and part:find("9") == nil and part:find("1") == nil)
  assert(part:find(b:sub(4, 5)) == 2 and part:find(b) == nil)
  expect_error("string expected", part.find, part, {})
end

-- A slice keeps the bytes of a whole that nobody else has.
do
  local function part_of(text)
    return shoal.buffer(text):sub(3, 8)
  end
  local part = part_of("0123456789"):sub(1, 5)
  collectgarbage()
  collectgarbage()
  assert(part:string() == "23456")
end

-- find against string.find, in bytes of few kinds.
for _ = 1, support.scaled(2000, 100) do
  local text = random_text(40):gsub(".", function(c)
    return c:byte() % 2 == 0 and "a" or "b"
  end)
  local wanted = ("ab"):rep(2):sub(random(1, 3), random(1, 4))
  local init = random(-45, 45)
  expect(pack(shoal.buffer(text):find(wanted, init)), text:find(wanted, init, true))
end

-- unpack against string.unpack.
do
  local options = { "b", "B", "h", "H", "i", "I", "l", "L", "j", "J", "T", "f", "d", "n", "z" }
  for i = 1, 17 do
    for _, letter in ipairs({ "i", "I", "s", "!" }) do
      options[#options + 1] = letter .. i
    end
  end
  for _, option in ipairs({ "<", ">", "=", "!", " ", "x", "Xi4", "X!8d", "X", "Xz", "c0", "c3" }) do
    options[#options + 1] = option
  end
  for _, option in ipairs({ "c", "s", "q", "c2147483647", "i0", "i99999999999" }) do
    options[#options + 1] = option
  end
  -- A NaN is equal to another one here; errors are equal but for the name of the function.
  local function outcome(...)
    local list = pack(pcall(...))
    if not list[1] then
      list[2] =
        list[2]:gsub("^[^:]*:%d+: ", ""):gsub("^bad argument #%d+ to '[^']*' %((.*)%)$", "%1")
    end
    return list
  end
  for _ = 1, support.scaled(20000, 300) do
    local format = {}
    for i = 1, random(0, 5) do
      format[i] = options[random(#options)]
    end
    format = table.concat(format)
    -- Small numbers are likely lengths.
    local text = random_text(60):gsub("[\128-\255]", "\0")
    local position = random(10) == 1 and random(-70, 70) or nil
    local mine = outcome(shoal.buffer(text).unpack, shoal.buffer(text), format, position)
    local theirs = outcome(string.unpack, format, text, position)
    assert(
      support.same(mine, theirs),
      ("%q of %q from %s: %s, not %s"):format(format, text, position, mine[2], theirs[2])
    )
  end
  local b = shoal.buffer(string.pack("<i4 z s1 d", 7, "zero", "counted", 1.5))
  expect(pack(b:unpack("<i4 z s1 d")), 7, "zero", "counted", 1.5, 4 + 5 + 8 + 8 + 1)
  expect(pack(b:sub(5):unpack("z")), "zero", 6)
  expect_error("data string too short", b.unpack, b, "i8i8i8i8")
  expect_error("bad argument #2 to 'unpack' (initial position", function()
    b:unpack("b", 1000)
  end)
end

-- What travels is the reference: the very same handle comes back, and equal bytes arrive.
do
  local ch = shoal.channel()
  local b = shoal.buffer(("x"):rep(100000))
  ch:send("k", b, { list = { b } }, b:sub(10, 19))
  local got, map, slice = ch:receive("k")
  assert(rawequal(got, b) and rawequal(map.list[1], b) and slice:string() == ("x"):rep(10))
  local p = shoal.spawn(function(channel, whole)
    assert(#whole == 100000)
    local s = require("shoal")
    channel:send("slice", whole:sub(-5))
    return whole, s.type(whole)
  end, ch, b)
  local back, kind = p:result()
  assert(rawequal(back, b) and kind == "buffer")
  assert(ch:receive("slice") == shoal.buffer("xxxxx"))
end

-- As an upvalue, a result, an error, in a table that is stored; after its maker has ended.
do
  local b = shoal.buffer("upvalue")
  assert(shoal
    .spawn(function()
      return b:string() .. #b
    end)
    :result() == "upvalue7")
  local p = shoal.spawn(function()
    local s = require("shoal")
    error({ bytes = s.buffer("of an error") })
  end)
  local ok, err = p:join()
  assert(not ok and err.bytes:string() == "of an error")
  local ch = shoal.channel()
  shoal
    .spawn(function(channel)
      channel:set("variable", require("shoal").buffer("set"))
    end, ch)
    :join()
  assert(ch:get("variable"):string() == "set" and ch:receive("variable"):string() == "set")
end

-- A channel's bound counts the bytes that are shared: of a slice, those of the slice.
do
  local ch = shoal.channel({ bytes = 10000 })
  local b = shoal.buffer(("x"):rep(6000))
  assert(ch:send("k", b))
  expect(pack(ch:send_for(0, "k", b)), nil, "timeout")
  assert(ch:send_for(0, "k", b:sub(1, 100)))
  assert(#ch:receive("k") == 6000)
  assert(ch:send_for(0, "k", b))
  -- A larger one is taken when the channel is empty.
  assert(#ch:receive("k") == 100 and #ch:receive("k") == 6000)
  assert(ch:send_for(0, "k", shoal.buffer(("x"):rep(50000))))
end
