-- SPDX-License-Identifier: MIT
-- The options of spawn: name, daemon, env, libs, seed.
-- luacheck: globals OfEnv x t f y_of_test config_of_test
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

-- The first argument is opts exactly if it is a table.
do
  expect(pack(shoal.spawn({}, "return ...", { 1 }):join()), true, { 1 })
  expect(
    pack(shoal.spawn("return ...", { name = "no option" }):join()),
    true,
    { name = "no option" }
  )
end

-- name: any string.
do
  for _, name in ipairs({ "a", "with blanks", "a\nb", ("x"):rep(1000), "ümlaut" }) do
    local p = shoal.spawn({ name = name }, function()
      return require("shoal").self().name
    end)
    assert(p.name == name and p:result() == name)
  end
end

-- env: globals are copied in, at the time of spawn.
do
  local env = { x = 1, t = { 2 }, f = string.format, print = "mine" }
  local p = shoal.spawn({ env = env }, function()
    x = x + 1
    return x, t[1], f == string.format, print, type(pairs)
  end)
  env.x = 100
  expect(pack(p:join()), true, 2, 2, true, "mine", "function")
  -- Functions in it see the globals of the new process.
  function OfEnv()
    return y_of_test
  end
  local q = shoal.spawn({ env = { y_of_test = 7, OfEnv = OfEnv } }, function()
    return OfEnv()
  end)
  assert(q:result() == 7)
  -- Its children do not inherit them.
  local r = shoal.spawn({ env = { y_of_test = 7 } }, function()
    return require("shoal").spawn("return y_of_test"):join()
  end)
  expect(pack(r:join()), true, true, nil)
end

-- env = _G: all that a fresh process lacks.
do
  config_of_test = { level = 3 }
  local p = shoal.spawn({ env = _G }, function()
    return config_of_test.level, OfEnv ~= nil, string.format ~= nil, _G == _ENV
  end)
  expect(pack(p:join()), true, 3, true, true, true)
  config_of_test = coroutine.create(print)
  local err = expect_error("cannot send a coroutine", shoal.spawn, { env = _G }, "")
  assert(err:find("config_of_test", 1, true) and err:find("env", 1, true), err)
  config_of_test, OfEnv = nil, nil
end

-- libs: the base functions are always there, the libraries as listed.
do
  local p = shoal.spawn({ libs = { "string", "math" } }, function()
    local found = {}
    local libraries = { "string", "math", "table", "io", "os", "coroutine", "debug", "utf8" }
    for _, name in ipairs(libraries) do
      found[name] = _G[name] ~= nil
    end
    local missing = package == nil or package.loaded.io == nil
    return found, type(pcall), (pcall(require or error, "shoal")), missing
  end)
  local found, base, has_shoal, missing = p:result()
  assert(support.same(found, {
    string = true,
    math = true,
    table = false,
    io = false,
    os = false,
    coroutine = false,
    debug = false,
    utf8 = false,
  }))
  assert(base == "function" and has_shoal == false and missing)
  -- With "shoal" in the list.
  assert(shoal
    .spawn({ libs = { "shoal" } }, function()
      return require("shoal").self().id
    end)
    :result() > 1)
  -- "*" and the default: all.
  for _, libs in ipairs({ "*", false }) do
    local all = shoal
      .spawn({ libs = libs or nil }, function()
        return io and os and debug and require("shoal") and true
      end)
      :result()
    assert(all == true)
  end
  assert(shoal.spawn({ libs = {} }, "return string == nil and type(pcall)"):result() == "function")
  -- They are bounds for all descendants.
  local child = shoal.spawn({ libs = { "shoal", "string" } }, function()
    local s = require("shoal")
    local ok, err = pcall(s.spawn, { libs = { "io" } }, "")
    local inherited = s.spawn("return io == nil and string ~= nil"):result()
    local fewer = s.spawn({ libs = {} }, "return string == nil"):result()
    local star = s.spawn({ libs = "*" }, "return io == nil"):result()
    return ok, err, inherited, fewer, star
  end)
  local ok, err, inherited, fewer, star = child:result()
  assert(ok == false and err:find("'io'", 1, true), err)
  assert(inherited and fewer and star)
  -- A message cannot bring in what the process may not have.
  local smuggled = shoal.spawn({ libs = { "string" } }, function(f)
    return pcall(f, "HOME")
  end, os.getenv)
  assert(smuggled:result() == false)
end

-- seed: the same numbers, and different ones without it.
do
  local function draw()
    local t = {}
    for i = 1, 5 do
      t[i] = math.random(1 << 40)
    end
    return t
  end
  local a = shoal.spawn({ seed = 42 }, draw):result()
  local b = shoal.spawn({ seed = 42 }, draw):result()
  local c = shoal.spawn({ seed = 43 }, draw):result()
  local d, e = shoal.spawn(draw):result(), shoal.spawn(draw):result()
  assert(support.same(a, b) and not support.same(a, c))
  assert(not support.same(d, e) and not support.same(d, a))
  local same =
    { shoal.spawn({ seed = -1 }, draw):result(), shoal.spawn({ seed = -1 }, draw):result() }
  assert(support.same(same[1], same[2]))
end

-- daemon: see exit_status.lua; it can be joined as any other.
assert(shoal.spawn({ daemon = true }, "return 1"):result() == 1)
assert(shoal.spawn({ daemon = false }, "return 1"):result() == 1)

-- The options are for one spawn, and stay as they are.
do
  local options = { name = "shared", env = { z = 1 } }
  local a, b = shoal.spawn(options, "return z"), shoal.spawn(options, "return z")
  assert(a:result() == 1 and b:result() == 1 and options.name == "shared" and options.env.z == 1)
end
