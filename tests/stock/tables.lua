-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- The table library and `next`, with functions of the user and with metamethods.

local function list(t, from, to)
  local parts = {}
  for i = from or 1, to or #t do
    parts[#parts + 1] = tostring(t[i])
  end
  return "{" .. table.concat(parts, " ") .. "}"
end

-- sort.
local function numbers(n, seed)
  local t = {}
  for i = 1, n do
    seed = (seed * 1103515245 + 12345) % 2147483648
    t[i] = seed % 1000
  end
  return t
end
for n = 0, 40 do
  local t = numbers(n, n + 1)
  table.sort(t)
  print("sort", n, list(t))
  t = numbers(n, n + 1)
  table.sort(t, function(a, b)
    return a > b
  end)
  print("down", n, list(t))
end
do
  local t = numbers(500, 7)
  local calls = 0
  table.sort(t, function(a, b)
    calls = calls + 1
    return a < b
  end)
  local sorted = true
  for i = 2, #t do
    sorted = sorted and t[i - 1] <= t[i]
  end
  print("calls", calls, sorted)
  local words = {}
  for w in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do
    words[#words + 1] = w
  end
  table.sort(words)
  print(table.concat(words, " "))
  table.sort(words, function(a, b)
    return #a == #b and a < b or #a < #b
  end)
  print(table.concat(words, " "))
  table.sort(words, function(a, b)
    return a:reverse() < b:reverse()
  end)
  print(table.concat(words, " "))
  local records = {}
  for i, v in ipairs(numbers(10, 3)) do
    records[i] = { key = v, index = i }
  end
  table.sort(records, function(a, b)
    return a.key < b.key
  end)
  for _, r in ipairs(records) do
    print("record", r.key, r.index)
  end
  local objects = {}
  local mt = {
    __lt = function(a, b)
      return a.v < b.v
    end,
    __tostring = function(o)
      return "o" .. o.v
    end,
  }
  for i, v in ipairs(numbers(8, 5)) do
    objects[i] = setmetatable({ v = v }, mt)
  end
  table.sort(objects)
  print(list(objects))
end
-- Comparators that are no order, that raise, that change the list.
print(pcall(table.sort, numbers(100, 1), function()
  return true
end))
print(pcall(table.sort, numbers(4, 1), function()
  return true
end))
print(pcall(table.sort, numbers(50, 1), function()
  return false
end))
for n = 2, 10 do
  local count = 0
  local t = numbers(10, 9)
  print(
    "raises at " .. n,
    pcall(table.sort, t, function(a, b)
      count = count + 1
      if count == n then
        error("compare " .. n, 0)
      end
      return a < b
    end),
    list(t)
  )
end
print(pcall(table.sort, { 3, "x", 1 }))
print(pcall(table.sort, { {}, {} }))
print(pcall(table.sort, { 1, 2, nil, 4 }, function(a, b)
  return (a or 0) < (b or 0)
end))
do
  local inner = 0
  local t = { 3, 1, 2 }
  table.sort(t, function(a, b)
    local u = { b, a }
    table.sort(u, function(x, y)
      inner = inner + 1
      return x < y
    end)
    return u[1] == a and a ~= b
  end)
  print("sort in sort", list(t), inner)
  local proxy = setmetatable({}, {
    __index = function(_, i)
      return t[i]
    end,
    __newindex = function(_, i, v)
      t[i] = v
    end,
    __len = function()
      return #t
    end,
  })
  t = { 5, 4, 3, 2, 1 }
  table.sort(proxy)
  print("proxy", list(t))
end

-- insert, remove, move, concat, unpack.
do
  local t = {}
  for i = 1, 5 do
    table.insert(t, i * 10)
  end
  table.insert(t, 1, "first")
  table.insert(t, 3, "third")
  table.insert(t, #t + 1, "last")
  print(list(t))
  print(table.remove(t), table.remove(t, 1), table.remove(t, 2), list(t))
  print(table.remove({}), table.remove({}, 0), #t, table.remove(t, #t + 1))
  for _, position in ipairs({ -1, 0, 7, 100 }) do
    print(position, pcall(table.insert, t, position, "x"))
    print(position, pcall(table.remove, t, position))
  end
  print(list(table.move({ 1, 2, 3 }, 1, 3, 2)))
  print(list(table.move({ 1, 2, 3, 4, 5 }, 2, 5, 1)))
  print(list(table.move({ 1, 2, 3 }, 1, 3, 1, { "a" })))
  print(list(table.move({ 1, 2, 3 }, 1, 0, 5)))
  print(pcall(table.move, {}, 1, math.maxinteger, 2))
  print(pcall(table.move, {}, -1, math.maxinteger, 2))
  print(pcall(table.move, 1, 1, 1, 1))
  for _, case in ipairs({
    { ", " },
    { "" },
    { "-", 2 },
    { "-", 2, 3 },
    { "-", 3, 2 },
    { nil, 1, 2 },
    { 5, 1, 3 },
  }) do
    print("concat", table.concat({ "a", 1, 2.5, "d" }, table.unpack(case, 1, 3)))
  end
  print(pcall(table.concat, { 1, {}, 3 }))
  print(pcall(table.concat, { 1, 2, 3 }, ",", 1, 5))
  print(pcall(table.concat, { 1 }, {}))
  print(table.pack().n, table.pack(nil).n, table.pack(1, nil, 3).n)
  print(table.unpack({ 1, 2, 3 }, -1, 1))
end
-- With metamethods.
do
  local log = {}
  local store = { "a", "b", "c" }
  local t = setmetatable({}, {
    __index = function(_, i)
      log[#log + 1] = "get " .. tostring(i)
      return store[i]
    end,
    __newindex = function(_, i, v)
      log[#log + 1] = "set " .. tostring(i) .. "=" .. tostring(v)
      store[i] = v
    end,
    __len = function()
      log[#log + 1] = "len"
      return #store
    end,
  })
  local function flush(what, ...)
    print(what, table.concat(log, ", "), ...)
    log = {}
  end
  table.insert(t, "d")
  flush("insert at the end")
  table.insert(t, 2, "x")
  flush("insert")
  flush("remove", table.remove(t))
  flush("remove", table.remove(t, 1))
  flush("concat", table.concat(t, "+"))
  flush("unpack", table.unpack(t))
  table.move(t, 1, 3, 2)
  flush("move")
  table.sort(t)
  flush("sort")
  for i, v in ipairs(t) do
    log[#log + 1] = i .. ":" .. v
  end
  flush("ipairs")
  print(list(store))
  local read_only = setmetatable({}, {
    __newindex = function(_, k)
      error("no " .. k, 0)
    end,
    __len = function()
      return 2
    end,
  })
  print(pcall(table.insert, read_only, 1))
  print(pcall(
    table.sort,
    setmetatable({}, {
      __len = function()
        return math.maxinteger
      end,
    })
  ))
  print(pcall(
    table.insert,
    setmetatable({}, {
      __len = function()
        return "x"
      end,
    }),
    1
  ))
  print(pcall(
    table.unpack,
    setmetatable({}, {
      __index = function(_, i)
        error("at " .. i, 0)
      end,
    }),
    1,
    3
  ))
end

-- next, pairs, lengths.
do
  print(next({}), next({ 10 }), next({ 10 }, 1))
  print(pcall(next, {}, 1))
  print(pcall(next))
  local t = { 1, 2, 3, x = 1, y = 2, [1.5] = 3, [true] = 4 }
  local count, sum = 0, 0
  for _, v in pairs(t) do
    count, sum = count + 1, sum + v
  end
  print(count, sum)
  for k in pairs(t) do
    t[k] = nil
  end
  print(next(t))
  t = {}
  for i = 1, 100 do
    t[i] = i
  end
  for i = 1, 100 do
    if i % 3 == 0 then
      t[i] = nil
    end
  end
  count = 0
  for k, v in pairs(t) do
    assert(k == v)
    count = count + k
  end
  print(count)
  for i = #{ 1, 2, 3 }, 1, -1 do
    print("down", i)
  end
  for i, v in ipairs({ 1, 2, nil, 4 }) do
    print("ipairs", i, v)
  end
  local keys = { [1] = "int", [1.0] = "float is int", ["1"] = "string", [2 ^ 53] = "big" }
  print(keys[1], keys[1.0], keys["1"], keys[1 << 53], keys[2 ^ 53])
  local nested = { { { { "deep" } } }, [{}] = 1 }
  print(nested[1][1][1][1])
  print(#{ n = 1 }, #{ 1, 2, 3, nil }, #{ (function()
    return 1, 2, 3
  end)() }, #"")
  local trailing = { 1, 2, 3, 4, 5, f = 6 }
  print(#trailing, trailing.f)
end

-- A queue, a matrix, a tree, a permutation, n queens.
do
  local function queens(n)
    local count, column, up, down = 0, {}, {}, {}
    local function place(row)
      if row > n then
        count = count + 1
        return
      end
      for c = 1, n do
        if not (column[c] or up[row + c] or down[row - c]) then
          column[c], up[row + c], down[row - c] = true, true, true
          place(row + 1)
          column[c], up[row + c], down[row - c] = nil, nil, nil
        end
      end
    end
    place(1)
    return count
  end
  for n = 1, 6 do
    print("queens", n, queens(n))
  end
  local function insert(tree, value)
    if not tree then
      return { value = value }
    end
    local side = value < tree.value and "left" or "right"
    tree[side] = insert(tree[side], value)
    return tree
  end
  local tree
  for _, v in ipairs(numbers(20, 11)) do
    tree = insert(tree, v)
  end
  local out = {}
  local function walk(node)
    if node then
      walk(node.left)
      out[#out + 1] = node.value
      walk(node.right)
    end
  end
  walk(tree)
  print("tree", list(out))
  local m = {}
  for i = 1, 5 do
    m[i] = {}
    for j = 1, 5 do
      m[i][j] = i * j - (i ~ j)
    end
  end
  for i = 1, 5 do
    local row = {}
    for j = 1, 5 do
      local s = 0
      for k = 1, 5 do
        s = s + m[i][k] * m[k][j]
      end
      row[j] = s
    end
    print("matrix", list(row))
  end
  local sieve, primes = {}, {}
  for i = 2, 200 do
    if not sieve[i] then
      primes[#primes + 1] = i
      for j = i * i, 200, i do
        sieve[j] = true
      end
    end
  end
  print("primes", list(primes))
end
