-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Yields in all places where Lua can: metamethods, iterators, `<close>`, pcall, and through several
-- coroutines; and what it says in the others.
local yield = coroutine.yield

-- Runs f to its end, answering each yield with 10 times its number.
local function drive(name, f, ...)
  local co = coroutine.create(f)
  local result = table.pack(coroutine.resume(co, ...))
  local n = 0
  while coroutine.status(co) == "suspended" do
    n = n + 1
    print(name, "yields", table.unpack(result, 2, result.n))
    result = table.pack(coroutine.resume(co, n * 10))
  end
  print(name, "ends", table.unpack(result, 1, result.n))
end

-- Each operator, as object and as second operand.
local meta = {}
for _, event in ipairs({
  "add",
  "sub",
  "mul",
  "div",
  "mod",
  "pow",
  "unm",
  "idiv",
  "band",
  "bor",
  "bxor",
  "shl",
  "shr",
  "bnot",
  "concat",
  "len",
  "eq",
  "lt",
  "le",
  "call",
}) do
  meta["__" .. event] = function(...)
    local got = yield(event, select("#", ...))
    return got
  end
end
function meta.__index(_, key)
  return yield("index", key)
end
function meta.__newindex(t, key, value)
  rawset(t, key, yield("newindex", key, value))
end
function meta.__close(_, e)
  yield("close", e)
end

local function new()
  return setmetatable({}, meta)
end

local OPERATIONS = {
  "a + 1",
  "1 + a",
  "a - 1",
  "1.5 - a",
  "a * b",
  "a / 2",
  "a % 2",
  "2 ^ a",
  "-a",
  "a // 2",
  "a & 1",
  "1 | a",
  "a ~ b",
  "a << 1",
  "1 >> a",
  "~a",
  "a .. 'x'",
  "'x' .. a",
  "1 .. a .. 2",
  "#a",
  "a == b",
  "a ~= b",
  "a < b",
  "a <= 1",
  "a > 1",
  "1 >= a",
  "not (a < b)",
  "a(1, 2)",
  "a.x",
  "a[1]",
  "a.x + a.y",
  "a + b * a",
  "(a + 1) .. (b + 1)",
  "a < b and 'less' or b.x",
  "{ a.x, a.y, a(1) }[3]",
  "select('#', a(), a())",
  "a:method()",
}
for _, text in ipairs(OPERATIONS) do
  drive(
    text,
    assert(load("local a, b = ... return " .. text:gsub("^{", "({"):gsub("}%[", "})["))),
    new(),
    new()
  )
end
for _, text in ipairs({
  "if a < b then return 'yes' end return 'no'",
  "if a == b then return 'equal' end return 'different'",
  "if not (a <= b) then return 'no' end return 'yes'",
  "while a < b do return 'inside' end",
  "repeat local x = a.x until x",
  "a.x = 1 return rawget(a, 'x')",
  "a[1], a[2] = 1, 2 return rawget(a, 1), rawget(a, 2)",
  "local c <close> = a return 'closing', 1",
  "do local c <close> = a local d <close> = b end return 'closed'",
  "for i = 1, 2 do local c <close> = a if i == 2 then break end end return 'loop'",
  "local c <close> = a error('failed', 0)",
  "local c <close> = a error(12)",
  "for i in function(_, i) i = (i or 0) + 1 if i < 3 then return coroutine.yield(i) and i end end do "
    .. "print('round', i) end return 'for'",
  "for k, v in (function() coroutine.yield('start') return next, { 7 } end)() do print(k, v) end",
  "local f = a return pcall(f, 1)",
  "return (function(...) return select('#', ...), ... end)(a(1), a(2))",
  "local t = { n = 1 } t.n = t.n + a return t.n",
  "goto over ::over:: return a.x",
}) do
  drive(text, assert(load("local a, b = ... " .. text)), new(), new())
end

-- pairs with __pairs, ipairs with __index.
drive("pairs", function()
  local t = setmetatable({}, {
    __pairs = function(t)
      yield("pairs")
      return function(_, i)
        i = (i or 0) + 1
        if i <= 3 then
          return i, yield("next", i)
        end
      end,
        t
    end,
  })
  for k, v in pairs(t) do
    print("pair", k, v)
  end
end)

