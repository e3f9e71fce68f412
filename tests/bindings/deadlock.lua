-- SPDX-License-Identifier: MIT
-- needs: the program
-- A script that waits while nothing can run any more: every waiter is listed, and its call raises.
local support = require("support")

local function run(status, source, before)
  local got, out, err = support.run('local shoal = require "shoal" ' .. source, before)
  if got ~= status then
    error(("status %s, not %s; stdout %q, stderr:\n%s"):format(got, status, out, err), 2)
  end
  return out, err
end

local function has(text, ...)
  for _, part in ipairs({ ... }) do
    if not text:find(part, 1, true) then
      error(("%q is not in:\n%s"):format(part, text), 2)
    end
  end
end

-- The script alone. It is listed with channel, key and line.
do
  local _, err = run(
    1,
    [[
    local ch = shoal.channel("news")
    local function wait()
      ch:receive("sports")
    end
    wait()]]
  )
  has(err, "deadlock", "process 1", '"news"', '"sports"', "receive", ":3")
end

-- All kinds of waits of all kinds of processes and tasks.
do
  local _, err = run(
    1,
    [[
    local ch = shoal.channel{name = "narrow", limit = 0}
    local a = shoal.spawn({name = "reader"}, function()
      ch:receive(5)
    end)
    local b = shoal.spawn({name = "writer"}, function()
      ch:send(true, "x")
    end)
    shoal.spawn({name = "joiner"}, function()
      a:join()
    end)
    shoal.spawn({name = "choosy"}, function()
      ch:receive_any({"k1", "k2"})
    end)
    shoal.spawn({name = "parent"}, function()
      require("shoal").task(function()
        table.sort({3, 2, 1}, function() ch:receive("in a comparator") end)
      end)
    end)
    shoal.task(function() ch:receive_batch("batch", 5) end)
    b:result()
  ]]
  )
  has(err, "deadlock", "(reader)", "key 5", ":3", "(writer)", "key true", ":6", "(joiner)")
  has(err, "(choosy)", '"k1", "k2"', ":12", "(parent)", "in a comparator", ":16")
  has(err, '"batch"', "a task", "of process 3 (writer)", ":20")
end

-- The call that waits raises it: it can be caught, and the program goes on.
do
  local out = run(
    0,
    [[
    local ch = shoal.channel()
    local ok, err = pcall(ch.receive, ch, "k")
    print(ok, err:match("deadlock"))
    print(pcall(ch.send, ch, "k", 1), ch:receive("k"))
    local p = shoal.spawn(function() return ch:receive("k") end)
    print(pcall(p.join, p) == false)
    ch:send("k", "late")
    print(p:join())
  ]]
  )
  assert(out == "false\tdeadlock\ntrue\t1\ntrue\ntrue\tlate\n", out)
end
-- In a coroutine, in a place where Lua cannot suspend, and in a close handler.
do
  local out = run(
    0,
    [[
    local ch = shoal.channel()
    print(coroutine.wrap(function() return pcall(ch.receive, ch, "k") end)())
    print(pcall(table.sort, {2, 1}, function() ch:receive("k") end))
    print(pcall(function()
      local x <close> = setmetatable({}, {__close = function() ch:receive("k") end})
    end))
  ]]
  )
  assert(select(2, out:gsub("false\t[^\n]*deadlock", "")) == 3, out)
end

-- No deadlock: somebody can still come.
assert(run(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function() require("shoal").sleep(0.05) ch:send("k", "slept") end)
  print(ch:receive("k"))
]]
) == "slept\n")
assert(run(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function() ch:receive("never", 0.05) ch:send("k", "timed out") end)
  print(ch:receive("k"))
]]
) == "timed out\n")
assert(run(
  0,
  [[
  local ch = shoal.channel()
  print(ch:receive("k", 0.05))
]]
) == "nil\ttimeout\n")
assert(run(
  0,
  [[
  local ch = shoal.channel()
  shoal.task(function() shoal.sleep(0.05) ch:send("k", "task") end)
  print(ch:receive("k"))
]]
) == "task\n")
assert(run(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function() require("foreign").nap(0.3) ch:send("k", "napped") end)
  print(ch:receive("k"))
]]
) == "napped\n")
assert(run(
  0,
  [[
  local ch = shoal.channel{limit = 1}
  ch:send("k", 1)
  ch:expire("k", 0.05)
  print(ch:send("k", 2))
]]
) == "true\n")

-- A deadlock among others is none of the script's, while it can run.
assert(run(
  0,
  [[
  local ch = shoal.channel()
  shoal.spawn(function() ch:receive("never") end)
  shoal.sleep(0.05)
  print("end")
]]
) == "end\n")

-- Two that wait for each other, and the script for both.
do
  local _, err = run(
    1,
    [[
    local ch = shoal.channel()
    local a = shoal.spawn(function() ch:receive("a") ch:send("b", 1) end)
    local b = shoal.spawn(function() ch:receive("b") ch:send("a", 1) end)
    a:join() b:join()
  ]]
  )
  has(err, "deadlock", "process 2", "process 3")
end

-- Many waiters: the report stays readable.
do
  local _, err = run(
    1,
    [[
    local ch = shoal.channel()
    for i = 1, 500 do shoal.spawn(function() ch:receive(i) end) end
    ch:receive("all")
  ]]
  )
  has(err, "deadlock", "process 1", "more")
  assert(#err < 20000)
end

-- It is found again and again, with work in between.
assert(run(
  0,
  [[
  local ch = shoal.channel()
  local n = 0
  for i = 1, 100 do
    shoal.spawn(function() ch:send("work", i) end)
    n = n + ch:receive("work")
    local ok, err = pcall(ch.receive, ch, "work")
    assert(not ok and err:find("deadlock"))
  end
  print(n)
]]
) == "5050\n")
