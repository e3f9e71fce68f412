-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Variables to be closed: in what order, with what error, on all ways out of a block.

local function closing(name, action)
  return setmetatable({ name = name }, {
    __close = function(self, e)
      print("close " .. self.name, e)
      if action then
        return action(self, e)
      end
    end,
  })
end

-- All ways out.
local WAYS = {
  ["1 end"] = function()
    do
      local a <close> = closing("a")
      local b <close> = closing("b")
      print("block")
    end
    return "after"
  end,
  ["2 return"] = function()
    local a <close> = closing("a")
    local b <close> = closing("b")
    return "values", a.name, b.name
  end,
  ["3 break"] = function()
    for i = 1, 3 do
      local a <close> = closing("a" .. i)
      if i == 2 then
        break
      end
    end
    return "after"
  end,
  ["4 goto"] = function()
    local i = 0
    ::top::
    do
      local a <close> = closing("a" .. i)
      i = i + 1
      if i < 3 then
        goto top
      end
    end
    return i
  end,
  ["5 error"] = function()
    local a <close> = closing("a")
    local b <close> = closing("b")
    error("failed", 0)
  end,
  ["6 error of Lua"] = function()
    local a <close> = closing("a")
    local t = nil
    return t.x
  end,
  ["7 error in one"] = function()
    local a <close> = closing("a")
    local b <close> = closing("b", function()
      error("b fails", 0)
    end)
    local c <close> = closing("c")
    return "lost"
  end,
  ["8 error in each"] = function()
    local a <close> = closing("a", function(_, e)
      error("a after " .. e, 0)
    end)
    local b <close> = closing("b", function(_, e)
      error("b after " .. tostring(e), 0)
    end)
    return "lost"
  end,
  ["9 tail call"] = function()
    local a <close> = closing("a")
    return (function()
      print("no tail call")
      return "value"
    end)()
  end,
  ["a while"] = function()
    local n = 0
    while n < 3 do
      local a <close> = closing("a" .. n)
      n = n + 1
    end
    return n
  end,
  ["b repeat"] = function()
    local n = 0
    repeat
      local a <close> = closing("a" .. n)
      n = n + 1
    until a.name == "a2"
    return n
  end,
  ["c nested functions"] = function()
    local a <close> = closing("outer")
    local function inner()
      local b <close> = closing("inner")
      return "inner", "values"
    end
    print(inner())
    return inner()
  end,
  ["d for"] = function()
    for k, v in next, { "x" }, nil, closing("of the loop") do
      print(k, v)
    end
    for _ in next, { "x" }, nil, closing("of the loop") do
      return "from the loop"
    end
  end,
  ["e caught"] = function()
    local a <close> = closing("a")
    print(pcall(function()
      local b <close> = closing("b")
      error("inner", 0)
    end))
    return "went on"
  end,
  ["f changed results"] = function()
    local t = { 1 }
    local a <close> = closing("a", function()
      t[1] = 2
      return "ignored"
    end)
    return t[1], t
  end,
  ["g new variable in a handler"] = function()
    local a <close> = closing("a", function()
      local b <close> = closing("in the handler")
      print("handler")
    end)
    return "x"
  end,
  ["h false and nil"] = function()
    local a <close> = nil
    local b <close> = false
    return a, b
  end,
  ["i not closable"] = function()
    local a <close> = closing("a")
    local b <close> = {}
    return "lost"
  end,
  ["j string"] = function()
    local b <close> = "text"
  end,
  ["k metatable changed"] = function()
    local a <close> = closing("a")
    setmetatable(a, {
      __close = function()
        print("another handler")
      end,
    })
    return "x"
  end,
  ["l handler is no function"] = function()
    local a <close> = setmetatable({}, { __close = 12 })
    return "x"
  end,
  ["m handler is callable"] = function()
    local callable = setmetatable({}, {
      __call = function(_, object, e)
        print("called with", object.name, e)
      end,
    })
    local a <close> = setmetatable({ name = "a" }, { __close = callable })
    return "x"
  end,
  ["n many"] = function()
    local function many(n)
      if n == 0 then
        return 0
      end
      local a <close> = closing(n)
      return n + many(n - 1)
    end
    return many(12)
  end,
  ["o error with a table"] = function()
    local a <close> = closing("a", function(_, e)
      e.closed = (e.closed or 0) + 1
      print("is table", type(e))
    end)
    getmetatable(a).__close = function(_, e)
      e.closed = (e.closed or 0) + 1
      print("is table", type(e))
    end
    local b <close> = setmetatable({}, getmetatable(a))
    error({ closed = 0 })
  end,
  ["p varargs"] = function(...)
    local a <close> = closing("a")
    local b <close> = closing("b")
    return ...
  end,
  ["q upvalue"] = function()
    local f
    do
      local a <close> = closing("a")
      f = function()
        return a.name
      end
      a.name = "renamed"
    end
    return f()
  end,
}
local names = {}
for name in pairs(WAYS) do
  names[#names + 1] = name
end
table.sort(names)

local function show(name, ok, ...)
  local values = table.pack(...)
  for i = 1, values.n do
    if type(values[i]) == "table" then
      values[i] = "table with " .. tostring(values[i].closed or values[i][1])
    end
  end
  print(name, ok, table.unpack(values, 1, values.n))
end

for _, name in ipairs(names) do
  show(name, pcall(WAYS[name], "first", nil, "third"))
  -- The same in a coroutine.
  show(name, coroutine.resume(coroutine.create(WAYS[name]), 1, 2))
  -- With a handler of messages, which sees the error where it was raised.
  show(
    name,
    xpcall(WAYS[name], function(e)
      print("handler", type(e))
      return e
    end, nil)
  )
end

-- Recursion in handlers.
do
  local function recursive(n)
    local a <close> = closing("recursive " .. n, function()
      if n > 0 then
        recursive(n - 1)
      end
    end)
  end
  recursive(4)
end

-- An error while errors are being handled.
do
  local log = {}
  local function fails(n)
    return setmetatable({}, {
      __close = function(_, e)
        log[#log + 1] = n .. ":" .. tostring(e)
        error(n, 0)
      end,
    })
  end
  print(pcall(function()
    local a <close> = fails(1)
    local b <close> = fails(2)
    do
      local c <close> = fails(3)
      local d <close> = fails(4)
      error(5, 0)
    end
  end))
  print(table.concat(log, " "))
end

-- Tracebacks name the handler.
print((select(
  2,
  xpcall(function()
    local a <close> = setmetatable({}, {
      __close = function()
        error("in the handler")
      end,
    })
  end, debug.traceback)
)))

-- Many pending at once.
do
  local closed = 0
  local function descend(n)
    local a <close> = setmetatable({}, {
      __close = function()
        closed = closed + 1
      end,
    })
    if n == 0 then
      error("bottom", 0)
    end
    return 1 + descend(n - 1)
  end
  print(pcall(descend, 500))
  print(closed)
end
