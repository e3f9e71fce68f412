-- SPDX-License-Identifier: MIT
-- needs: the program
-- How a program ends: its exit status, what it writes to stderr, and what is waited for.
local support = require("support")

-- Runs a program and checks the exit status; returns its output and error output.
local function ends(status, source, before)
  local got, out, err = support.run('local shoal = require "shoal"\n' .. source, before)
  if got ~= status then
    error(("status %s, not %s; stdout %q, stderr:\n%s"):format(got, status, out, err), 2)
  end
  return out, err
end

-- A quiet end.
local function ends_quietly(status, source)
  local out, err = ends(status, source)
  if err ~= "" then
    error("unexpected on stderr:\n" .. err, 2)
  end
  return out
end

local function has(text, ...)
  for _, part in ipairs({ ... }) do
    if not text:find(part, 1, true) then
      error(("%q is not in:\n%s"):format(part, text), 2)
    end
  end
end

assert(ends_quietly(0, "") == "")
assert(ends_quietly(0, "print(1) return 5") == "1\n")

-- The script fails --------------------------------------------------------------------------------

do
  local _, err = ends(1, "local function f() error('at line two') end\nf()")
  has(err, ":2: at line two", "stack traceback:", "in local 'f'", "in main chunk")
  assert(not err:find("process 1", 1, true), "the script's own error is as in lua")
  _, err = ends(1, "error{code = 5}")
  has(err, "(error object is a table value)")
  _, err = ends(1, "error(setmetatable({}, {__tostring = function() return 'my text' end}))")
  has(err, "my text")
  _, err = ends(1, "x = = 1")
  has(err, ":2:", "unexpected symbol near '='")
  _, err = ends(1, "error(nil)")
  has(err, "nil")
end

-- It does not wait for others then.
do
  local out, err = ends(
    1,
    [[
    shoal.spawn(function() require("shoal").sleep(1000) print("late") end)
    shoal.yield()
    error("first")
  ]]
  )
  has(err, "first")
  assert(out == "")
end

-- A process fails ---------------------------------------------------------------------------------

do
  -- Nobody joins it: reported soon, with name, place and traceback; status 1.
  local out, err = ends(
    1,
    [[
    local p = shoal.spawn({name = "worker"}, function() error("unjoined") end)
    require("support").until_reported("unjoined")
    print("end")
  ]]
  )
  has(err, "worker", ":2: unjoined", "stack traceback:")
  assert(out == "end\n")
  -- A table as the error.
  out, err = ends(1, "shoal.spawn(function() error{code = 5} end)")
  has(err, "(error object is a table value)")
  assert(out == "")
  out, err =
    ends(1, "shoal.spawn(error, setmetatable({}, {__tostring = function() return 'text' end}))")
  has(err, "text")
  assert(out == "")
end

-- A joiner gets it instead: nothing is reported, status 0.
ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  local p = shoal.spawn(function() ch:receive("go") error("joined") end)
  shoal.task(ch.send, ch, "go", true) -- runs when this waits
  local ok, err = p:join()
  assert(ok == nil and err:find("joined"))
]]
)
ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  local p = shoal.spawn(function() ch:receive("go") error("joined") end)
  shoal.task(ch.send, ch, "go", true)
  assert(not pcall(p.result, p))
]]
)
-- A later join still gets it; it has been reported, but the status is 0 again.
do
  local out, err = ends(
    0,
    [[
    local p = shoal.spawn(function() error("twice") end)
    require("support").until_reported("twice")
    print(p:status(), select("#", p:join()), (select(2, p:join())))
  ]]
  )
  has(err, "twice")
  has(out, "error\t3\t", "twice")
end
-- A join that timed out is none.
do
  local _, err = ends(
    1,
    [[
    local ch = shoal.channel()
    local p = shoal.spawn(function() ch:receive("go") error("too late") end)
    print(p:join(0.001))
    ch:send("go", true)
  ]]
  )
  has(err, "too late")
end

-- A daemon's error is reported, but is not the program's.
do
  local out, err = ends(
    0,
    [[
    local p = shoal.spawn({daemon = true}, function() error("of a daemon") end)
    while p:status() ~= "error" do shoal.yield() end
    print("end")
  ]]
  )
  has(err, "of a daemon")
  assert(out == "end\n")
end

-- A task's error is reported with its traceback; the process goes on, and its status is its own.
do
  local out, err = ends(
    0,
    [[
    shoal.task(function() error("of a task") end)
    shoal.yield()
    print("goes on")
  ]]
  )
  has(err, "of a task", "stack traceback:")
  assert(out == "goes on\n")
  ends_quietly(
    0,
    [[
    local t = shoal.task(function() shoal.yield() error("joined") end)
    assert(t:join() == nil)
  ]]
  )
end

-- What is waited for ------------------------------------------------------------------------------

