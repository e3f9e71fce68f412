-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Closures, upvalues, scopes, varargs, goto, and constants.

-- Counters that share, and that do not.
local function counters()
  local n = 0
  local function up(by)
    n = n + (by or 1)
    return n
  end
  local function down(by)
    n = n - (by or 1)
    return n
  end
  return up, down
end
do
  local up, down = counters()
  local other = counters()
  print(up(), up(), down(), up(10), other(), down(3), other(5))
end

-- Each round of a loop has variables of its own.
do
  local list = {}
  for i = 1, 5 do
    local j = i * i
    list[i] = function(k)
      j = j + (k or 0)
      i = i + 1
      return i, j
    end
  end
  for i = 1, 5 do
    print("numeric", i, list[i](i))
    print("numeric", i, list[i]())
  end
  for k, v in ipairs({ "a", "b", "c" }) do
    list[k] = function()
      v = v .. k
      return v
    end
  end
  for k = 1, 3 do
    print("generic", list[k](), list[k]())
  end
  local n = 0
  while n < 3 do
    local m = n
    n = n + 1
    list[n] = function()
      m = m + 1
      return m, n
    end
  end
  for k = 1, 3 do
    print("while", list[k]())
    print("while", list[k]())
  end
  n = 0
  repeat
    local m = n
    n = n + 1
    list[n] = function()
      m = m * 2 + 1
      return m
    end
  until m >= 2
  for k = 1, 3 do
    print("repeat", list[k](), list[k]())
  end
  n = 0
  ::again::
  do
    local m = n
    n = n + 1
    list[n] = function()
      m = m + 100
      return m
    end
    if n < 3 then
      goto again
    end
  end
  for k = 1, 3 do
    print("goto", list[k](), list[k]())
  end
end

-- Upvalues of upvalues, and recursion.
local function depth(n)
  local function level1()
    local m = n * 2
    return function()
      local k = m + n
      return function()
        n, m, k = n + 1, m + n, k + m
        return n, m, k
      end
    end
  end
  return level1()()
end
for i = 1, 4 do
  local f = depth(i)
  print("deep", f())
  print("deep", f())
end
local function fib(n)
  return n < 2 and n or fib(n - 1) + fib(n - 2)
end
local function ackermann(m, n)
  if m == 0 then
    return n + 1
  elseif n == 0 then
    return ackermann(m - 1, 1)
  end
  return ackermann(m - 1, ackermann(m, n - 1))
end
for n = 0, 12 do
  print("fib", n, fib(n))
end
print("ackermann", ackermann(2, 3))
local is_odd
local function is_even(n)
  if n == 0 then
    return true
  end
  return is_odd(n - 1)
end
function is_odd(n)
  if n == 0 then
    return false
  end
  return is_even(n - 1)
end
print("mutual", is_even(2000), is_odd(2000), is_even(2001))

-- Varargs.
local function count(...)
  return select("#", ...), ...
end
for n = 0, 6 do
  local list = {}
  for i = 1, n do
    list[i] = i % 3 ~= 0 and i or nil
  end
  print("count", count(table.unpack(list, 1, n)))
  print("packed", table.pack(table.unpack(list, 1, n)).n, (count(table.unpack(list, 1, n))))
  for i = 1, n do
    print("select", i, select(i, table.unpack(list, 1, n)))
    print("from the end", -i, select(-i, table.unpack(list, 1, n)))
  end
end
print(pcall(select, 0))
print(pcall(select, -1))
print(pcall(select, -3, 1, 2))
print(pcall(select, "x"))
print(pcall(select))
print(select(2, "a", "b", "c"), (select(2, "a", "b", "c")))
print(select("#"), select("#", nil), select("#", nil, nil))
print(select(5, 1, 2), select(1.0, "float"))
print(pcall(select, 1.5, 1))
do
  local function tail(...)
    if select("#", ...) == 0 then
      return "end"
    end
    return tail(select(2, ...))
  end
  print("tail", tail(1, 2, 3, nil, nil))
  local function main(...)
    local a, b <const>, c = ...
    local t = { ..., "last" }
    local u = { (...), ... }
    return a, b, c, #t, #u, ...
  end
  print(main())
  print(main(1))
  print(main(1, 2))
  print(main(1, 2, 3, 4))
  print((main(1, 2, 3)))
  local sum = 0
  local function add(...)
    for i = 1, select("#", ...) do
      sum = sum + (select(i, ...))
    end
    return sum
  end
  print("sum", add(1, 2, 3), add(4), add())
  local many = {}
  for i = 1, 240 do
    many[i] = i
  end
  print("many", add(table.unpack(many)), select("#", table.unpack(many)))
  print("first and last", (table.unpack(many)), (select(240, table.unpack(many))))
end
for n = 1, 3 do
  for from = -1, 4 do
    print("unpack", n, from, table.unpack({ "a", "b", "c" }, from, n))
  end
end
print(pcall(table.unpack, {}, 1, 1e7))
print(pcall(table.unpack, {}, math.mininteger, math.maxinteger))
print(table.unpack({}, math.maxinteger, math.maxinteger))
print(table.unpack({}, 2, 1))
print(pcall(table.unpack))

