-- SPDX-License-Identifier: MIT
-- shoal.configure and shoal.compat in a host.
local shoal = require("shoal")
local support = require("support")

local function run(source, before)
  local status, out, err = support.run('local shoal = require("shoal")\n' .. source, before)
  assert(status == 0, err)
  return out, err
end

-- Bad input changes nothing.
for expected, options in pairs({
  ["'workers' must be a number of workers from 1 to 1024"] = "{ workers = 0 }",
  ["'workers' must be a number"] = "{ workers = 1.5 }",
  ["'limit' is not a non-negative integer"] = "{ limit = -1 }",
  ["'queue_memory' must be a positive number of bytes"] = '{ queue_memory = "1M" }',
  ["'log' must be \"off\""] = '{ log = "loud" }',
  ["shutdown_timeout"] = "{ shutdown_timeout = -1 }",
  ["'signal' must be the number of a signal that can be caught"] = "{ signal = 9 }",
  ["there is no option 'worker' (workers, limit"] = "{ worker = 1 }",
  ["there is no option '(not a string)'"] = "{ 1 }",
  ["table expected"] = "",
}) do
  local out = run(("print(pcall(shoal.configure, %s))"):format(options ~= "" and options or "nil"))
  assert(out:find("^false\t") and out:find(expected, 1, true), out)
end

assert(run("print(shoal.workers())", "SHOAL_WORKERS=3") == "3\n")
assert(run("shoal.configure{ workers = 5 } print(shoal.workers())", "SHOAL_WORKERS=3") == "5\n")
local _, _, complaint = support.run('require("shoal")', "SHOAL_WORKERS=many")
assert(complaint:find("SHOAL_WORKERS must be a number of workers from 1 to 1024, not 'many'"))

assert(run([[
  shoal.configure{ limit = 2 }
  local channel, named = shoal.channel(), shoal.channel("named")
  print(channel:limit("key"), named:limit("key"), shoal.channel({ limit = 7 }):limit("key"))
  print(channel:send_for(0, "key", 1), channel:send_for(0, "key", 1))
  print(channel:send_for(0, "key", 1))
]]) == "2\t2\t7\ntrue\ttrue\nnil\ttimeout\n")

local source = 'shoal.spawn(function() error("seen?") end)'
assert(select(2, run(source)):find("seen?"))
assert(select(2, run('shoal.configure{ log = "off" }\n' .. source)) == "")

-- Without signals, slices end all the same.
local fair = [[
  local busy = shoal.spawn({ daemon = true }, function() while true do end end)
  print(shoal.spawn(function() return "fair" end):result())
]]
assert(run("shoal.configure{ workers = 1, signal = false }\n" .. fair) == "fair\n")
assert(run("shoal.configure{ workers = 1, signal = 12 }\n" .. fair) == "fair\n")

-- Those who are cancelled at the end have the time that is set.
assert(run([[
  shoal.configure{ shutdown_timeout = 0.01 }
  shoal.spawn({ daemon = true }, function()
    local closed <close> = setmetatable({}, { __close = function()
      require("shoal").sleep(30)
    end })
    require("shoal").sleep(60)
  end)
  shoal.sleep(0.05)
]]) == "")

-- After the first use, it raises.
assert(shoal.workers() > 0)
support.expect_error("before the first use", shoal.configure, { workers = 1 })
-- In processes always.
support.expect_error("for hosts", function()
  shoal
    .spawn(function()
      require("shoal").configure({})
    end)
    :result()
end)

-- compat: the wrapper of the tests has asked for "socket".
assert(require("socket.core")._VERSION:find("Shoal"))
shoal.compat("socket")
support.expect_error(
  "there is no drop-in 'sockets' (there are: socket, lanes",
  shoal.compat,
  "sockets"
)
support.expect_error("string expected", shoal.compat, {})
shoal
  .spawn(function()
    require("shoal").compat("socket")
    assert(require("socket.core")._VERSION:find("Shoal"))
  end)
  :result()

-- Without it, the names are those of the libraries.
local core = support.temporary()
os.remove(core.path)
local folder = core.path .. ".d"
assert(os.execute(("mkdir -p '%s/socket'"):format(folder)))
support.write_file(folder .. "/socket/core.lua", 'return { _VERSION = "theirs" }')
local stock = ([[
  cd '%s' && LD_PRELOAD=$SANITIZER_LIBRARY LUA_PATH='%s/?.lua;;' lua5.4 -e '
    local shoal = require("shoal")
    %%s
    print(require("socket.core")._VERSION)
    print(shoal.spawn(function() return require("socket.core")._VERSION end):result())
    print(pcall(shoal.compat, "socket"))']]):format(folder, folder)
local function stock_run(before)
  local pipe <close> = assert(io.popen(stock:format(before)))
  return pipe:read("a")
end
local theirs = stock_run("")
assert(theirs:find("^theirs\nLuaSocket [%d.]+ %(Shoal%)\nfalse\t.*loaded already"), theirs)
local ours = stock_run('shoal.compat("socket")')
assert(ours:find("^LuaSocket [%d.]+ %(Shoal%)\nLuaSocket [%d.]+ %(Shoal%)\ntrue\n$"), ours)
-- The supervisor is found without loading "shoal" first.
local direct = io.popen([[LD_PRELOAD=$SANITIZER_LIBRARY lua5.4 -e '
  print(type(require("shoal.supervisor").start), package.loaded.shoal == require("shoal"))']])
assert(direct:read("a") == "function\ttrue\n")
direct:close()
os.execute(("rm -r '%s'"):format(folder))
