-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- error, pcall, xpcall, assert: levels, objects, handlers that fail, tracebacks, messages of Lua.

-- Levels.
local function raise(level)
  error("level " .. tostring(level), level)
end
local function middle(level)
  raise(level)
end
local function outer(level)
  middle(level)
end
for level = 0, 6 do
  print(level, pcall(outer, level))
  print(
    level,
    xpcall(outer, function(e)
      return "(" .. tostring(e) .. ")"
    end, level)
  )
end
print("none", pcall(outer))
print(pcall(error))
print(pcall(error, nil))
print(pcall(error, "x", 1))
print(pcall(error, "x", 2))
print(pcall(error, 12, 2))
print(pcall(error, true))
print(pcall(error, "x", "2"))
print(pcall(error, "x", {}))
print(pcall(load("error('in a chunk')", "=chunk")))
print(pcall(load("error('in a chunk')", "@file.lua")))
print(pcall(load("error('in a chunk')", "text of the chunk")))
print(pcall(load("error('in a chunk')", "text\nof two lines")))
print(pcall(load("error('in a chunk')", ("long "):rep(50))))
print(pcall(load("error('in a chunk')", "@" .. ("long/"):rep(50))))

-- Objects.
do
  local object = setmetatable({ code = 5 }, {
    __tostring = function(e)
      return "object " .. e.code
    end,
  })
  local ok, e = pcall(error, object)
  print(ok, e == object, e.code, tostring(e))
  ok, e = pcall(error, object, 2)
  print(ok, e == object)
  ok, e = pcall(error, print)
  print(ok, e == print)
  ok, e = pcall(error, coroutine.create(print))
  print(ok, type(e))
end

-- assert.
print(pcall(assert, false))
print(pcall(assert, nil, "message"))
print(pcall(assert, false, { 1 } and 7))
print(pcall(assert, 1, 2, 3))
print(pcall(assert))
print(select("#", assert(1, nil, nil)))

-- pcall and xpcall as functions.
print(pcall(pcall))
print(pcall(xpcall))
print(pcall(xpcall, print))
print(pcall(xpcall, nil, print))
print(pcall(12))
print(pcall(pcall, error, "x"))
print(pcall(pcall, pcall, pcall, error, "x"))
print(xpcall(pcall, print, error, "x"))
print(
  select("#", pcall(function() end)),
  select(
    "#",
    pcall(function()
      return nil, nil
    end)
  )
)
print(xpcall(function(...)
  return select("#", ...), ...
end, print, 1, nil, nil))

-- Handlers.
print(xpcall(error, function(e)
  return e, "second is lost"
end, "x"))
print(xpcall(error, function() end, "x"))
print(xpcall(error, function()
  error("handler fails")
end, "x"))
print(xpcall(error, error, "x"))
do
  local calls = 0
  print(xpcall(error, function(e)
    calls = calls + 1
    if calls < 4 then
      error(e .. "+", 0)
    end
    return e
  end, "x"))
  print(calls)
  calls = 0
  local ok, e = xpcall(error, function(e)
    calls = calls + 1
    error(e, 0)
  end, "x")
  print(ok, e, calls > 3)
