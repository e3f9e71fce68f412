-- SPDX-License-Identifier: MIT
-- Modules and what they hold travel by name, and are required where they arrive.
local shoal = require("shoal")
local support = require("support")

local ch = shoal.channel()

local function in_process(f, ...)
  local outcome = table.pack(shoal.spawn(f, ...):join())
  if not outcome[1] then
    error(outcome[2], 2)
  end
  return table.unpack(outcome, 2, outcome.n)
end

-- The libraries, their functions, and the files of io.
do
  local got = table.pack(in_process(function(library, f, out)
    return library == string, f == string.format, out == io.stdout
  end, string, string.format, io.stdout))
  support.expect(got, true, true, true)
  support.expect(
    table.pack(in_process(function(a, b, c, d)
      return a == print, b == _G.pcall, c == shoal, d == shoal.spawn
    end, print, pcall, shoal, shoal.spawn)),
    true,
    true,
    true,
    true
  )
end

-- To depth 2: a function in a table of a module.
do
  package.preload.deep_module = function()
    local C = require("foreign")
    return { inner = { closure = C.closure("from the module"), kept = C.object() } }
  end
  local m = require("deep_module")
  local text, kind = in_process(function(f, object)
    local mine = require("deep_module")
    assert(f == mine.inner.closure and object == mine.inner.kept)
    return f(), type(object)
  end, m.inner.closure, m.inner.kept)
  assert(text == "from the module" and kind == "userdata")
end

-- A class of a module of one's own: instances keep their class, whoever loaded it.
package.preload.shape = function()
  local Shape = {}
  Shape.__index = Shape
  local count = 0
  function Shape.new(w, h)
    count = count + 1
    return setmetatable({ w = w, h = h }, Shape)
  end
  function Shape:area()
    return self.w * self.h
  end
  function Shape.__eq(a, b)
    return a.w == b.w and a.h == b.h
  end
  function Shape.count()
    return count
  end
  return Shape
end
local Shape = require("shape")
do
  local square = Shape.new(3, 3)
  local area, same_class, loaded, count = in_process(function(s)
    local loaded = package.loaded.shape ~= nil
    local S = require("shape")
    return s:area(), getmetatable(s) == S, loaded, S.count()
  end, square)
  assert(area == 9 and same_class and loaded and count == 0)
  -- There and back again it is of our class.
  local back = in_process(function(s)
    s.w = s.w * 2
    return s
  end, square)
  assert(getmetatable(back) == Shape and back:area() == 18 and back ~= square)
  -- Made there, used here; the module as an upvalue.
  local made = in_process(function()
    return Shape.new(2, 5)
  end)
  assert(made:area() == 10 and getmetatable(made) == Shape)
  -- A method of the class as a value.
  local times = in_process(function(f, s)
    return f(s)
  end, Shape.area, Shape.new(4, 4))
  assert(times == 16)
end

-- Lua functions of a module go by copy.
do
  local calls = 0
  package.preload.copying = function()
    return {
      call = function()
        calls = calls + 1
        return calls
      end,
    }
  end
  local f = require("copying").call
  f()
  local there, loaded = in_process(function()
    return f(), package.loaded.copying ~= nil
  end)
  assert(there == 2 and calls == 1)
  assert(loaded == false, "a Lua function needs no module")
end

-- Where a path is found: package.path, cpath and preload are those of the creator.
do
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  support.write_file(folder .. "/in_folder.lua", "local name, path = ... return { name, path }")
  package.path = folder .. "/?.lua;" .. package.path
  local name, path, same, csame = in_process(function(p, c)
    local m = require("in_folder")
    return m[1], m[2], package.path == p, package.cpath == c
  end, package.path, package.cpath)
  assert(name == "in_folder" and path == folder .. "/in_folder.lua" and same and csame)
  -- Their children, too.
  assert(in_process(function()
    return require("shoal")
      .spawn(function()
        return require("in_folder")[1]
      end)
      :result()
  end) == "in_folder")
  os.execute("rm -r " .. folder)
end

-- A C module loads in any process, and its userdata stay where they are.
assert(in_process(function()
  local foreign = require("foreign")
  return foreign.call(tostring, 7)
end) == "7")

-- What the receiver lacks arrives as a stand-in; the rest of the message is intact.
do
  local value = require("foreign")
  package.loaded.only_here = { f = value.call, t = setmetatable({}, {}), x = value.object() }
  local mine = package.loaded.only_here
  local p = shoal.spawn(function()
    local s = require("shoal")
    local before, f, after, list = s.channel("stand-ins"):receive("m")
    assert(before == "before" and after == "after" and list[2] == "two")
    for _, use in ipairs({
      function()
        return f()
      end,
      function()
        return list[1].x
      end,
      function()
        list[1].x = 1
      end,
      function()
        return #list[1]
      end,
      function()
        return f .. "x"
      end,
    }) do
      local ok, err = pcall(use)
      assert(not ok and tostring(err):find("only_here", 1, true), err)
    end
    return true
  end)
  local stand_ins = shoal.channel("stand-ins")
  stand_ins:send("m", "before", mine.f, "after", { mine.x, "two" })
  assert(p:result() == true)
  package.loaded.only_here = nil
end

-- So does a module that fails to load, and one that a process may not have.
do
  local script = shoal.self().id
  package.preload.failing = function()
    if require("shoal").self().id ~= script then
      error("no luck today")
    end
    return { f = require("foreign").closure(1) }
  end
  local f = require("failing").f
  local err = in_process(function(g)
    return select(2, pcall(g))
  end, f)
  assert(err:find("no luck today", 1, true), err)

  local ok, why = shoal
    .spawn({ libs = { "string", "shoal" } }, function(g, text)
      local done, message = pcall(g, text)
      return done, tostring(message)
    end, os.getenv, "HOME")
    :join()
  assert(ok and why == false)
end

-- The module of a message is loaded by the task that receives it, and may wait in its body.
do
  package.preload.waits_while_loading = function()
    local s = require("shoal")
    s.sleep(0.01)
    s.yield()
    return { f = require("foreign").closure("loaded") }
  end
  local f = require("waits_while_loading").f
  local text, batch = in_process(
    function(c)
      local got = c:receive("slow")
      local list = c:receive_batch("slow", 10)
      assert(list.n == 2 and list[1] == got)
      local key, any = c:receive_any({ "none", "other" })
      assert(key == "other" and any == got)
      assert(c:get("kept") == got)
      return got(), list[2]()
    end,
    (function()
      ch:send("slow", f)
      ch:send("slow", f)
      ch:send("slow", f)
      ch:send("other", f)
      ch:send("kept", f)
      return ch
    end)()
  )
  assert(text == "loaded" and batch == "loaded")
end
