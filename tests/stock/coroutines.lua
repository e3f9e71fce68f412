-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Coroutines: what passes in and out, where they may yield, what they say of themselves.

local function show(what, ...)
  print(what, ...)
end

-- Values go in and out, in all numbers.
for n = 0, 12 do
  local values = {}
  for i = 1, n do
    values[i] = i * i
  end
  local co = coroutine.create(function(...)
    local got = select("#", ...)
    while true do
      got = select("#", coroutine.yield(got, ...))
      if got == 0 then
        return "end", ...
      end
    end
  end)
  show("in", n, coroutine.resume(co, table.unpack(values, 1, n)))
  show("again", n, coroutine.resume(co, nil, nil, nil))
  show("again", n, coroutine.resume(co, false))
  show("last", n, coroutine.resume(co))
  show("dead", n, coroutine.resume(co))
  show("status", n, coroutine.status(co))
end

-- nil and false are values.
do
  local co = coroutine.wrap(function(a, b)
    show("nil", a, b, coroutine.yield(nil, false))
    return nil
  end)
  show("yields", co(nil, nil))
  show("returns", co(nil, false, nil))
  show("dead", pcall(co))
end

-- Status as seen from inside, outside and from one that was resumed.
do
  local outer
  outer = coroutine.create(function()
    show("own", coroutine.status(outer))
    local inner = coroutine.create(function()
      show("of the resumer", coroutine.status(outer))
      show("resume the resumer", coroutine.resume(outer))
      show("close the resumer", pcall(coroutine.close, outer))
      coroutine.yield()
    end)
    show("not started", coroutine.status(inner))
    coroutine.resume(inner)
    show("yielded", coroutine.status(inner))
    coroutine.resume(inner)
    show("ended", coroutine.status(inner))
    show("itself", coroutine.resume(outer))
    show("close itself", pcall(coroutine.close, outer))
  end)
  show("start", coroutine.resume(outer))
  show("after", coroutine.status(outer))
end

-- running and isyieldable.
do
  local main, is_main = coroutine.running()
  show("main", type(main), is_main, coroutine.isyieldable(), coroutine.isyieldable(main))
  show("main's status", coroutine.status(main))
  show("resume main", coroutine.resume(main))
  show("close main", pcall(coroutine.close, main))
  local co
  co = coroutine.create(function()
    local me, mine = coroutine.running()
    show("inside", me == co, mine, coroutine.isyieldable(), coroutine.isyieldable(co))
    show("main from inside", coroutine.status(main), coroutine.isyieldable(main))
    show("resume main from inside", coroutine.resume(main))
    show("close main from inside", pcall(coroutine.close, main))
    table.sort({ 2, 1 }, function(a, b)
      show("in a comparator", coroutine.isyieldable())
      return a < b
    end);
    ("x"):gsub("x", function()
      show("in gsub", coroutine.isyieldable(), pcall(coroutine.yield))
    end)
    show("in pcall", pcall(coroutine.isyieldable))
    local t = setmetatable({}, {
      __index = coroutine.isyieldable,
      __tostring = function()
        return tostring(coroutine.isyieldable())
      end,
    })
    show("in __index", t.x, "in __tostring", tostring(t))
  end)
  show("not started", coroutine.isyieldable(co))
  show("end", coroutine.resume(co))
  show("ended", coroutine.isyieldable(co))
end
show("yield of main", pcall(coroutine.yield, 1, 2))
show(
  "yield of main in wrap's comparator",
  pcall(coroutine.wrap(function()
    table.sort({ 3, 2, 1 }, function()
      coroutine.yield()
    end)
  end))
)

-- Errors as objects, through resume and wrap.
for _, value in ipairs({ "text", 12, 1.5, true, false, { 5 } }) do
  local co = coroutine.create(error)
  local ok, got = coroutine.resume(co, value)
  show("error of " .. type(value), ok, type(got), got == value or got, coroutine.status(co))
  show("then", coroutine.resume(co))
  local fine, through = pcall(coroutine.wrap(error), value)
  show("wrap", fine, type(through), through == value or through)
  local nested, out = pcall(coroutine.wrap(function()
    return coroutine.wrap(error)(value)
  end))
  show("nested", nested, type(out), out == value or out)
