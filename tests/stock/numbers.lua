-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Integers and floats, conversions, the math library, loops.

local VALUES = {
  0,
  1,
  -1,
  2,
  3,
  7,
  -7,
  0.0,
  -0.0,
  0.5,
  -0.5,
  1.0,
  3.7,
  -3.7,
  1e15,
  2 ^ 53,
  2 ^ 63,
  -(2 ^ 63),
  1e308,
  math.maxinteger,
  math.mininteger,
  math.huge,
  -math.huge,
  math.pi,
}
local OPERATORS = { "+", "-", "*", "/", "//", "%", "^", "==", "<", "<=", "&", "|", "~", "<<", ">>" }
local functions = {}
for i, operator in ipairs(OPERATORS) do
  functions[i] = load("local a, b = ... return a " .. operator .. " b", "=operation")
end
-- NaN prints with either sign.
local function text(value)
  if value ~= value then
    return "nan"
  elseif type(value) == "number" then
    return math.type(value):sub(1, 1) .. ("%.17g"):format(value)
  end
  return type(value) == "table" and "table" or tostring(value)
end
for i, a in ipairs(VALUES) do
  for j, b in ipairs(VALUES) do
    if (i * 7 + j * 3) % 4 == 0 then
      local results = {}
      for k, f in ipairs(functions) do
        local ok, value = pcall(f, a, b)
        results[k] = ok and text(value) or (value:gsub(".*: ", ""):gsub("%(.*", ""))
      end
      print(text(a), text(b), table.concat(results, " "))
    end
  end
end

-- Conversions.
for _, s in ipairs({
  "10",
  " 10 ",
  "0x10",
  "0x1p4",
  "1e2",
  "1.5",
  ".5",
  "5.",
  "1e",
  "",
  " ",
  "abc",
  "10abc",
  "0x",
  "1 2",
  "inf",
  "nan",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775808",
  "0xffffffffffffffff",
  "0x7fffffffffffffff1",
  "1e400",
  "-0",
  "- 1",
  "+1",
  "0b1",
  "1_000",
  "١",
  "1\0",
}) do
  local n = tonumber(s)
  print(("%q"):format(s), n and text(n), math.type(n or "x"))
end
for base = 2, 36, 5 do
  print(
    base,
    tonumber("10", base),
    tonumber("zz", base),
    tonumber("-11", base),
    tonumber("1.0", base),
    tonumber(" 7 ", base)
  )
end
for _, v in ipairs(VALUES) do
  print(text(v), math.tointeger(v), math.type(v), pcall(string.format, "%d", v))
  print(
    text(math.floor(v)),
    text(math.ceil(v)),
    text(math.abs(v)),
    text((math.modf(v))),
    text(math.fmod(v, 3))
  )
end
print(pcall(math.fmod, 1, 0))
print(
  text(math.fmod(1, 0.0)),
  text(math.fmod(-6, 4)),
  text(math.fmod(6, -4.0)),
  -6 % 4,
  6 % -4,
  -6 // 4
)
print(math.tointeger("8"), math.tointeger("x"), math.tointeger(3.5), math.tointeger(2 ^ 63))
print(math.max(1, 2.5, -1), math.min(3, 1.0, 2), math.max(1), pcall(math.max))
print(math.ult(1, -1), math.ult(-1, 1), 1 < -1)
print(math.sqrt(2), math.exp(1), math.log(10), math.log(8, 2), math.log(1000, 10), math.log(27, 3))
print(
  math.sin(1),
  math.cos(1),
  math.tan(1),
  math.asin(1),
  math.acos(0),
  math.atan(1),
  math.atan(1, -1),
  math.atan(-0.0, -1)
)
print(math.deg(math.pi), math.rad(180), math.pi)
print(
  math.maxinteger + 1 == math.mininteger,
  math.mininteger - 1 == math.maxinteger,
  math.abs(math.mininteger)
)
print(
  math.mininteger // -1,
  math.mininteger % -1,
  5 // 0.0,
  -5 // 0.0,
  5 % math.huge,
  -5 % math.huge
)
print(
  1 == 1.0,
  math.type(1),
  math.type(1.0),
  1 < 1.5,
  2 ^ 53 == 2 ^ 53 + 1,
  (1 << 53) + 1 == 2 ^ 53
)
print(
  math.maxinteger + 0.0 == math.maxinteger,
  math.maxinteger < math.maxinteger + 0.0,
  1 << 63,
  1 << 64,
  1 << -1,
  -1 >> 1
)
print(
  0x7fffffffffffffff,
  0xffffffffffffffff,
  0x1p-2,
  1e1,
  3e-2,
  0xA.8p0,
  123456789012345678901234567890
)
print(
  1 // 1,
  1.0 // 1,
  7 // 2,
  7.5 // 2,
  -7 // 2,
  -7.5 // 2,
  7 / 2,
  6 / 2,
  2 ^ 2,
  10 // 3 * 3 + 10 % 3
)
print(5 & 3, 5 | 3, 5 ~ 3, ~5, 5.0 & 3, 1 << 4 | 1, "0x10" + 0, "1e1" + 0, 10 .. "")

