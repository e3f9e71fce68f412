-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Metamethods: each event, in all combinations of operands.

local EVENTS = {
  { "+", "add" },
  { "-", "sub" },
  { "*", "mul" },
  { "/", "div" },
  { "%", "mod" },
  { "^", "pow" },
  { "//", "idiv" },
  { "&", "band" },
  { "|", "bor" },
  { "~", "bxor" },
  { "<<", "shl" },
  { ">>", "shr" },
  { "..", "concat" },
  { "==", "eq" },
  { "~=", "eq" },
  { "<", "lt" },
  { "<=", "le" },
  { ">", "lt" },
  { ">=", "le" },
}

local function name_of(value)
  if type(value) == "table" then
    return rawget(value, "name") or "table"
  end
  return tostring(value)
end

local function make(name)
  local mt = { __name = name }
  for _, event in ipairs(EVENTS) do
    mt["__" .. event[2]] = function(a, b)
      return event[2] .. "(" .. name_of(a) .. "," .. name_of(b) .. ") by " .. name
    end
  end
  mt.__unm = function(a, b)
    return "unm(" .. name_of(a) .. "," .. tostring(rawequal(a, b)) .. ")"
  end
  mt.__bnot = function(a, b)
    return "bnot(" .. name_of(a) .. "," .. tostring(rawequal(a, b)) .. ")"
  end
  mt.__len = function(a)
    return "len(" .. name_of(a) .. ")"
  end
  mt.__tostring = function(a)
    return "<" .. name_of(a) .. ">"
  end
  return setmetatable({ name = name }, mt)
end

-- Operands: two objects, and what else there is.
local A, B = make("A"), make("B")
local OPERANDS = {
  { "A", A },
  { "B", B },
  { "1", 1 },
  { "2.5", 2.5 },
  { "'3'", "3" },
  { "'x'", "x" },
  { "nil", nil },
  { "true", true },
  { "{}", { name = "plain" } },
}
for _, event in ipairs(EVENTS) do
  local f = load("local a, b = ... return a " .. event[1] .. " b", "=operation")
  for _, left in ipairs(OPERANDS) do
    for _, right in ipairs(OPERANDS) do
      if left[2] == A or right[2] == B then
        print(left[1] .. " " .. event[1] .. " " .. right[1], pcall(f, left[2], right[2]))
      end
    end
  end
end
for _, operand in ipairs(OPERANDS) do
  for _, operator in ipairs({ "-", "~", "#", "not " }) do
    local f = load("local a = ... return " .. operator .. "a", "=operation")
    print(operator .. operand[1], pcall(f, operand[2]))
  end
end

-- Constants as operands have instructions of their own.
for _, text in ipairs({
  "a + 1",
  "1 + a",
  "a - 1",
  "1 - a",
  "a * 2",
  "2 * a",
  "a / 3",
  "3 / a",
  "a % 4",
  "4 % a",
  "a ^ 2",
  "2 ^ a",
  "a // 5",
  "5 // a",
  "a & 7",
  "7 & a",
  "a | 8",
  "8 | a",
  "a ~ 9",
  "9 ~ a",
  "a << 1",
  "1 << a",
  "a >> 1",
  "1 >> a",
  "a < 1",
  "1 < a",
  "a <= 1",
  "1 <= a",
  "a > 1",
  "1 > a",
  "a >= 1",
  "1 >= a",
  "a == 1",
  "1 == a",
  "a ~= 1",
  "a == 'x'",
  "a < 1.5",
  "1.5 < a",
  "a + 1.5",
  "a + 300",
  "a - 300",
  "300 + a",
  "a < 300",
  "a .. 1",
  "1 .. a",
  "a .. 'x' .. 'y'",
  "'x' .. a .. 'y'",
  "'x' .. 'y' .. a",
  "1 .. 2 .. a",
  "a .. b",
  "a .. b .. a",
}) do
  print(text, load("local a, b = ... return " .. text)(A, B))
end

-- Comparison: results become booleans; equality only between tables that are not the same.
do
  local calls = 0
  local mt = {
    __eq = function()
      calls = calls + 1
      return 1
    end,
    __lt = function()
      return nil
    end,
    __le = function()
      return "yes"
    end,
  }
  local a, b = setmetatable({}, mt), setmetatable({}, mt)
  print(a == b, a ~= b, a < b, a <= b, a > b, a >= b, calls)
  print(a == a, calls, rawequal(a, b), rawequal(a, a), a == 1, a == "x", calls)
  print(setmetatable({}, mt) == {}, {} == setmetatable({}, mt), calls)
  local t = {}
  t[a] = 1
  print(t[b], t[a])