-- In functions of the library that call back: pcall and the like can, others cannot.
drive("pcall", pcall, yield, 1, 2)
drive("pcall of pcall", pcall, pcall, pcall, yield, "x")
drive("xpcall", xpcall, yield, print, 1)
drive("xpcall, then an error", xpcall, function()
  error("after " .. yield("before"), 0)
end, function(e)
  return "handled: " .. e
end)
drive("error in pcall after a yield", function()
  return pcall(function()
    local got = yield(1)
    local t = nil
    return t[got]
  end)
end)
drive("dofile", function()
  return pcall(dofile, "/nonexistent")
end)
local CALLS = {
  {
    "sort",
    function()
      table.sort({ 3, 2, 1 }, function()
        yield()
      end)
    end,
  },
  {
    "gsub",
    function()
      return ("abc"):gsub(".", function()
        yield()
      end)
    end,
  },
  {
    "gsub with __index",
    function()
      return ("abc"):gsub(
        ".",
        setmetatable({}, {
          __index = function()
            yield()
          end,
        })
      )
    end,
  },
  {
    "tostring",
    function()
      return tostring(setmetatable({}, { __tostring = yield }))
    end,
  },
  {
    "load",
    function()
      return load(function()
        yield()
      end)
    end,
  },
  {
    "handler",
    function()
      return xpcall(error, function()
        yield()
      end, "e")
    end,
  },
  {
    "concat",
    function()
      return table.concat(setmetatable({}, {
        __index = function()
          return yield()
        end,
        __len = function()
          return 2
        end,
      }))
    end,
  },
  {
    "insert",
    function()
      table.insert(setmetatable({}, { __newindex = yield }), 1)
    end,
  },
  {
    "unpack",
    function()
      return table.unpack(setmetatable({}, { __index = yield }), 1, 2)
    end,
  },
  {
    "collector",
    function()
      setmetatable({}, {
        __gc = function()
          print("gc", pcall(yield))
        end,
      })
      collectgarbage()
    end,
  },
  {
    "len",
    function()
      return table.unpack(setmetatable({}, { __len = yield }))
    end,
  },
  {
    "print",
    function()
      print(setmetatable({}, { __tostring = yield }))
    end,
  },
  {
    "format",
    function()
      return ("%s"):format(setmetatable({}, { __tostring = yield }))
    end,
  },
  {
    "ipairs",
    function()
      for i, v in ipairs(setmetatable({}, { __index = yield })) do
        return i, v
      end
    end,
  },
  {
    "next",
    function()
      return next({}, yield)
    end,
  },
  {
    "close",
    function()
      local co = coroutine.create(function()
        local c <close> = new()
        yield("inside")
      end)
      coroutine.resume(co)
      return coroutine.close(co)
    end,
  },
}
for _, call in ipairs(CALLS) do
  drive(call[1], pcall, call[2])
end

-- Coroutines in coroutines: the inner yields do not show outside, unless they are passed on.
drive("wrap in wrap", function()
  local inner = coroutine.wrap(function()
    for i = 1, 3 do
      print("inner got", yield("inner " .. i))
    end
    return "inner end"
  end)
  for i = 1, 4 do
    local value = inner("from outer " .. i)
    print("outer got", value)
    yield("outer " .. i)
  end
end)
drive("pass on", function()
  local function pass(co, ...)
    local result = table.pack(coroutine.resume(co, ...))
    if coroutine.status(co) == "dead" then
      return table.unpack(result, 1, result.n)
    end
    return pass(co, yield("passed", table.unpack(result, 2, result.n)))
  end
  return pass(coroutine.create(function()
    return pass(coroutine.create(function()
      return yield("deep 1"), yield("deep 2")
    end))
  end))
end)
drive("metamethod in a coroutine in a metamethod", function()
  local t = setmetatable({}, {
    __add = function(_, n)
      return coroutine.wrap(function()
        local u = new()
        local got = coroutine.wrap(function()
          return u + n
        end)
        yield("from " .. got())
        return n
      end)() .. yield("add")
    end,
  })
  return t + 5
end)

-- Tail calls and varargs around a yield.
drive("tail", function(...)
  local function loop(n, ...)
    if n == 0 then
      return ...
    end
    return loop(n - 1, yield(n), ...)
  end
  return loop(4, ...)
end, "a", "b")
drive("varargs", function(...)
  local a = { n = select("#", ...), ..., yield("x", ...) }
  return a.n, #a, a[#a], ...
end, 1, nil, 3)
drive("upvalues", function()
  local n = 0
  local function count()
    n = n + yield(n)
    return n
  end
  return count(), count(), count(), n
end)
