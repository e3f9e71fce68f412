-- SPDX-License-Identifier: MIT
-- The places where Lua code runs below C code, for waits_everywhere.lua; see waiting_places.lua.
-- Those that start with "alone: " change what all tasks share.
local foreign = require("foreign")

return function(places, value)
  -- Where Lua cannot suspend ----------------------------------------------------------------------

  places["a sort comparator"] = function(wait)
    local t = { 5, 2, 8, 1, 9, 3 }
    table.sort(t, function(a, b)
      return wait(a) < wait(b)
    end)
    assert(table.concat(t, " ") == "1 2 3 5 8 9")
  end

  places["__lt in a sort"] = function(wait)
    local mt = {
      __lt = function(a, b)
        return wait(a.n) < b.n
      end,
    }
    local t = {}
    for i, n in ipairs({ 3, 1, 2 }) do
      t[i] = setmetatable({ n = n }, mt)
    end
    table.sort(t)
    assert(t[1].n == 1 and t[2].n == 2 and t[3].n == 3)
  end

  places["a gsub function"] = function(wait)
    local text = ("abc"):gsub("%a", function(c)
      return wait(c:upper())
    end)
    assert(text == "ABC")
  end

  places["__index of a gsub table"] = function(wait)
    local text = ("abc"):gsub(
      "%a",
      setmetatable({}, {
        __index = function(_, c)
          return wait(c .. c)
        end,
      })
    )
    assert(text == "aabbcc")
  end

  places["__tostring"] = function(wait)
    local x = setmetatable({}, {
      __tostring = function()
        return wait("text")
      end,
    })
    assert(tostring(x) == "text")
    assert(("%s|%s"):format(x, x) == "text|text")
  end

  places["a load reader"] = function(wait)
    local parts, i = { "return ", "3", " + 4" }, 0
    local f = assert(load(function()
      i = i + 1
      return parts[i] and wait(parts[i])
    end))
    assert(f() == 7)
  end

  places["an xpcall handler"] = function(wait)
    local ok, err = xpcall(error, function(message)
      return wait(message .. "!")
    end, "x")
    assert(not ok and err == "x!")
  end

  places["an error in an xpcall handler"] = function(wait)
    local times = 0
    local ok = xpcall(error, function()
      times = times + 1
      wait(1)
      if times < 3 then
        error("again")
      end
      return "enough"
    end, "x")
    assert(not ok and times == 3)
  end

  places["__gc"] = function(wait)
    local got
    setmetatable({}, {
      __gc = function()
        got = wait(7)
      end,
    })
    collectgarbage()
    collectgarbage()
    -- With other tasks, the finalizer may have been called, and wait, in one of those.
    while got == nil do
      require("shoal").yield()
    end
    assert(got == 7)
  end

  value("__index under ipairs", function(wait)
    local x = setmetatable({}, {
      __index = function(_, i)
        return i < 4 and wait(i) or nil
      end,
    })
    local sum = 1
    for _, v in ipairs(x) do
      sum = sum + v
    end
    return sum
  end)

  value("__lt under math.max", function(wait)
    return math.max(wait(3), wait(7))
  end)

  places["__index and __len under table functions"] = function(wait)
    local items = { "a", "b", "c" }
    local x = setmetatable({}, {
      __index = function(_, i)
        return items[i] and wait(items[i])
      end,
      __len = function()
        return wait(#items)
      end,
      __newindex = function(_, i, v)
        items[i] = v and wait(v)
      end,
    })
    assert(table.concat(x, "-") == "a-b-c")
    assert(select("#", table.unpack(x)) == 3)
    table.insert(x, "d")
    assert(#items == 4 and table.remove(x) == "d")
    assert(table.concat(table.move(x, 1, 3, 1, {})) == "abc")
  end

  places["a hook"] = function(wait)
    local co = coroutine.create(function()
      local x = 1
      x = x + 1
      return x
    end)
    local lines = 0
    debug.sethook(co, function()
      lines = lines + wait(1)
    end, "l")
    assert(select(2, coroutine.resume(co)) == 2)
    assert(lines >= 3, lines)
  end

  -- Modules ---------------------------------------------------------------------------------------

  local modules = 0

  local function fresh_name()
    modules = modules + 1
    return "module_of_waits_" .. modules
  end

  value("the body of a module", function(wait)
    local name = fresh_name()
    package.preload[name] = function(given)
      assert(given == name)
      return { wait(7) }
    end
    local got, extra = require(name)
    assert(extra == ":preload:" and require(name) == got)
    return got[1]
  end)

  value("the body of a module, required by two tasks", function(wait)
    local name = fresh_name()
    local loads = 0
    package.preload[name] = function()
      loads = loads + 1
      return { wait(7) }
    end
    local function load_it()
      return require(name)
    end
    local a = require("shoal").task(load_it)
    local b = require("shoal").task(load_it)
    local got = require(name)
    assert(a:result() == got and b:result() == got and loads == 1)
    return got[1]
  end)

  places["the body of a module that fails"] = function(wait)
    local name = fresh_name()
    local loads = 0
    package.preload[name] = function()
      loads = loads + 1
      wait(1)
      error("not today")
    end
    local ok, err = pcall(require, name)
    assert(not ok and err:find("not today", 1, true))
    assert(not pcall(require, name) and loads == 2 and package.loaded[name] == nil)
  end

  places["alone: a searcher"] = function(wait)
    local name = fresh_name()
    local function searcher(wanted)
      if wait(wanted) == name then
        return function(...)
          wait(1)
          return { ... }
        end, wait("data")
      end
      return "no"
    end
    table.insert(package.searchers, 2, searcher)
    local got, extra = require(name)
    table.remove(package.searchers, 2)
    assert(got[1] == name and got[2] == "data" and extra == "data")
  end

  places["alone: __index of package.path's table"] = function(wait)
    local preload = package.preload
    local name = fresh_name()
    setmetatable(preload, {
      __index = function(_, key)
        if key == name then
          return function()
            return wait(7)
          end
        end
      end,
    })
    local got = require(name)
    setmetatable(preload, nil)
    assert(got == 7)
  end

  -- Code in C -------------------------------------------------------------------------------------

  value("a call from C", function(wait)
    return foreign.call(wait, 7)
  end)

  value("a call from C with a continuation", function(wait)
    return foreign.callk(wait, 7)
  end)

  places["a protected call from C"] = function(wait)
    local ok, got = foreign.pcall(wait, 7)
    assert(ok and got == 7)
    local failed, err = foreign.pcall(function()
      wait(1)
      error({ 7 })
    end)
    assert(not failed and err[1] == 7)
  end

  value("a call from C in a call from C", function(wait)
    return foreign.call(pcall, foreign.call, wait, 7) and foreign.call(foreign.callk, wait, 7)
  end)

  places["a coroutine that C resumes"] = function(wait)
    local yields, got, more = foreign.run(function(a)
      wait(a)
      coroutine.yield(wait(1))
      wait(2)
      coroutine.yield()
      return wait(a), "more"
    end, 7)
    assert(yields == 2 and got == 7 and more == "more", yields)
    assert(not pcall(foreign.run, function()
      wait(1)
      error("x")
    end))
  end

  places["a coroutine of Lua, that C resumes"] = function(wait)
    local co = coroutine.create(function(a)
      local b = coroutine.yield(wait(a) + 1)
      return wait(b) + 1
    end)
    local ok, got = foreign.resume(co, 1)
    assert(ok and got == 2 and coroutine.status(co) == "suspended")
    ok, got = coroutine.resume(co, 5)
    assert(ok and got == 6 and coroutine.status(co) == "dead")
  end

  places["our coroutine in one that C resumes"] = function(wait)
    local yields, got = foreign.run(function()
      local inner = coroutine.wrap(function()
        coroutine.yield(wait(3))
        return wait(4)
      end)
      coroutine.yield()
      return inner() + inner()
    end)
    assert(yields == 1 and got == 7)
  end

  places["one that C resumes in our coroutine"] = function(wait)
    local outer = coroutine.wrap(function()
      local yields, got = foreign.run(function()
        coroutine.yield(wait(1))
        return wait(7)
      end)
      coroutine.yield(yields)
      return wait(got)
    end)
    assert(outer() == 1 and outer() == 7)
  end

  places["a yield of C in our coroutine"] = function(wait)
    local co = coroutine.wrap(function()
      local got = foreign.yield(wait(1))
      return wait(got)
    end)
    assert(co() == 1 and co(7) == 7)
  end
end