-- Adjustment of lists.
do
  local function two()
    return 1, 2
  end
  local a, b, c = two()
  print(a, b, c)
  a, b, c = two(), 10
  print(a, b, c)
  a, b, c = 0, two(), two()
  print(a, b, c)
  a, b, c = (two())
  print(a, b, c)
  print(two(), two(), (two()))
  print(#{ two(), two() }, #{ two(), (two()) })
  local t = {}
  local i = 1
  i, t[i] = i + 1, 20
  print(i, t[1], t[2])
  a, b = 1, 2
  a, b = b, a
  print(a, b)
  local x, y, z = (function() end)()
  print(x, y, z)
end

-- goto: continue, nested loops, out of blocks.
for i = 1, 3 do
  for j = 1, 4 do
    if j == 2 then
      goto continue
    end
    if i == 2 and j == 4 then
      goto out
    end
    print("at", i, j)
    ::continue::
  end
end
::out::
do
  local n = 1
  ::top::
  if n < 5 then
    n = n + 1
    goto top
  end
  print("n", n)
  do
    goto last
  end
  print("not reached")
  ::last::
end
do
  local text = {}
  local state = 1
  local input, position = "ab12c3", 1
  ::letter::
  do
    local c = input:sub(position, position)
    if c == "" then
      goto done
    end
    if c:match("%d") then
      goto digit
    end
    text[#text + 1] = "<" .. c .. ">"
    position = position + 1
    goto letter
  end
  ::digit::
  do
    local c = input:sub(position, position)
    if c == "" then
      goto done
    end
    if c:match("%a") then
      goto letter
    end
    text[#text + 1] = "[" .. c .. "]"
    position = position + 1
    goto digit
  end
  ::done::
  print(table.concat(text), state)
end
for _, text in ipairs({
  "goto nowhere",
  "do ::there:: end goto there",
  "goto past local x ::past:: print(x)",
  "::twice:: ::twice::",
  "::a:: do ::a:: end",
  "break",
  "for i = 1, 2 do break end break",
  "local x <const> = 1 x = 2",
  "local x <const> = 1 return function() x = 2 end",
  "local x <close> = nil x = 2",
  "local x <strange> = 1",
  "local a <close>, b <close> = nil, nil",
  "for i = 1, 2 do local i <const> = i i = 1 end",
  "repeat goto cont local x ::cont:: until x",
  "return ... , 1",
  "function f() return ... end",
  "goto = 1",
  "x = }",
  "x = 'unfinished",
  "x = [[unfinished",
  "--[[ unfinished",
  "x = '\\q'",
  "x = '\\300'",
  "x = '\\u{110000000}'",
  "x = '\\xg0'",
  "x = 0x",
  "x = 1e",
  "x = 3x",
  "local function end",
  "a.b:c = 1",
  "f() = 1",
  "(a) = 1",
  "a + 1",
  "return return",
  "for i do end",
  "for i = 1 do end",
  "if x then else elseif y then end",
  "local t = { 1, 2",
  "x = a..b..",
  "::1::",
  "\27Lua",
  "@",
  "x = ~",
}) do
  local f, problem = load(text, "=text")
  print(type(f), problem)
end

-- Constants.
do
  local one <const>, two <const> = 1, "two"
  local big <const> = 1 << 62
  local f = function()
    return one + 1, two .. one, big, -one, not one
  end
  print(f())
  local t <const> = {}
  t.x = 1
  print(t.x)
end

-- Scopes and shadows.
do
  local x = 1
  do
    local x = x + 1
    do
      local x = x + 1
      print("inner", x)
    end
    print("middle", x)
  end
  print("outer", x)
  local function f(x)
    local x = x or "default"
    return x
  end
  print(f(), f(5))
  for x = x, x + 1 do
    print("loop", x)
  end
  local print = print
  print("local print")
  local _ENV = { print = print }
  y = 5
  print(_ENV.y, y, x)
  local function with_env(_ENV)
    return z
  end
  print(with_env({ z = "z" }))
end

-- Many locals, upvalues and constants.
do
  local parts = {}
  for i = 1, 190 do
    parts[#parts + 1] = ("local v%d = %d"):format(i, i)
  end
  parts[#parts + 1] = "return v1 + v100 + v190"
  print("locals", load(table.concat(parts, "\n"))())
  parts = {}
  for i = 1, 201 do
    parts[#parts + 1] = ("local v%d = %d"):format(i, i)
  end
  print("too many locals", load(table.concat(parts, "\n"), "=many"))
  parts = { "local t = {} return function() return " }
  for i = 1, 1000 do
    parts[#parts + 1] = ("%d.5 + "):format(i)
  end
  parts[#parts + 1] = "0 end"
  print("constants", load(table.concat(parts))()())
  parts = { "local x = ... return " }
  for _ = 1, 150 do
    parts[#parts + 1] = "("
  end
  parts[#parts + 1] = "x"
  for _ = 1, 150 do
    parts[#parts + 1] = " + 1)"
  end
  print("parentheses", load(table.concat(parts))(5))
end