end

-- index: functions, tables, chains, raw access.
do
  local reads = {}
  local base = setmetatable({ from_base = "base" }, {
    __index = function(_, key)
      reads[#reads + 1] = tostring(key)
      return key ~= "missing" and "made " .. tostring(key) or nil
    end,
  })
  local middle = setmetatable({ from_middle = "middle" }, { __index = base })
  local top = setmetatable({ from_top = "top" }, { __index = middle })
  print(top.from_top, top.from_middle, top.from_base, top.other, top[1], top[1.5], top[true])
  print(top.missing, rawget(top, "from_base"), rawlen(top), #reads, table.concat(reads, " "))
  top.from_base = "own"
  print(top.from_base, base.from_base)
  local deep = {}
  for i = 1, 100 do
    deep = setmetatable({ ["level" .. i] = i }, { __index = deep })
  end
  print(deep.level1, deep.level50, deep.level100, deep.level101)
  local loop = {}
  setmetatable(loop, { __index = loop })
  print(pcall(function()
    return loop.x
  end))
  local ring = setmetatable({}, {})
  getmetatable(ring).__newindex = ring
  print(pcall(function()
    ring.x = 1
  end))
  print(pcall(function()
    return setmetatable({}, { __index = 12 }).x
  end))
  print(setmetatable({}, { __index = "text" }).upper == string.upper, ("x").y, #"abc")
end

-- newindex: functions, tables, only for what is not there.
do
  local log = {}
  local proxy = setmetatable({ present = 1 }, {
    __newindex = function(t, key, value)
      log[#log + 1] = tostring(key) .. "=" .. tostring(value)
      rawset(t, key, value)
    end,
  })
  proxy.present = 2
  proxy.new = 3
  proxy.new = 4
  proxy[1] = "a"
  proxy[1.0] = "b"
  proxy[2.5] = "c"
  proxy.gone = nil
  proxy.gone = nil
  print(proxy.present, proxy.new, proxy[1], proxy[2.5], table.concat(log, " "))
  local store = {}
  local front = setmetatable({}, { __newindex = store, __index = store })
  front.x = 5
  print(rawget(front, "x"), store.x, front.x)
  print(pcall(function()
    proxy[nil] = 1
  end))
  print(pcall(rawset, {}, nil, 1))
  print(pcall(rawset, {}, 0 / 0, 1))
  print(pcall(function()
    local t = {}
    t[0 / 0] = 1
  end))
end

-- call: chains, arguments, results.
do
  local function callable(f)
    return setmetatable({}, { __call = f })
  end
  local c = callable(function(self, ...)
    return type(self), select("#", ...), ...
  end)
  print(c())
  print(c(1, nil, 3, nil))
  print(pcall(c, "x"))
  print((c(1)))
  local chain = setmetatable({}, { __call = c })
  print(select("#", chain("a")), (select(4, chain("a"))))
  local long = print
  for _ = 1, 5 do
    long = setmetatable({ name = "link" }, { __call = long, __tostring = name_of })
  end
  long("x")
  print(pcall(setmetatable({}, { __call = 5 })))
  print(pcall(function()
    local t = { f = {} }
    t.f()
  end))
  local object = setmetatable({ n = 1 }, {
    __index = {
      add = callable(function(_, self, k)
        self.n = self.n + k
        return self
      end),
    },
  })
  print(object:add(2):add(3).n)
  print(select("#", table.unpack({ c(1, 2, 3) })))
  for a, b in
    callable(function(_, _, i)
      i = (i or 0) + 1
      if i <= 3 then
        return i, i * i
      end
    end)
  do
    print("callable iterator", a, b)
  end
  print(xpcall(
    callable(function(_, x)
      error(x, 0)
    end),
    function(e)
      return "handler of " .. e
    end,
    "e"
  ))
  print(pcall(xpcall, print, callable(print)))
end

-- tostring, name, metatable.
do
  print(tostring(A), ("%s"):format(A), #tostring(setmetatable({}, { __name = "N" })) > 2)
  print((tostring(setmetatable({}, { __name = "Named" })):gsub("0x%x+", "ADDRESS")))
  print((tostring(setmetatable({}, { __name = 12 })):gsub("0x%x+", "ADDRESS")))
  print(pcall(
    tostring,
    setmetatable({}, {
      __tostring = function()
        return 1
      end,
    })
  ))
  print(pcall(
    tostring,
    setmetatable({}, {
      __tostring = function()
        error("no text")
      end,
    })
  ))
  print(pcall(function()
    return setmetatable({}, { __name = "Mine" }) + 1
  end))
  print(pcall(string.rep, setmetatable({}, { __name = "Mine" })))
  print(pcall(ipairs))
  print(pcall(math.floor, setmetatable({}, { __name = "Mine" })))
  print(getmetatable(setmetatable({}, { __metatable = "protected" })))
  print(pcall(setmetatable, setmetatable({}, { __metatable = false }), {}))
  print(getmetatable("").__index == string, getmetatable("").__name, getmetatable(1))
  print(pcall(setmetatable, 1, {}))
  print(pcall(setmetatable, {}, 1))
  print(pcall(setmetatable, {}))
end

-- pairs, len with the library, concat.
do
  local t = setmetatable({}, {
    __pairs = function(t)
      return function(_, k)
        k = (k or 0) + 1
        if k < 4 then
          return k, k * 10
        end
      end,
        t,
        nil,
        "ignored"
    end,
    __len = function()
      return 3
    end,
    __index = function(_, i)
      return i <= 3 and "v" .. i or nil
    end,
  })
  for k, v in pairs(t) do
    print("pairs", k, v)
  end
  for i, v in ipairs(t) do
    print("ipairs", i, v)
  end
  print(#t, rawlen(t), table.concat(t, ","), table.unpack(t))
  print(pcall(
    table.concat,
    setmetatable({}, {
      __len = function()
        return 2
      end,
    })
  ))
  print(pcall(function()
    return #setmetatable({}, {
      __len = function()
        return "x"
      end,
    })
  end))
  print(pcall(
    table.unpack,
    setmetatable({}, {
      __len = function()
        return "x"
      end,
    })
  ))
  print(next(t), select("#", pairs(t)), 1)
  print(pcall(pairs))
end

-- Strings with arithmetic.
print("10" + 5, "0x10" + 0, "1e1" * 1, "3" // "2", -"2", "7" % 4, "2" ^ 2, 10 .. "")
print(pcall(function()
  return "a" + 1
end))
print(pcall(function()
  return {} .. "x"
end))
print(pcall(function()
  return "3" & 1.5
end))
print(pcall(function()
  return "3" & 1
end))
print(pcall(function()
  return "a" | 1
end))
do
  local mt = getmetatable("")
  mt.__add = nil
  print(pcall(function()
    return "1" + "2"
  end))
  mt.__unm = function(s)
    return s:reverse()
  end
  print(-"abc")
  mt.__unm = nil
  mt.__call = function(s, ...)
    return s:format(...)
  end
  print(("%d-%s")(5, "x"))
  mt.__call = nil
end

-- Metatables of other types.
debug.setmetatable(1, {
  __index = {
    double = function(n)
      return n * 2
    end,
  },
  __call = function(n, m)
    return n .. m
  end,
})
print((5):double(), (1)(2))
debug.setmetatable(1, nil)
debug.setmetatable(nil, {
  __index = function(_, k)
    return k
  end,
})
print((nil).field, (nil)[1])
debug.setmetatable(nil, nil)
debug.setmetatable(print, {
  __index = function(f, k)
    return type(f) .. "." .. k
  end,
  __concat = function(a, b)
    return type(a) .. ".." .. type(b)
  end,
})
print(print.x, (function() end).y, print .. "x", 1 .. print)
debug.setmetatable(print, nil)
debug.setmetatable(true, {
  __len = function(b)
    return b and 1 or 0
  end,
})
print(#true, #false)
debug.setmetatable(true, nil)

-- Classes.
do
  local Animal = {}
  Animal.__index = Animal
  function Animal.new(name, sound)
    return setmetatable({ name = name, sound = sound }, Animal)
  end
  function Animal:speak()
    return self.name .. " says " .. self.sound
  end
  local Dog = setmetatable({}, { __index = Animal })
  Dog.__index = Dog
  function Dog.new(name)
    return setmetatable(Animal.new(name, "woof"), Dog)
  end
  function Dog:fetch(what)
    return self:speak() .. " and fetches " .. what
  end
  print(Animal.new("Cat", "meow"):speak(), Dog.new("Rex"):fetch("a ball"))
  local account = setmetatable({}, {
    __index = function(t, k)
      return rawget(t, "_" .. k) or 0
    end,
    __newindex = function(t, k, v)
      rawset(t, "_" .. k, v)
    end,
  })
  account.balance = account.balance + 100
  account.balance = account.balance - 30
  print(account.balance, account._balance, rawget(account, "balance"))
end