-- Precedence.
print(
  2 + 3 * 4 ^ 2 / 2,
  -2 ^ 2,
  not nil == true,
  1 .. 2 == "12",
  2 ^ 3 ^ 2,
  (2 ^ 3) ^ 2,
  -3 % 5,
  -(3 % 5)
)
print(
  1 + 1 == 2 and "yes" or "no",
  nil and 1,
  false or nil,
  1 and 2 or 3,
  nil == false,
  not 0,
  not ""
)
print(5 - 3 - 1, 2 * 3 % 4, 7 // 2 * 2, 1 << 2 + 1, "a" .. "b" .. "c" == "abc", #"abc" + 1, -#"abc")

-- Loops.
local function loop(from, to, step)
  local list = {}
  local ok, problem = pcall(function()
    for i = from, to, step do
      list[#list + 1] = text(i)
      if #list == 8 then
        list[#list + 1] = "…"
        break
      end
    end
  end)
  print("for", text(from), text(to), step and text(step), ok and table.concat(list, " ") or problem)
end
loop(1, 3, 1)
loop(3, 1, -1)
loop(3, 1, 1)
loop(1, 3, 0.5)
loop(1.0, 3, 1)
loop(1, 3.9, 1)
loop(1, 0.5, 1)
loop(-1, -3.5, -1)
loop(1, math.huge, 1)
loop(1, -math.huge, -1)
loop(1, -math.huge, 1)
loop(0.1, 0.5, 0.1)
loop(math.maxinteger - 2, math.maxinteger, 1)
loop(math.mininteger + 2, math.mininteger, -1)
loop(math.maxinteger - 1, math.huge, 1)
loop(1, 10, math.maxinteger)
loop(math.mininteger, math.maxinteger, math.maxinteger)
loop(1, 2, 0)
loop(1, 2, 0.0)
loop("1", 2, 1)
loop(1, "2", 1)
loop(1, 2, "1")
loop(1, {}, 1)
loop(0 / 0, 1, 1)
loop(1, 0 / 0, 1)

-- random: the same for the same seed.
for _, seed in ipairs({ 0, 42, -1, 1.0 }) do
  math.randomseed(seed)
  local list = {}
  for i = 1, 10 do
    list[i] = math.random(100)
  end
  print("seed", seed, table.concat(list, " "), math.random(5, 10), math.random(0) ~= nil)
end
math.randomseed(7, 8)
print(
  math.random(1, 1),
  math.random(math.mininteger, math.maxinteger),
  ("%.10f"):format(math.random())
)
print(pcall(math.random, 2, 1))
print(pcall(math.random, 0.5))
print(pcall(math.random, 1, 2, 3))
print(math.random(3.0) <= 3)

-- A few long computations.
do
  local x = 0
  for i = 1, 20000 do
    x = (x * 31 + i) & 0xffffffff
  end
  print("hash", x)
  local s = 0.0
  for i = 1, 5000 do
    s = s + 1 / (i * i)
  end
  print("sum", ("%.12f"):format(s))
  local function gcd(a, b)
    while b ~= 0 do
      a, b = b, a % b
    end
    return a
  end
  print("gcd", gcd(1071, 462), gcd(2 ^ 40 // 1 | 0, 3 ^ 20 // 1 | 0))
  local n, steps = 27, 0
  while n ~= 1 do
    n = n % 2 == 0 and n // 2 or 3 * n + 1
    steps = steps + 1
  end
  print("steps", steps)
  local e, f = 1.0, 1.0
  for i = 1, 20 do
    f = f / i
    e = e + f
  end
  print("e", ("%.15f"):format(e))
end
