-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- The debug library: getinfo, locals, upvalues, hooks with all masks.

local function line()
  return debug.getinfo(2, "l").currentline
end

-- getinfo.
local FIELDS = {
  "source",
  "short_src",
  "what",
  "currentline",
  "linedefined",
  "lastlinedefined",
  "name",
  "namewhat",
  "nups",
  "nparams",
  "isvararg",
  "istailcall",
  "ftransfer",
  "ntransfer",
}
local function show(what, t)
  if not t then
    print(what, t)
    return
  end
  local parts = {}
  for _, field in ipairs(FIELDS) do
    if t[field] ~= nil then
      parts[#parts + 1] = field .. "=" .. tostring(t[field])
    end
  end
  print(what, table.concat(parts, " "))
end
local function fixed(a, b)
  show("level 1", debug.getinfo(1))
  show("level 2", debug.getinfo(2))
  show("level 0", debug.getinfo(0))
  show("level 50", debug.getinfo(50))
  return a, b
end
local function variadic(...)
  local up = fixed
  up(1, 2)
  return (select("#", ...))
end
variadic(1, 2)
local function tail_called()
  show("tail", debug.getinfo(1))
  show("tail's caller", debug.getinfo(2))
end
local function tail_caller()
  return tail_called()
end
tail_caller()
show("function", debug.getinfo(fixed))
show("variadic", debug.getinfo(variadic))
show("C function", debug.getinfo(print))
show("chunk", debug.getinfo(load("return 1", "=chunk")))
show("chunk", debug.getinfo(load("return\n1", "source text")))
for _, what in ipairs({ "S", "l", "n", "u", "f", "t", "r", "L", "Sl", "", ">S" }) do
  local ok, t = pcall(debug.getinfo, 1, what)
  show("getinfo " .. what, ok and t or nil)
end
do
  local lines = {}
  for number in pairs(debug.getinfo(fixed, "L").activelines) do
    lines[#lines + 1] = number
  end
  table.sort(lines)
  print("active lines", table.concat(lines, " "))
  print(debug.getinfo(print, "L").activelines)
  print(debug.getinfo(1, "f").func ~= nil, debug.getinfo(fixed, "f").func == fixed)
  print(pcall(debug.getinfo, 1, "?"))
  print(pcall(debug.getinfo, {}))
  print(pcall(debug.getinfo))
  print(pcall(debug.getinfo, coroutine.create(print), 0))
end
-- How functions are called decides what they are named.
do
  local function name()
    local info = debug.getinfo(2, "n")
    return tostring(info.name) .. " (" .. info.namewhat .. ")"
  end
  local t = {
    field = function()
      return name() .. ""
    end,
  }
  function t:method()
    return name() .. ""
  end
  function global()
    return name() .. ""
  end
  local up = function()
    return name() .. ""
  end
  local function user()
    return up() .. ""
  end
  print(t.field(), t:method(), global(), up(), user())
  local mt = {}
  for _, event in ipairs({
    "index",
    "add",
    "concat",
    "len",
    "unm",
    "eq",
    "lt",
    "le",
    "call",
    "newindex",
    "close",
  }) do
    mt["__" .. event] = function()
      print(event, name())
      return ""
    end
  end
  local m, n = setmetatable({}, mt), setmetatable({}, mt)
  local _ = m.x, m + 1, m .. "", #m, -m, m == n, m < n, m <= n, m()
  m.y = 1
  do
    local c <close> = m
  end
  for _ in
    function()
      print("iterator", name())
    end
  do
  end
  table.sort({ 1, 2 }, function(a, b)
    print("comparator", name())
    return a < b
  end)
  pcall(function()
    print("pcall", name())
  end)
  coroutine.wrap(function()
    print("coroutine", name())
  end)()
  local h = setmetatable({}, {
    __gc = function()
      print("finalizer", name())
    end,
  })
  h = nil
  collectgarbage()
end

-- getlocal and setlocal.
do
  local function locals(a, b, ...)
    local c, d <const> = "c", "d"
    for i = 1, 1 do
      local e = i
      local k = 1
      while true do
        local name, value = debug.getlocal(1, k)
        if not name then
          break
        end
        print("local", k, name, type(value) == "function" and "function" or value)
        k = k + 1
      end
      print("vararg", debug.getlocal(1, -1))
      print("vararg", debug.getlocal(1, -2))
      print("vararg", debug.getlocal(1, -3))
      print(debug.setlocal(1, 1, "new a"), debug.setlocal(1, 3, "new c"), debug.setlocal(1, 99, 1))
      print(debug.setlocal(1, -1, "new vararg"), ...)
      print(a, b, c, d, e)
    end
  end
  locals(1, 2, "x", "y")
  print(debug.getlocal(locals, 1), debug.getlocal(locals, 2), debug.getlocal(locals, 3))
  print(pcall(debug.getlocal, 99, 1))
  print(pcall(debug.setlocal, 99, 1, 1))
  local co = coroutine.create(function(x)
    local y = x * 2
    coroutine.yield()
    return x, y
  end)
  print(pcall(debug.getlocal, co, 0, 1))
  coroutine.resume(co, 21)
  print(pcall(debug.getlocal, co, 0, 1))
  print(pcall(debug.getlocal, co, 0, 2))
  print(pcall(debug.getlocal, co, 0, 3))
  print(pcall(debug.setlocal, co, 0, 2, "changed"))
  print(coroutine.resume(co))
  print(pcall(debug.getlocal, co, 0, 1))
end

-- Upvalues.
do
  local a, b, c = 1, 2, 3
  local function f()
    return a, b
  end
  local function g()
    return b, c, print ~= nil
  end
  for i = 0, 4 do
    local name, value = debug.getupvalue(g, i)
    print("upvalue", i, name, type(value) == "table" and "table" or value)
  end
  print(debug.setupvalue(f, 1, 10), debug.setupvalue(f, 2, 20), debug.setupvalue(f, 3, 30))
  print(a, b, c, f())
  print(
    debug.upvalueid(f, 2) == debug.upvalueid(g, 1),
    debug.upvalueid(f, 1) == debug.upvalueid(g, 1)
  )
  debug.upvaluejoin(f, 1, g, 2)
  print(f())
  c = 99
  print(f())
  print(pcall(debug.upvaluejoin, f, 5, g, 1))
  print(pcall(debug.upvaluejoin, print, 1, g, 1))
  print(debug.upvalueid(f, 9))
  print(debug.getupvalue(string.gmatch("a", "a"), 1))
  print(pcall(debug.getupvalue, 1, 1))
  local wrapped = coroutine.wrap(print)
  print((debug.getupvalue(wrapped, 1)), type(select(2, debug.getupvalue(wrapped, 1))))
end

-- Registry, metatables, user values.
print(type(debug.getregistry()), debug.getregistry()[2] == _G)
print(debug.getmetatable("").__index == string)
print(debug.getuservalue(1), debug.getuservalue(io.stdout, 1))
print(pcall(debug.setuservalue, {}, 1))
print(debug.setmetatable(12, nil), debug.getmetatable(12))

-- Hooks: each mask, with the lines and names that they see.
local function work(n)
  local s = 0
  for i = 1, n do
    s = s + i
  end
  return s
end
local function caller(n)
  local x = work(n)
  if n > 1 then
    x = x + 1
  end
  return work(x)
end
for _, mask in ipairs({ "c", "r", "l", "cr", "cl", "rl", "crl" }) do
  local events = {}
  debug.sethook(function(event, at)
    local info = debug.getinfo(2, "nSl")
    events[#events + 1] = event
      .. ":"
      .. tostring(at)
      .. ":"
      .. tostring(info.name)
      .. ":"
      .. info.what
  end, mask)
  caller(2)
  string.rep("x", 2)
  pcall(error, "x")
  debug.sethook()
  print("mask " .. mask, #events)
  for i, event in ipairs(events) do
    print("", i, event)
  end
end
-- gethook.
do
  local function hook() end
  print(debug.gethook())
  for _, mask in ipairs({ "c", "r", "l", "lrc", "xyz", "" }) do
    debug.sethook(hook, mask)
    local f, m, n = debug.gethook()
    debug.sethook()
    print("gethook", mask, f == hook, m, n)
  end
  for _, count in ipairs({ 0, 1, 7, 1000, 100000, -1 }) do
    debug.sethook(hook, "", count)
    local f, m, n = debug.gethook()
    debug.sethook()
    print("gethook", count, f == hook, m, n)
  end
  debug.sethook(hook, "crl", 5)
  debug.sethook(nil)
  print(debug.gethook())
  print(pcall(debug.sethook, hook))
  print(pcall(debug.sethook, hook, {}))
  print(pcall(debug.sethook, 12, "l"))
  print(pcall(debug.sethook, 12))
end
-- Hooks of coroutines: each its own, and inherited by none.
do
  local seen = {}
  local co = coroutine.create(function()
    local x = 1
    coroutine.yield(x)
    x = 2
    return x
  end)
  local base = debug.getinfo(1, "l").currentline - 5
  debug.sethook(co, function(event, at)
    seen[#seen + 1] = event .. " " .. at - base
  end, "l")
  print(debug.gethook() == nil, debug.gethook(co) ~= nil, select(2, debug.gethook(co)))
  print(coroutine.resume(co))
  local _ = 1
  print(coroutine.resume(co))
  print(table.concat(seen, ", "))
  debug.sethook(co)
  print(debug.gethook(co))
  local count = 0
  debug.sethook(function()
    count = count + 1
  end, "l")
  local inner = coroutine.wrap(function()
    local y = 1
    y = y + 1
    return debug.gethook()
  end)
  local inherited = inner()
  debug.sethook()
  print("inherited", type(inherited), count > 0)
end
-- Hooks that raise, and that set hooks.
do
  local n = 0
  print(pcall(function()
    debug.sethook(function(event)
      n = n + 1
      if n == 3 then
        debug.sethook()
        error("raised in a hook for " .. event, 0)
      end
    end, "l")
    local a = 1
    a = 2
    a = 3
    return a
  end))
  print(n, debug.gethook())
  local first, second = 0, 0
  local function second_hook()
    second = second + 1
  end
  debug.sethook(function()
    first = first + 1
    debug.sethook(second_hook, "l")
  end, "l")
  local a = 1
  a = a + 1
  debug.sethook()
  print(first, second, a)
end
-- A hook while pcall, sort and coroutines go on.
do
  local calls = {}
  debug.sethook(function()
    local info = debug.getinfo(2, "nS")
    if info.what == "Lua" then
      calls[#calls + 1] = tostring(info.name)
    end
  end, "c")
  local list = { 3, 1, 2 }
  table.sort(list, function(x, y)
    return x < y
  end)
  local gen = coroutine.wrap(function()
    coroutine.yield(work(2))
  end)
  gen()
  pcall(work, 3)
  debug.sethook()
  print("calls", table.concat(calls, " "))
end
-- What a return hook sees of the values.
do
  local function results()
    return "a", nil, "c"
  end
  debug.sethook(function()
    local info = debug.getinfo(2, "rn")
    if info.name == "results" then
      local values = {}
      for i = info.ftransfer, info.ftransfer + info.ntransfer - 1 do
        values[#values + 1] = tostring(select(2, debug.getlocal(2, i)))
      end
      print("transfer", table.concat(values, " "))
    end
  end, "r")
  results()
  debug.sethook()
  local function parameters(a, b)
    return a, b
  end
  debug.sethook(function()
    local info = debug.getinfo(2, "rn")
    if info.name == "parameters" then
      print("parameters", info.ntransfer, debug.getlocal(2, 1))
    end
  end, "c")
  parameters("x", "y")
  debug.sethook()
end
print("line", line() - debug.getinfo(1, "l").currentline)