end
show("nil", coroutine.resume(coroutine.create(error)))
show("nil", pcall(coroutine.wrap(error)))
show(
  "with level",
  pcall(coroutine.wrap(function()
    error("level 1", 1)
  end))
)
show(
  "with level",
  pcall(coroutine.wrap(function()
    local function inner()
      error("level 2", 2)
    end
    inner()
  end))
)
show(
  "level 0",
  pcall(coroutine.wrap(function()
    error("level 0", 0)
  end))
)

-- What is no coroutine, and no function.
for _, f in ipairs({ "resume", "status", "close", "isyieldable", "create", "wrap" }) do
  show(f, pcall(coroutine[f]))
  show(f, pcall(coroutine[f], 1))
  show(f, pcall(coroutine[f], "x"))
  show(f, pcall(coroutine[f], {}))
end
show("print as a coroutine", coroutine.resume(coroutine.create(print), 1, 2))
show("select as a coroutine", coroutine.wrap(select)("#", nil, nil))

-- Yields across pcall, at all depths.
for depth = 1, 10 do
  local function descend(n)
    if n == 0 then
      return coroutine.yield("bottom of " .. depth)
    end
    local result = table.pack(pcall(descend, n - 1))
    return n, table.unpack(result, 1, result.n)
  end
  local co = coroutine.wrap(descend)
  show(co(depth))
  show(co("up", nil))
end
for depth = 1, 5 do
  local function descend(n)
    if n == 0 then
      coroutine.yield("yield")
      error("error " .. depth, 0)
    end
    return xpcall(descend, function(e)
      return "handled " .. n .. " " .. tostring(e)
    end, n - 1)
  end
  local co = coroutine.wrap(descend)
  show(co(depth))
  show(co())
end

-- Generators, and generators of generators.
local function permutations(list, n)
  n = n or #list
  return coroutine.wrap(function()
    if n <= 1 then
      coroutine.yield(table.concat(list, " "))
      return
    end
    for i = 1, n do
      list[i], list[n] = list[n], list[i]
      for text in permutations(list, n - 1) do
        coroutine.yield(text)
      end
      list[i], list[n] = list[n], list[i]
    end
  end)
end
for text in permutations({ "a", "b", "c", "d" }) do
  show(text)
end
local function numbers()
  return coroutine.wrap(function()
    for i = 2, math.huge do
      coroutine.yield(i)
    end
  end)
end
local function without(prime, source)
  return coroutine.wrap(function()
    for n in source do
      if n % prime ~= 0 then
        coroutine.yield(n)
      end
    end
  end)
end
do
  local source = numbers()
  local primes = {}
  for i = 1, 12 do
    primes[i] = source()
    source = without(primes[i], source)
  end
  show("primes", table.unpack(primes))
end

-- Two that feed each other.
do
  local consumer, producer
  producer = coroutine.create(function(first)
    local got = first
    for i = 1, 5 do
      got = coroutine.yield("item " .. i .. " for " .. tostring(got))
    end
    return "no more"
  end)
  consumer = coroutine.wrap(function()
    local n = 0
    while coroutine.status(producer) ~= "dead" do
      n = n + 1
      coroutine.yield(select(2, coroutine.resume(producer, "request " .. n)))
    end
  end)
  for _ = 1, 7 do
    show(consumer())
  end
end

-- Recursion: each coroutine starts the next one.
do
  local function chain(n)
    if n == 0 then
      return 0
    end
    return 1 + coroutine.wrap(chain)(n - 1)
  end
  show("a chain of", chain(60))
  local ok, problem = pcall(function()
    local function endless()
      return 1 + coroutine.wrap(endless)()
    end
    return endless()
  end)
  show("an endless chain", ok, (problem:gsub("^.*: ", "")))
end

-- Many at once.
do
  local many = {}
  for i = 1, 500 do
    many[i] = coroutine.wrap(function()
      local sum = 0
      while true do
        sum = sum + coroutine.yield(sum)
      end
    end)
    many[i]()
  end
  local total = 0
  for _ = 1, 3 do
    for i = 1, #many do
      total = total + many[i](i)
    end
  end
  show("total", total)
end

-- Many values at once.
do
  local co = coroutine.wrap(function(...)
    while true do
      coroutine.yield(select("#", ...), ...)
    end
  end)
  local list = {}
  for i = 1, 200 do
    list[i] = i
  end
  show("count", (co(table.unpack(list))))
  show("last", (select(201, co())))
  show(
    "too many",
    pcall(coroutine.wrap(function()
      return table.unpack({}, 1, 1e6)
    end))
  )
end