end
print(xpcall(function()
  return pcall(error, "inner")
end, function(e)
  return "outer handler: " .. e
end))
print(xpcall(function()
  pcall(error, "inner")
  error("outer", 0)
end, function(e)
  return "handler: " .. e
end))
print(xpcall(function()
  return xpcall(error, function(e)
    return "inner handler: " .. e
  end, "x")
end, function()
  return "not called"
end))
print(xpcall(function()
  local t = nil
  return t.x
end, function(e)
  return e, debug.traceback("t")
end))
-- A handler sees the stack as it was.
print(xpcall(function()
  local secret = 42
  error("x", 0)
end, function(e)
  local found = {}
  for level = 1, 6 do
    if not debug.getinfo(level, "f") then
      break
    end
    for i = 1, 10 do
      local name, value = debug.getlocal(level, i)
      if name == "secret" then
        found[#found + 1] = name .. "=" .. value
      end
    end
  end
  return e .. " " .. table.concat(found, " ")
end))

-- What Lua itself says.
local MISTAKES = {
  "local t = nil return t.x",
  "local t = nil t.x = 1",
  "return undefined.x",
  "undefined()",
  "undefined.x()",
  "local t = {} t.x.y = 1",
  "local t = {} t.x()",
  "local t = {} t:method()",
  "local t = {} return t.x.y.z",
  "return ('x').y.z",
  "return 1 + nil",
  "return {} + 1",
  "local a = 'x' return a + 1",
  "local a, b = 1 return a + b",
  "return 1 < 'x'",
  "return {} < {}",
  "return nil < 1",
  "return print < print",
  "return 'a' .. nil",
  "return {} .. 'a'",
  "local t = {} return t .. 'x'",
  "return #nil",
  "return #5",
  "return -{}",
  "return ~1.5",
  "return 1.5 | 1",
  "return 1 << 'x'",
  "return 1 // 0",
  "return 1 % 0",
  "return 2^53 | 0",
  "return 2^63 | 0",
  "return ('x')()",
  "for i = 1, 10, 0 do end",
  "for i = 'a', 2 do end",
  "for i = 1, {} do end",
  "for i = 1, 2, print do end",
  "for x in 5 do end",
  "for x in nil do end",
  "local x <close> = 1",
  "local t = setmetatable({}, { __index = function(_, k) error('no ' .. k) end }) return t.x",
  "local t = setmetatable({}, { __add = 5 }) return t + 1",
  "string.rep()",
  "string.rep('x', -1)()",
  "('x'):rep(1e10)",
  "('x'):bad()",
  "string.char(256)",
  "string.format('%d', 1.5)",
  "string.format('%d', 'x')",
  "string.format('%y', 1)",
  "string.format('%', 1)",
  "string.format('%s')",
  "string.format('%0100d', 1)",
  "table.concat({ {} })",
  "table.concat({ 1, 2 }, ',', 1, 3)",
  "table.insert({}, 5, 1)",
  "table.insert({})",
  "table.insert({}, 1, 2, 3)",
  "table.remove({}, 5)",
  "table.sort({ 1, 'x' })",
  "table.sort(1)",
  "table.sort({}, 1)",
  "table.unpack()",
  "math.random(0, -1)",
  "math.random(1, 2, 3)",
  "math.floor('x')",
  "math.floor({})",
  "math.tointeger()",
  "math.max()",
  "tonumber()",
  "tonumber('x', 1)",
  "tonumber(1, 10)",
  "tonumber('1', 99)",
  "setmetatable({})",
  "setmetatable(1, {})",
  "rawset(1, 2, 3)",
  "rawlen(1)",
  "rawget(nil, 1)",
  "next({}, 'x')",
  "ipairs()",
  "select(0)",
  "io.open()",
  "io.open('x', 'bad mode')",
  "io.lines('/does/not/exist')",
  "io.close(5)",
  "io.read('bad')",
  "os.time({})",
  "os.time({ year = 'x', month = 1, day = 1 })",
  "os.date('%Ez')",
  "os.date('%')",
  "utf8.char(-1)",
  "utf8.codepoint('\\xff')",
  "utf8.len('x', 5)",
  "utf8.offset('x', 1, 9)",
  "for _ in utf8.codes('\\xff') do end",
  "debug.getinfo(1, 'X')",
  "debug.getlocal(100, 1)",
  "debug.setmetatable({})",
  "debug.upvalueid(print, 5)",
  "coroutine.resume(1)",
  "coroutine.wrap(1)",
  "coroutine.yield()",
  "require('no.such.module.here.x')",
  "load(1)",
  "load('x', 'n', 'z')()",
  "dofile('/does/not/exist')",
  "loadfile('/does/not/exist')()",
  "collectgarbage('nonsense')",
  "goto_ = goto_.x",
  "local a <const> = {} return a.b.c",
  "return (1)[2][3]",
  "return math.huge // 1 | 0",
  "return 'x' < 1",
  "return 1 .. {}",
  "return ({})[nil].x",
  "return math.nothing(1)",
  "local function f() return f.x.y end f()",
  "local t = { { } } t[1][2][3] = 1",
  "local t, k = {}, 'key' return t[k].x",
  "string.pack('i17', 1)",
  "string.pack('z', 'a\\0b')",
  "string.unpack('i4', 'abc')",
  "string.unpack('s1', '\\5ab')",
  "string.pack('i1', 200)",
  "('x'):find('[')",
  "('x'):find('%')",
  "('x'):find('(')",
  "('x'):find('%1')",
  "('x'):gsub('x', '%2')",
  "('x'):gsub('x', true)",
  "('x'):gsub('x', function() return {} end)",
  "('x'):gsub(('('):rep(40) .. ')', '')",
  "('x'):find('%f')",
  "('x'):find('%b')",
}
for _, text in ipairs(MISTAKES) do
  print(text)
  print("", pcall(assert(load(text, "=mistake"))))
end

-- Tracebacks.
local function trace_inner(message, level)
  return debug.traceback(message, level)
end
local function trace_outer(...)
  local result = trace_inner(...)
  return result
end
print(trace_outer("message"))
print(trace_outer("level 2", 2))
print(trace_outer("level 3", 3))
print(trace_outer("level 9", 9))
print(trace_outer(nil))
print(trace_outer(12))
print(type(trace_outer({})))
print(xpcall(trace_outer, print, "in xpcall"))
print(select(
  2,
  xpcall(function()
    error("with traceback")
  end, debug.traceback)
))
print(select(
  2,
  xpcall(function()
    local t = setmetatable({}, {
      __index = function(_, k)
        error("index " .. k)
      end,
      __add = function()
        error("add")
      end,
      __lt = function()
        error("lt")
      end,
    })
    return t.field
  end, debug.traceback)
))
for _, text in ipairs({
  "return t + 1",
  "return t < t",
  "return t.x",
  "t.y = 1",
  "return #t",
  "return t()",
  "return t .. 'x'",
  "for k in pairs(t) do end",
  "return -t",
  "local x <close> = t",
}) do
  local t = setmetatable({}, {})
  for _, event in ipairs({
    "add",
    "lt",
    "index",
    "newindex",
    "len",
    "call",
    "concat",
    "pairs",
    "unm",
    "close",
  }) do
    getmetatable(t)["__" .. event] = function()
      error(event)
    end
  end
  print(select(2, xpcall(load("local t = ... " .. text, "=meta"), debug.traceback, t)))
end
print(select(
  2,
  xpcall(table.sort, debug.traceback, { 2, 1 }, function()
    error("compare")
  end)
))
print(select(
  2,
  xpcall(string.gsub, debug.traceback, "x", "x", function()
    error("replace")
  end)
))
print(select(
  2,
  xpcall(load, debug.traceback, function()
    error("reader")
  end)
))
do
  local function deep(n)
    if n == 0 then
      return (debug.traceback("deep"))
    end
    return (deep(n - 1))
  end
  print(deep(5))
  print(deep(30))
  local function tail(n)
    if n == 0 then
      return debug.traceback("tail")
    end
    return tail(n - 1)
  end
  print(tail(5))
  local co = coroutine.create(function(a)
    local function inside()
      coroutine.yield(a)
    end
    inside()
    error("later")
  end)
  coroutine.resume(co, 1)
  print(debug.traceback(co))
  print(debug.traceback(co, "of a coroutine"))
  print(debug.traceback(co, nil, 1))
  print(debug.traceback(co, "level 9", 9))
  print(coroutine.resume(co))
  print(debug.traceback(co, "dead"))
  print(coroutine.wrap(function()
    return debug.traceback("in wrap")
  end)())
end
function global_function()
  local t = nil
  return t.x
end
local module = {
  method = function(self)
    return self.missing.x
  end,
  sub = {
    f = function()
      error("in sub")
    end,
  },
}
print(select(2, xpcall(global_function, debug.traceback)))
print(select(
  2,
  xpcall(function()
    global_function()
  end, debug.traceback)
))
print(select(
  2,
  xpcall(function()
    module:method()
  end, debug.traceback)
))
print(select(
  2,
  xpcall(function()
    module.sub.f()
  end, debug.traceback)
))
print(select(
  2,
  xpcall(function()
    string.rep()
  end, debug.traceback)
))
print(select(
  2,
  xpcall(function()
    for _ in pairs(nil) do
    end
  end, debug.traceback)
))

-- Overflows end in errors. (How deep it goes is left out.)
if not os.getenv("STOCK_TEST_SHORT") then
  local function overflow()
    return 1 + overflow()
  end
  local ok, e = pcall(overflow)
  print(ok, (e:gsub("\n.*", ""):gsub("^.-: ", "")))
  local t = setmetatable({}, {})
  getmetatable(t).__index = function(_, k)
    return t[k + 1]
  end
  ok, e = pcall(function()
    return t[1]
  end)
  print(ok, (e:match("overflow")))
  getmetatable(t).__tostring = function()
    return tostring(t)
  end
  ok, e = pcall(tostring, t)
  print(ok, (e:match("overflow")))
  ok, e = pcall(string.rep, "x", 1 << 40)
  print(ok, e)
  ok, e = pcall(load, ("return " .. ("("):rep(300)))
  print(ok, e)
  print(load("return " .. ("("):rep(300) .. "1" .. (")"):rep(300)))
  ok, e = pcall(string.format, ("%s"):rep(300))
  print(ok, e)
end
