-- SPDX-License-Identifier: MIT
-- How a host ends: its script, an error, os.exit there and in processes, and what still runs then.
local support = require("support")

local function check(source, status, output, errors, before)
  local got, out, err = support.run('local shoal = require("shoal")\n' .. source, before)
  assert(got == status, ("status %s, expected %s: %s\n%s"):format(got, status, source, err))
  assert(out == output, ("output %q, expected %q: %s"):format(out, output, source))
  if errors then
    assert(err:find(errors), ("stderr %q, expected %q: %s"):format(err, errors, source))
  else
    assert(err == "", ("stderr %q: %s"):format(err, source))
  end
end

-- Without a use, and with nothing left to do.
check("", 0, "")
check('print(shoal.spawn(function() return "done" end):result())', 0, "done\n")

-- The end of the script, and an error, wait for processes; for daemons they do not.
local slow = [[
  shoal.spawn(function() require("shoal").sleep(0.1) print("slow") end)
]]
check(slow, 0, "slow\n")
check(slow .. 'error("of the script")', 1, "slow\n", "of the script\nstack traceback")
check(
  [[
    local ch = shoal.channel()
    shoal.spawn({ daemon = true }, function()
      local closed <close> = setmetatable({}, { __close = function() print("cancelled") end })
      ch:send("runs", true)
      require("shoal").sleep(60)
    end)
    ch:receive("runs")
  ]],
  0,
  "cancelled\n"
)

-- What waits for what will never come is cancelled, quietly.
check(
  [[
    local channel = shoal.channel()
    local waiter = shoal.spawn(function() channel:receive("key") end)
    while waiter:status() ~= "waiting" do shoal.yield() end
  ]],
  0,
  ""
)

-- An error that nobody has joined is reported; the status is the interpreter's.
check('shoal.spawn(function() error("unjoined") end)', 0, "", "^shoal: process 1: .*unjoined\n")
check(
  [[
    local failed = shoal.spawn(function() error("joined") end)
    print((failed:join()))
  ]],
  0,
  "nil\n"
)

-- Who takes long is named, once.
check(
  [[
    shoal.spawn({ name = "snail" }, function()
      require("support").until_reported("the state has been closed")
    end)
  ]],
  0,
  "",
  "^shoal: the state has been closed, and waits for 1 process:\n  process 1 %(snail%): [^\n]+\n$"
)

-- os.exit cancels first, and waits for no more than a second for those who do not end.
local busy = "shoal.spawn(function() while true do end end)\n"
check(busy .. "os.exit(3)", 3, "")
check(busy .. "os.exit(true, true)", 0, "")
check(busy .. "os.exit(false)", 1, "")
check("os.exit(4, true)", 4, "")
check("shoal.task(function() os.exit(5) end):join()", 5, "")
check("shoal.task(function() os.exit(6, true) end):join()", 6, "")
check("coroutine.wrap(function() os.exit(7, true) end)()", 7, "")
support.some_time("os.exit waits for a handler", function()
  local status, out, err = support.run([[
    local shoal = require("shoal")
    local ch = shoal.channel()
    shoal.spawn(function()
      local closed <close> = setmetatable({}, { __close = function() print("cancelled") end })
      ch:send("runs", true)
      require("shoal").sleep(60)
    end)
    ch:receive("runs")
    os.exit(8)
  ]])
  assert(status == 8 and err == "", err)
  return out == "cancelled\n"
end)
check(
  [[
    local ch = shoal.channel()
    shoal.spawn(function()
      local closed <close> = setmetatable({}, { __close = function()
        while true do end
      end })
      ch:send("runs", true)
      require("shoal").sleep(60)
    end)
    ch:receive("runs")
    os.exit(9, true)
  ]],
  9,
  ""
)

-- In a process, too, whatever the host does.
check("shoal.spawn(function() os.exit(10) end) shoal.sleep(60)", 10, "")
check("shoal.spawn(function() os.exit(11) end) while true do end", 11, "")
check("shoal.spawn(function() os.exit(12) end)", 12, "")
check("shoal.spawn(function() os.exit(false, true) end):join()", 1, "")

-- Finalizers that use the runtime: those made after it was loaded, and those from before. (Handles
-- that are made when the state is being closed are never collected by Lua.)
check(
  [[
    local made = setmetatable({}, { __gc = function()
      print(shoal.spawn(function() return "late" end):result())
      kept = shoal.channel()
    end })
  ]],
  0,
  "late\n",
  nil,
  "ASAN_OPTIONS=detect_leaks=0"
)
local status, out, err = support.run([[
  local old = setmetatable({}, { __gc = function()
    local shoal = package.loaded.shoal
    print(select(2, pcall(shoal.spawn, type, 1)))
    print(select(2, pcall(shoal.channel)))
    print(select(2, pcall(shoal.sleep, 1)))
    print(select(2, pcall(channel.send, channel, "key", 1)))
    os.exit(13)
  end })
  -- Here the runtime is loaded after the finalizer was set.
  package.loaded.shoal = nil
  channel = require("shoal").channel()
]])
-- The wrapper has loaded it before; so this finalizer comes first, and all works.
assert(status == 13 and err == "", err)
assert(out:find("^process: 1\n"), out)

-- What is made then may stand where something stood that has been collected.
check(
  [[
    local old = setmetatable({}, { __gc = function()
      local made, whole = {}, 0
      for i = 1, 200 do
        made[i] = shoal.channel()
        if tostring(made[i]):find("^channel: %d+$") then whole = whole + 1 end
      end
      print(whole)
    end })
    channels = {}
    for i = 1, 200 do channels[i] = shoal.channel() end
  ]],
  0,
  "200\n",
  nil,
  "ASAN_OPTIONS=detect_leaks=0"
)

-- A task that waits when the state is closed is dropped.
check(
  [[
    local channel = shoal.channel()
    shoal.task(function() channel:receive("key") end)
    shoal.task(function() shoal.sleep(60) end)
    shoal.task(function() string.gsub("x", "x", function() shoal.sleep(0.02) end) end)
    shoal.task(function() shoal.yield() error("never seen") end)
    shoal.sleep(0.01)
  ]],
  0,
  "",
  "never seen"
)
