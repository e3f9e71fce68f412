-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- load with strings, functions and environments; dofile, require and package.

local folder = assert(os.tmpname())
os.remove(folder)
assert(os.execute("mkdir " .. folder))

local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
  file:write(text)
end
-- Without the name of the folder, which is another one each time.
local function clean(...)
  local values = table.pack(...)
  for i = 1, values.n do
    if type(values[i]) == "string" then
      local from = values[i]:find(folder, 1, true)
      while from do
        values[i] = values[i]:sub(1, from - 1) .. "FOLDER" .. values[i]:sub(from + #folder)
        from = values[i]:find(folder, 1, true)
      end
    end
  end
  return table.unpack(values, 1, values.n)
end

-- load: strings.
print(load("return 1 + 1")())
print(load("return ...")(1, nil, 3))
print(load("x = 1 return x", "=name", "t", {})())
print(select("#", load("return")()))
print(load("syntax error"))
print(load("return 1", "=n", "b"))
print(load(
  string.dump(function()
    return 1
  end),
  "=n",
  "t"
))
print(load(
  string.dump(function()
    return 1
  end),
  "=n",
  "b"
)())
print(load(
  string
    .dump(function()
      return 1
    end)
    :sub(1, 20),
  "=cut"
))
print(load("\27LuaXXXX", "=bad"))
print(pcall(load))
print(pcall(load, nil))
print(pcall(load, 1))
print(pcall(load, "return 1", {}))
print(load("return _ENV", "=n", "t", 5)())
print(load("return x", "=n", "t", { x = "from env" })())
print(pcall(load("return x", "=n", "t", nil)))
do
  local env = setmetatable({}, { __index = _G })
  load("y = tostring(5) function z() return y end", "=n", "t", env)()
  print(env.y, env.z(), y, z)
  local f = load("local a = ... return function() return a, b end", "=n", "t", { b = "b" })
  print(f("a")())
  print(debug.getupvalue(f, 1) == "_ENV", debug.setupvalue(f, 1, { b = "other" }), f("c")())
end

-- load: readers.
local function reader(parts)
  local i = 0
  return function()
    i = i + 1
    return parts[i]
  end, function()
    return i
  end
end
for _, parts in ipairs({
  { "return ", "1", " + ", "2" },
  { "return 1" },
  {},
  { "", "return 1" },
  { "retu", "rn 'sp", "lit'" },
  { "local x = 5\n", "local y = 6\n", "return x", " * y" },
  { "return [[", "long\n", "text", "]]" },
  { "syntax ", "error" },
}) do
  local read, calls = reader(parts)
  local f, problem = load(read, "=parts")
  print(#parts, f and select("#", f()), f and f(), problem, calls())
end
print(load(function()
  error("reader fails", 0)
end))
print(load(function()
  return {}
end))
print(load(function()
  return true
end))
do
  local i = 0
  local f = load(function()
    i = i + 1
    if i <= 200 then
      return "x" .. i .. " = " .. i .. "\n"
    elseif i == 201 then
      return "return x1 + x200"
    end
  end, "=many", "t", {})
  print(f(), i)
  local binary = string.dump(function(a)
    return a * 2
  end)
  local position = 0
  f = load(function()
    position = position + 1
    return position <= #binary and binary:sub(position, position) or nil
  end, "=binary", "b")
  print(f(21))
  -- A reader that loads, and one that runs coroutines.
  local outer = load((function()
    local done
    return function()
      if done then
        return nil
      end
      done = true
      local parts = {}
      for w in
        coroutine.wrap(function()
          coroutine.yield("return ")
          coroutine.yield(load("return 5")())
        end)
      do
        parts[#parts + 1] = w
      end
      return table.concat(parts)
    end
  end)())
  print(outer())
  print(load(coroutine.wrap(function()
    for _, part in ipairs({ "return ", "'from a", " coroutine'" }) do
      coroutine.yield(part)
    end
  end))())
  print(select(
    2,
    pcall(
      load,
      coroutine.wrap(function()
        error("in the coroutine", 0)
      end)
    )
  ))
end

-- Files.
write("plain.lua", "return 'plain', ...")
write("shebang.lua", "#!/usr/bin/lua\nreturn debug.getinfo(1, 'l').currentline")
write("fails.lua", "\nerror('in the file')")
write("syntax.lua", "local = 1")
write("globals.lua", "made_by_file = 'made' return _ENV ~= nil")
write(
  "binary.luac",
  string.dump(function(...)
    return "binary", ...
  end)
)
write("empty.lua", "")
write("bom.lua", "\xef\xbb\xbfreturn 'after a mark'")
for _, name in ipairs({
  "plain.lua",
  "shebang.lua",
  "fails.lua",
  "syntax.lua",
  "globals.lua",
  "binary.luac",
  "empty.lua",
  "bom.lua",
  "none.lua",
}) do
  print(name, clean(pcall(dofile, folder .. "/" .. name)))
  local f, problem = loadfile(folder .. "/" .. name)
  print(name, type(f), clean(problem))
  if f then
    print("", clean(pcall(f, "a", "b")))
  end
  print(name, clean(select(2, loadfile(folder .. "/" .. name, "b"))))
end
print(made_by_file)
do
  local env = {}
  loadfile(folder .. "/globals.lua", "t", env)()
  print(env.made_by_file)
end

-- require.
local path, cpath = package.path, package.cpath
package.path = folder .. "/?.lua;" .. folder .. "/?/init.lua"
package.cpath = folder .. "/?.so"
os.execute("mkdir " .. folder .. "/sub " .. folder .. "/pack")
write("first.lua", "print('loading', (...)) return { name = ..., loads = (loads or 0) }")
write(
  "sub/second.lua",
  "print('loading', (...)) local first = require('first') return { first = first }"
)
write("pack/init.lua", "print('loading', (...)) return 'package'")
write("nothing.lua", "print('loading', (...))")
write("is_false.lua", "return false")
write("raises.lua", "error('while loading')")
write("raises_table.lua", "error({ code = 7 })")
write("bad_syntax.lua", "return = 1")
write("sets.lua", "package.loaded[...] = 'set by itself'")
write(
  "circle_a.lua",
  "print('a begins') local b = require('circle_b') print('a ends') return 'a' .. tostring(b)"
)
write(
  "circle_b.lua",
  "print('b begins') local ok, e = pcall(require, 'circle_c') return 'b' .. tostring(ok)"
)
write(
  "yields.lua",
  "local ok, e = pcall(coroutine.yield, 1) return tostring(ok) .. ' ' .. tostring(e)"
)
write(
  "in_coroutine.lua",
  "local co = coroutine.wrap(function() coroutine.yield('inner') return 'end' end) return { co(), co() }"
)
write(
  "closes.lua",
  "local c <close> = setmetatable({}, { __close = function() print('module closed') end }) return 5"
)
write("deep.lua", "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(100)")
do
  local first, where = require("first")
  print(first.name, clean(where))
  print(require("first") == first, select("#", require("first")), (select(2, require("first"))))
  print(require("sub.second").first == first, package.loaded.first == first)
end
for _, name in ipairs({
  "pack",
  "nothing",
  "is_false",
  "sets",
  "circle_a",
  "yields",
  "closes",
  "deep",
  "raises",
  "bad_syntax",
  "absent",
  "absent.sub",
}) do
  print(name, clean(pcall(require, name)))
  print(name, clean(pcall(require, name)))
  print(name, tostring(package.loaded[name]))
end
print(select(2, pcall(require, "raises_table")).code)
print(table.concat(require("in_coroutine"), " "))
print(coroutine.wrap(function()
  package.loaded.yields = nil
  return require("yields")
end)() ~= nil)
package.preload.preloaded = function(...)
  print("preload", ...)
  return "preloaded value"
end
print(require("preloaded"))
print(require("preloaded"))
table.insert(package.searchers, 2, function(name)
  if name:match("^made%.") then
    return function(...)
      return "made for " .. table.concat({ ... }, " ")
    end, "extra"
  end
  return "\n\tno made '" .. name .. "'"
end)
print(require("made.up"))
print(clean(pcall(require, "unmade")))
table.remove(package.searchers, 2)
print(clean(package.searchpath("first", package.path)))
print(clean(package.searchpath("absent", package.path)))
print(package.searchpath("a.b", "?.x;?/y", ".", "/"))
print(package.searchpath("a-b", "?.x", "-", "+"))
print(clean(package.loadlib(folder .. "/none.so", "f")))
print(#package.searchers, package.config:sub(1, 1), type(package.loaded), package.loaded._G == _G)
do
  local searchers = package.searchers
  package.searchers = nil
  print(pcall(require, "x"))
  package.searchers = searchers
  package.path = nil
  print(pcall(require, "x"))
end
package.path, package.cpath = path, cpath

os.execute("rm -r " .. folder)