-- A process that can still run, at any depth; a task; one that waits for time.
assert(ends_quietly(
  0,
  [[
  shoal.spawn(function()
    local s = require("shoal")
    s.spawn(function()
      local t = require("shoal")
      t.sleep(0.05)
      t.task(function() t.sleep(0.02) print("grandchild") end)
    end)
  end)
]]
) == "grandchild\n")
assert(ends_quietly(
  0,
  [[
  shoal.task(function() shoal.sleep(0.03) print("task") end)
]]
) == "task\n")
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function() print(ch:receive("k", 0.03)) end)
]]
) == "nil\ttimeout\n")
assert(ends_quietly(0, [[
  shoal.spawn(function(turns)
    local n = 0
    for i = 1, turns do n = n + i end
    print("busy")
  end, ]] .. support.scaled(3e6) .. ")") == "busy\n")

-- When nothing can run any more, the rest is cancelled quietly: no error, and close handlers run.
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  for i = 1, 3 do
    shoal.spawn(function()
      local x <close> = setmetatable({}, {__close = function(_, e)
        print("closed", e == require("shoal").cancelled)
      end})
      ch:receive("never")
      print("not reached")
    end)
  end
]]
) == ("closed\ttrue\n"):rep(3))
-- pcall does not keep it.
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function()
    for i = 1, 1000 do pcall(ch.receive, ch, "never") end
    print("not reached")
  end)
]]
) == "")
-- Nor a wait where Lua cannot suspend, nor coroutines, nor a task.
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function()
    table.sort({3, 2, 1}, function(a, b) ch:receive("never") return a < b end)
    print("not reached")
  end)
  shoal.spawn(function()
    coroutine.wrap(function() coroutine.wrap(function() ch:receive("never") end)() end)()
    print("not reached")
  end)
  shoal.spawn(function()
    require("shoal").task(function() ch:receive("never") print("not reached") end)
    ch:send("body", "ended")
  end)
  shoal.spawn(function()
    local s = require("shoal")
    s.task(function()
      ("x"):gsub("x", function() ch:receive("never") end)
      print("not reached")
    end):join()
  end)
  print(ch:receive("body"))
]]
) == "ended\n")
-- Senders that wait, joiners that wait for each other.
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel{limit = 0}
  shoal.spawn(function() ch:send("k", 1) print("not reached") end)
  local p = shoal.spawn(function() ch:receive("never") end)
  shoal.spawn(function() p:join() ch:receive("never") print("not reached") end)
]]
) == "")

-- Daemons are not waited for, and then cancelled: their close handlers run.
assert(ends_quietly(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn({daemon = true}, function()
    local s = require("shoal")
    local x <close> = setmetatable({}, {__close = function() print("closed") end})
    ch:send("runs", true)
    while true do s.sleep(0.01) end
  end)
  ch:receive("runs")
  print("end")
]]
) == "end\nclosed\n")
assert(ends_quietly(
  0,
  [[
  shoal.spawn({daemon = true}, function() require("shoal").sleep(1000) end)
]]
) == "")

-- Finalizers run at the end, in each process.
assert(ends_quietly(
  0,
  [[
  shoal.spawn(function()
    kept = setmetatable({}, {__gc = function() print("process") end})
  end):join()
  kept = setmetatable({}, {__gc = function() print("script") end})
]]
) == "process\nscript\n")

-- shoal.wait --------------------------------------------------------------------------------------

assert(ends_quietly(
  0,
  [[
  print(shoal.wait())
  local ch = shoal.channel()
  local p = shoal.spawn(function() ch:receive("go") print("went") end)
  print(shoal.wait(0), shoal.wait(0.01))
  ch:send("go", 1)
  print(shoal.wait())
  shoal.spawn(function() ch:receive("never") end)
  print(shoal.wait())  -- nothing can run any more
  print(shoal.wait())
]]
):gsub("nil\ttimeout", "T") == "true\nnil\tT\nwent\ntrue\ntrue\ntrue\n")
-- Daemons are not waited for.
assert(ends_quietly(
  0,
  [[
  shoal.spawn({daemon = true}, function() require("shoal").sleep(1000) end)
  print(shoal.wait())
  shoal.spawn(function() require("shoal").sleep(0.01) print("waited for") end)
  print(shoal.wait())
]]
) == "true\nwaited for\ntrue\n")
ends_quietly(
  0,
  [[
  local ok, err = shoal.spawn(function()
    local s = require("shoal")
    s.sleep(0.02)
    s.wait()
  end):join()
  assert(ok == nil and err:find("first process"), err)
]]
)

-- os.exit -----------------------------------------------------------------------------------------

ends_quietly(0, "os.exit()")
ends_quietly(0, "os.exit(true)")
ends_quietly(1, "os.exit(false)")
ends_quietly(7, "os.exit(7)")
ends_quietly(7, "os.exit(7, true)")
ends_quietly(3, "pcall(os.exit, 3) print('not reached')")
ends_quietly(3, "coroutine.wrap(function() os.exit(3) end)()")
ends_quietly(3, "table.sort({1, 2, 3}, function() os.exit(3) end)")
ends_quietly(3, "shoal.task(function() os.exit(3) end) shoal.sleep(1000)")
ends_quietly(4, "shoal.spawn(function() os.exit(4) end) shoal.sleep(1000)")
ends_quietly(4, 'shoal.spawn(function() os.exit(4) end) error("not this one", shoal.sleep(1000))')
ends_quietly(
  5,
  [[
  local ch = shoal.channel()
  for i = 1, 50 do shoal.spawn(function() ch:receive("never") end) end
  shoal.spawn(function() os.exit(5) end)
  ch:receive("never")
]]
)
assert(ends_quietly(
  6,
  [[
  local x <close> = setmetatable({}, {__close = function() print("closed") end})
  io.write("no line feed ")
  os.exit(6, true)
]]
) == "no line feed closed\n")
assert(ends_quietly(6, 'io.write("flushed") os.exit(6)') == "flushed")

-- An end while many wait is not slow (peers: hangs, 0.25 s, 4 s).
support.quick(5, function()
  ends_quietly(
    0,
    [[
    local ch = shoal.channel()
    for i = 1, 200 do shoal.spawn(function() ch:receive(i) end) end
  ]]
  )
end)
