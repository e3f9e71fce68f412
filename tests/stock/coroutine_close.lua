-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- coroutine.close, and variables to be closed in coroutines.

local function closing(name, action)
  return setmetatable({}, {
    __close = function(_, e)
      print("close", name, e)
      if action then
        return action(e)
      end
    end,
  })
end

local function attempt(name, f, ...)
  print(name, pcall(f, ...))
end

-- In each state.
do
  local co = coroutine.create(print)
  print("not started", coroutine.close(co), coroutine.status(co))
  print("again", coroutine.close(co), coroutine.resume(co))
  co = coroutine.create(function()
    coroutine.yield()
  end)
  coroutine.resume(co)
  print("yielded", coroutine.close(co), coroutine.status(co))
  co = coroutine.create(function() end)
  coroutine.resume(co)
  print("ended", coroutine.close(co))
  co = coroutine.create(error)
  coroutine.resume(co, "failed")
  print("failed", coroutine.close(co))
  print("again", coroutine.close(co))
  co = coroutine.create(error)
  coroutine.resume(co, { 1 })
  local ok, value = coroutine.close(co)
  print("failed with a table", ok, type(value), value[1])
end

-- The order of variables, and errors among them.
for fails = 0, 4 do
  local co = coroutine.create(function()
    local list = {}
    for i = 1, 4 do
      list[i] = closing(i, i == fails and function(e)
        error("in " .. i .. " after " .. tostring(e), 0)
      end)
    end
    local a <close> = list[1]
    do
      local b <close> = list[2]
      local c <close> = list[3]
      for _ = 1, 2 do
        local d <close> = list[4]
        coroutine.yield("in the loop")
      end
    end
  end)
  print(coroutine.resume(co))
  print("close", fails, coroutine.close(co))
  print(coroutine.status(co), coroutine.resume(co))
end

-- Several fail: the last error stays.
do
  local co = coroutine.create(function()
    local a <close> = closing("a")
    local b <close> = closing("b", function(e)
      error("b after " .. tostring(e), 0)
    end)
    local c <close> = closing("c", function(e)
      error("c after " .. tostring(e), 0)
    end)
    coroutine.yield()
  end)
  coroutine.resume(co)
  print(coroutine.close(co))
end

-- An error in the coroutine itself: wrap closes, resume does not.
do
  local function body()
    local a <close> = closing("a")
    local b <close> = closing("b", function()
      error("b fails", 0)
    end)
    error("body fails", 0)
  end
  attempt("wrap", coroutine.wrap(body))
  local co = coroutine.create(body)
  print("resume", coroutine.resume(co))
  print("then close", coroutine.close(co))
end
do
  local co = coroutine.wrap(function()
    local a <close> = closing("a", coroutine.yield)
    return "result"
  end)
  print("first", co())
  print("second", co())
  attempt("third", co)
end

-- A wrapped coroutine that yields while it is closed by an error.
do
  local co = coroutine.wrap(function()
    return pcall(function()
      local a <close> = closing("a", function(e)
        coroutine.yield("a yields after " .. tostring(e))
      end)
      local b <close> = closing("b", function(e)
        coroutine.yield("b yields after " .. tostring(e))
        error("b fails", 0)
      end)
      coroutine.yield("body")
      error("body fails", 0)
    end)
  end)
  for _ = 1, 4 do
    print(co())
  end
  attempt("dead", co)
end

-- close in close: coroutines that hold coroutines.
do
  local function nest(depth)
    local inner = depth > 0 and coroutine.create(nest)
    local hold <close> = closing("level " .. depth, function()
      if inner then
        print("inner", coroutine.close(inner))
      end
    end)
    if inner then
      print("resume", coroutine.resume(inner, depth - 1))
    end
    coroutine.yield("waits at " .. depth)
  end
  local co = coroutine.create(nest)
  print(coroutine.resume(co, 5))
  print(coroutine.close(co))
end

-- What a handler sees while its coroutine is being closed.
do
  local co
  co = coroutine.create(function()
    local a <close> = closing("watcher", function()
      print("status", coroutine.status(co), (coroutine.running()) == co)
      print("resume", coroutine.resume(co))
      print("close", pcall(coroutine.close, co))
      print("yieldable", coroutine.isyieldable())
    end)
    coroutine.yield()
  end)
  coroutine.resume(co)
  print("closed", coroutine.close(co))
end

-- Iterators with a closing value, left in all ways.
local function items(name)
  return coroutine.wrap(function()
    local a <close> = closing("generator " .. name)
    for i = 1, 3 do
      coroutine.yield(i)
    end
  end),
    nil,
    nil,
    closing("loop " .. name)
end
for i in items("to the end") do
  print(i)
end
for i in items("break") do
  print(i)
  if i == 2 then
    break
  end
end
attempt("error", function()
  for i in items("error") do
    error("at " .. i, 0)
  end
end)
attempt("return", function()
  for i in items("return") do
    if i == 2 then
      return "returned", i
    end
  end
end)
for i in items("goto") do
  if i == 2 then
    goto out
  end
  print("goto", i)
end
::out::

-- Not closable.
attempt(
  "number",
  coroutine.wrap(function()
    local x <close> = 42
  end)
)
attempt(
  "nil and false",
  coroutine.wrap(function()
    local x <close>, y = nil, 1
    local z <close> = false
    return "fine", x, z, y
  end)
)
attempt(
  "metamethod gone",
  coroutine.wrap(function()
    local x <close> = closing("x")
    getmetatable(x).__close = nil
  end)
)

-- Many coroutines, closed in the middle of their work.
do
  local sum = 0
  local list = {}
  for i = 1, 200 do
    list[i] = coroutine.create(function()
      local a <close> = setmetatable({}, {
        __close = function()
          sum = sum + i
        end,
      })
      while true do
        coroutine.yield()
      end
    end)
    for _ = 1, i % 4 do
      coroutine.resume(list[i])
    end
  end
  for i = 1, #list do
    assert(coroutine.close(list[i]))
  end
  print("sum", sum)
end
