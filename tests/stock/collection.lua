-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- The collector: its modes, weak tables, finalizers.

-- Options and what they return; amounts of memory are left out.
local first = collectgarbage("incremental")
print(
  first,
  collectgarbage("generational"),
  collectgarbage("incremental"),
  collectgarbage("incremental", 200, 100)
)
print(
  collectgarbage("isrunning"),
  collectgarbage("stop"),
  collectgarbage("isrunning"),
  collectgarbage("restart"),
  collectgarbage("isrunning")
)
print(
  collectgarbage(),
  collectgarbage("collect"),
  type(collectgarbage("count")),
  math.type(collectgarbage("count"))
)
print(type(collectgarbage("step")), type(collectgarbage("step", 100)))
print(
  collectgarbage("setpause", 150),
  collectgarbage("setpause", 200),
  collectgarbage("setstepmul", 300),
  collectgarbage("setstepmul", 100)
)
print(pcall(collectgarbage, "nothing"))
print(pcall(collectgarbage, {}))

local function count(t)
  local n = 0
  for _ in pairs(t) do
    n = n + 1
  end
  return n
end

for _, mode in ipairs({ "incremental", "generational" }) do
  collectgarbage(mode)
  print("mode", mode)
  -- Weak keys and values.
  for _, weak in ipairs({ "k", "v", "kv", "" }) do
    local t = setmetatable({}, { __mode = weak })
    local kept = {}
    for i = 1, 10 do
      t[{}] = i
      t[i] = {}
      t["s" .. i] = "string " .. i
      t[kept] = kept
    end
    collectgarbage()
    collectgarbage()
    print("weak " .. weak, count(t), t.s5, t[kept] == kept)
  end
  -- Ephemerons.
  do
    local e = setmetatable({}, { __mode = "k" })
    local key = {}
    e[key] = { key }
    local a, b = {}, {}
    e[a], e[b] = b, a
    a, b = nil, nil
    collectgarbage()
    collectgarbage()
    print("ephemerons", count(e), e[key][1] == key)
  end
  -- Finalizers: in reverse order, once, and with what they refer to.
  do
    local log = {}
    for i = 1, 5 do
      setmetatable({ n = i }, {
        __gc = function(o)
          log[#log + 1] = o.n
        end,
      })
    end
    collectgarbage()
    collectgarbage()
    print("finalizers", table.concat(log, " "))
    local saved
    setmetatable({ name = "risen" }, {
      __gc = function(o)
        saved = o
      end,
    })
    collectgarbage()
    print("resurrected", saved and saved.name)
    saved = nil
    collectgarbage()
    print("once", saved)
    local again = 0
    local mt = {}
    mt.__gc = function(o)
      again = again + 1
      if again < 3 then
        setmetatable(o, mt)
      end
    end
    setmetatable({}, mt)
    for _ = 1, 5 do
      collectgarbage()
    end
    print("marked again", again)
    local late = setmetatable({}, {})
    getmetatable(late).__gc = function()
      print("never called: was not marked")
    end
    late = nil
    collectgarbage()
  end
  -- In finalizers: coroutines, errors, allocation, the collector.
  do
    local log = {}
    setmetatable({}, {
      __gc = function()
        local co = coroutine.wrap(function(x)
          local y = coroutine.yield(x + 1)
          return y * 2
        end)
        log[#log + 1] = co(1)
        log[#log + 1] = co(5)
        log[#log + 1] = tostring(pcall(error, "x"))
        log[#log + 1] = tostring(collectgarbage("count") ~= nil)
        local t = {}
        for i = 1, 1000 do
          t[i] = { i }
        end
        log[#log + 1] = #t
        table.sort(t, function(a, b)
          return a[1] > b[1]
        end)
        log[#log + 1] = t[1][1]
      end,
    })
    collectgarbage()
    print("in a finalizer", table.concat(log, " "))
    setmetatable({}, {
      __gc = function()
        error("in a finalizer")
      end,
    })
    print("error", pcall(collectgarbage))
    local weak = setmetatable({}, { __mode = "v" })
    weak[1] = setmetatable({}, {
      __gc = function()
        log = weak[1]
      end,
    })
    collectgarbage()
    print("value of a finalized object", log, count(weak))
  end
  -- Coroutines, closures and their upvalues are collected.
  do
    local weak = setmetatable({}, { __mode = "v" })
    do
      local co = coroutine.create(function()
        local big = {}
        weak.inside = big
        coroutine.yield()
        return big
      end)
      coroutine.resume(co)
      weak.co = co
      local up = {}
      weak.up = up
      weak.f = function()
        return up
      end
    end
    collectgarbage()
    collectgarbage()
    print("collected", weak.co, weak.inside, weak.f, weak.up)
    local kept = coroutine.wrap(function()
      local t = {}
      weak.kept = t
      coroutine.yield()
      return t
    end)
    kept()
    collectgarbage()
    print("kept", type(weak.kept), kept() ~= nil)
  end
  -- Garbage does not pile up.
  do
    collectgarbage()
    local before = collectgarbage("count")
    for i = 1, os.getenv("STOCK_TEST_SHORT") and 500 or 50000 do
      local t = { i, tostring(i), { i } }
      t.f = function()
        return t
      end
    end
    collectgarbage()
    print("flat", collectgarbage("count") < before + 200)
    local chain
    for i = 1, 5000 do
      chain = { chain, i }
    end
    local n = 0
    while chain do
      chain, n = chain[1], n + 1
    end
    print("chain", n)
    local s = ""
    for i = 1, 500 do
      s = s .. i
    end
    print("string", #s)
  end
  -- A step at a time.
  do
    collectgarbage("stop")
    local gone = false
    setmetatable({}, {
      __gc = function()
        gone = true
      end,
    })
    for _ = 1, 1000 do
      collectgarbage("step", 10)
    end
    print("by steps", gone)
    collectgarbage("restart")
  end
end
collectgarbage(first)

-- What is left is finalized at the end, in reverse order.
last1 = setmetatable({}, {
  __gc = function()
    print("finalized at the end 1")
  end,
})
last2 = setmetatable({}, {
  __gc = function()
    print("finalized at the end 2", last1 ~= nil)
  end,
})
last3 = setmetatable({}, {
  __gc = function()
    print(
      "finalized at the end 3",
      pcall(coroutine.wrap(function()
        coroutine.yield()
      end))
    )
  end,
})
pending = coroutine.wrap(function()
  local c <close> = setmetatable({}, {
    __close = function()
      print("never printed")
    end,
  })
  coroutine.yield()
end)
pending()
local closed <close> = setmetatable({}, {
  __close = function()
    print("closed at the end")
  end,
})
