-- SPDX-License-Identifier: MIT
-- However a process has changed its state, it ends, and what has a finalizer is told.
local shoal = require("shoal")
local support = require("support")

local bodies = {
  function() -- the registry is emptied
    local registry = debug.getregistry()
    for key in pairs(registry) do
      if type(key) ~= "number" then
        registry[key] = nil
      end
    end
  end,
  function()
    local registry = debug.getregistry()
    for key in pairs(registry) do
      if type(key) == "number" and key > 2 then
        registry[key] = nil
      end
    end
  end,
  function() -- all globals go
    local globals = _G
    for key in pairs(globals) do
      globals[key] = nil
    end
  end,
  function() -- what all processes have is collected
    _G.io, _G.os, _G.string = nil, nil, nil
    package.loaded.io, package.loaded.os, package.loaded.string = nil, nil, nil
    debug.getregistry()["FILE*"] = nil
    collectgarbage()
    collectgarbage()
  end,
  function()
    setmetatable(string, { __gc = function() end })
  end,
  function()
    getmetatable("").__index = nil
  end,
  function()
    collectgarbage("generational")
    local list = {}
    for i = 1, 3000 do
      list[i % 100] = { i }
    end
    return #list
  end,
  function()
    local co = coroutine.create(function()
      local _ <close> = setmetatable({}, { __close = function() end })
      coroutine.yield()
    end)
    coroutine.resume(co)
  end,
  function()
    debug.sethook(function() end, "l")
    local sum = 0
    for i = 1, 100 do
      sum = sum + i
    end
    return sum
  end,
  function()
    return #require("cjson").encode({ 1, 2, 3 })
  end, -- a C module
  function() -- larger than what its state began with
    local list = {}
    for i = 1, 30 do
      list[i] = ("x"):rep(i * 1000)
    end
    return #list
  end,
  function()
    local here = require("shoal").channel()
    here:send(1, 2)
    return here
  end,
}

for _ = 1, support.scaled(40) do
  for i, body in ipairs(bodies) do
    local ok, problem = shoal.spawn(body):join()
    assert(ok, ("body %d: %s"):format(i, tostring(problem)))
  end
end

-- A file that nobody has closed has all that was written.
local name = os.tmpname()
for i = 1, support.scaled(40) do
  shoal
    .spawn(function(path, text)
      io.open(path, "w"):write(text)
    end, name, "text " .. i)
    :result()
  local file <close> = assert(io.open(name))
  assert(file:read("a") == "text " .. i)
end
os.remove(name)

-- Finalizers are called once, whenever they were set. (At the end they must not wait, as send may.)
local told = shoal.channel()
for i = 1, support.scaled(40) do
  shoal
    .spawn(function(ch, count)
      for k = 1, count do
        setmetatable({}, {
          __gc = function()
            ch:incr("sum", k)
          end,
        })
        if k == 2 then
          collectgarbage()
        end
      end
      _G.kept = setmetatable({}, {
        __gc = function()
          ch:incr("calls")
        end,
      })
    end, told, i % 5)
    :result()
  assert(told:get("calls") == i)
  assert((told:get("sum") or 0) == (i % 5) * (i % 5 + 1) // 2)
  told:set("sum", 0)
end
