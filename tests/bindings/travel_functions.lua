-- SPDX-License-Identifier: MIT
-- Lua functions travel with their upvalues.
-- luacheck: globals GlobalOfTest GlobalSetByBody
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()

-- Through a channel, into the same process: as a copy.
local function copy(...)
  assert(ch:send("f", ...))
  return ch:receive("f")
end

-- Upvalues are copied, as they are at the time.
do
  local n, list = 10, { 1, 2 }
  local function f(by)
    n = n + by
    list[#list + 1] = n
    return n, #list
  end
  local g = copy(f)
  assert(g ~= f)
  support.expect(table.pack(g(1)), 11, 3)
  support.expect(table.pack(g(1)), 12, 4)
  assert(n == 10 and #list == 2)
  support.expect(table.pack(f(5)), 15, 3)
end

-- Functions of one message that share an upvalue go on sharing it; those of two do not.
do
  local n = 0
  local function up()
    n = n + 1
  end
  local function get()
    return n
  end
  local up2, get2 = copy(up, get)
  up2()
  up2()
  assert(get2() == 2 and get() == 0)
  local in_table = copy({ up = up, get = get })
  in_table.up()
  assert(in_table.get() == 1)
  local up3 = copy(up)
  local get3 = copy(get)
  up3()
  assert(get3() == 0)
end

-- A function that is its own upvalue, and two that need each other.
do
  local function fib(n)
    return n < 2 and n or fib(n - 1) + fib(n - 2)
  end
  assert(copy(fib)(15) == 610)
  local even, odd
  function even(n)
    return n == 0 or odd(n - 1)
  end
  function odd(n)
    return n ~= 0 and even(n - 1)
  end
  local e, o = copy(even, odd)
  assert(e(10) and not o(10) and o(7))
  assert(copy(even)(4) == true)
end

-- The same function twice is one.
do
  local function f()
    return f
  end
  local a, b = copy(f, { f })
  assert(a == b[1] and a() == a)
end

-- Upvalues that are nil or false are so where they arrive.
do
  local nothing, no = nil, false
  local function f()
    return nothing, no
  end
  support.expect(table.pack(copy(f)()), nil, false)
  local ok, a, b = shoal.spawn(f):join()
  assert(ok and a == nil and b == false)
  local function first_upvalue_is_nil()
    return nothing
  end
  assert(select(2, shoal.spawn(first_upvalue_is_nil):join()) == nil)
end

-- Globals: the sender's globals table becomes the receiver's.
function GlobalOfTest()
  return "mine"
end
do
  local function f()
    return GlobalOfTest == nil, _G == _ENV, _ENV.print == print
  end
  local ok, none, same, printing = shoal.spawn(f):join()
  assert(ok and none and same and printing)
  -- In the process itself it is the same globals table.
  local function g()
    return GlobalOfTest()
  end
  assert(copy(g)() == "mine")
  local function set()
    GlobalSetByBody = (GlobalSetByBody or 0) + 1
    return GlobalSetByBody
  end
  assert(shoal.spawn(set):result() == 1 and shoal.spawn(set):result() == 1)
  assert(GlobalSetByBody == nil)
  -- _G itself as a value is that of the receiver.
  local globals = _G
  local _, is_own = shoal
    .spawn(function()
      return globals == _G
    end)
    :join()
  assert(is_own == true)
  local _, passed = shoal
    .spawn(function(given)
      return given == _G
    end, _G)
    :join()
  assert(passed == true)
end

-- Another _ENV is copied.
do
  local env = { x = 1, tostring = tostring }
  local f = load("x = x + 1 return tostring(x)", "=env", "t", env)
  local g = copy(f)
  assert(g() == "2" and g() == "3" and env.x == 1)
  local ok, got = shoal.spawn(f):join()
  assert(ok and got == "2")
  -- A function without any globals.
  assert(copy(load("return 1", "=none", "t", {}))() == 1)
end

-- Varargs, many upvalues, many constants, nested prototypes.
do
  local parts = {}
  for i = 1, 200 do
    parts[#parts + 1] = ("local u%d = %d"):format(i, i)
    if i % 60 == 0 then
      parts[#parts + 1] = "do local _ = nil end"
    end
  end
  local used = {}
  for i = 1, 150 do
    used[i] = "u" .. i
  end
  parts = table.move(parts, 1, 160, 1, {})
  local source = table.concat(parts, " ")
    .. " return function(...) return select('#', ...), "
    .. table.concat(used, "+")
    .. " end"
  local f = assert(load(source))()
  support.expect(table.pack(copy(f)(1, 2, 3)), 3, 150 * 151 // 2)
  local maker = copy(function(a)
    return function(b)
      return function(c)
        return a + b + c
      end
    end
  end)
  assert(maker(1)(2)(3) == 6)
end

-- Line numbers and names of the source stay.
do
  local function fails()
    error("here")
  end
  local line = debug.getinfo(fails, "S").linedefined + 1
  local _, err = pcall(copy(fails))
  assert(err:find("travel_functions.lua:" .. line .. ": here", 1, true), err)
  local ok, remote, traceback = shoal.spawn(fails):join()
  assert(ok == nil and remote:find("travel_functions.lua:" .. line .. ": here", 1, true))
  assert(traceback:find("travel_functions.lua:" .. line, 1, true), traceback)
end

-- An upvalue that cannot travel is named.
do
  local co = coroutine.create(print)
  local deep = { x = { co } }
  local function f()
    return co
  end
  local function g()
    return deep
  end
  local err = support.expect_error("cannot send a coroutine", shoal.spawn, f)
  assert(err:find("co", 1, true) and err:find("body", 1, true), err)
  err = support.expect_error("cannot send a coroutine", ch.send, ch, "f", { run = g })
  assert(err:find("[1].run", 1, true) and err:find("deep", 1, true), err)
  assert(ch:count("f") == 0)
end

-- Upvalues that are handles, modules and functions of modules.
do
  local format, out, sh = string.format, io.stdout, shoal
  local insert = table.insert
  local function f(channel)
    local t = {}
    insert(t, format("%03d", 7))
    return t[1], io.type(out), sh.type(channel), sh == require("shoal"), channel == ch
  end
  support.expect(table.pack(shoal.spawn(f, ch):join()), true, "007", "file", "channel", true, true)
end

-- A function that was loaded without debug information.
do
  local stripped = load(string.dump(function(a, b)
    return a * b
  end, true))
  assert(copy(stripped)(6, 7) == 42)
  assert(shoal.spawn(stripped, 6, 7):result() == 42)
end

-- Coroutines made by what arrives, closures as results of a process.
do
  local counter = shoal
    .spawn(function()
      local n = 0
      return function()
        n = n + 1
        return n
      end
    end)
    :result()
  assert(counter() == 1 and counter() == 2)
end

-- A deep chain of upvalues.
do
  local f = function()
    return 0
  end
  for _ = 1, 500 do
    local inner = f
    f = function()
      return inner() + 1
    end
  end
  local g = copy(f)
  assert(select(2, pcall(g)) == f() or g == nil)
end
