-- SPDX-License-Identifier: MIT
-- Groups: processes and tasks that end together.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

local function wait_for_ever(name)
  local _ <close> = setmetatable({}, {
    __close = function()
      ch:send("closed", name)
    end,
  })
  ch:send("runs", name)
  ch:receive("never")
end

-- join waits for all, of both kinds.
do
  local g <close> = shoal.group()
  expect(pack(g:join()), true)
  local sum = 0
  local p = g:spawn({ name = "member" }, function(a, b)
    ch:receive("go")
    return a + b
  end, 1, 2)
  assert(shoal.type(p) == "process" and p.name == "member")
  local t = g:task(function(n)
    ch:receive("go")
    sum = sum + n
  end, 5)
  assert(shoal.type(t) == "task")
  expect(pack(g:join(0)), nil, "timeout")
  expect(pack(g:join(0.001)), nil, "timeout")
  ch:send_batch("go", { true, true })
  expect(pack(g:join(20)), true)
  assert(p:result() == 3 and sum == 5)
  g:task(shoal.sleep, 0.001)
  expect(pack(g:join()), true)
end

-- The first error ends the others, and is raised by join as by result of the member.
do
  for _, kind in ipairs({ "spawn", "task" }) do
    local g <close> = shoal.group()
    g:spawn(wait_for_ever, "process")
    g:task(wait_for_ever, "task")
    assert(ch:receive("runs", 20) and ch:receive("runs", 20))
    g[kind](g, function()
      error("first")
    end)
    local text = expect_error("first", g.join, g)
    assert(text:find("stack traceback:", 1, true), text)
    assert(ch:receive("closed", 0) and ch:receive("closed", 0))
    -- It is raised once.
    expect(pack(g:join()), true)
  end
  local g <close> = shoal.group()
  local object = { "an object" }
  g:task(error, object)
  local ok, err = pcall(g.join, g)
  assert(not ok and err == object)
  g:spawn(error, object)
  ok, err = pcall(g.join, g)
  assert(not ok and err[1] == "an object")
end

-- Of several errors it is the first in time.
do
  local g <close> = shoal.group()
  for i = 1, 3 do
    g:spawn(function()
      ch:receive("fail " .. i)
      error("number " .. i, 0)
    end)
  end
  ch:send("fail 2", true)
  expect_error("number 2", g.join, g)
end

-- Leaving the scope ends what is left; it raises what failed before, if nothing else was raised.
do
  do
    local g <close> = shoal.group()
    g:spawn(wait_for_ever, "process")
    g:task(wait_for_ever, "task")
    assert(ch:receive("runs", 20) and ch:receive("runs", 20))
  end
  assert(ch:receive("closed", 0) and ch:receive("closed", 0))
  expect_error("unseen", function()
    local g <close> = shoal.group()
    g:spawn(error, "unseen"):join()
    g:spawn(wait_for_ever, "process")
  end)
  expect_error("own", function()
    local g <close> = shoal.group()
    g:task(error, "unseen"):join()
    error("own")
  end)
  while ch:receive("runs", 0) do
    assert(ch:receive("closed", 20))
  end
  -- Nobody comes in any more.
  local kept
  do
    local g <close> = shoal.group()
    kept = g
  end
  expect_error("the group has been left", kept.spawn, kept, print)
  expect_error("the group has been left", kept.task, kept, print)
end

-- A member that is cancelled is no error; nor is one that somebody else has joined.
do
  local g <close> = shoal.group()
  g:task(wait_for_ever, "task"):cancel()
  g:spawn(wait_for_ever, "process"):cancel()
  local not_started = g:task(print)
  not_started:cancel()
  expect(pack(g:join()), true)
  ch:set("runs")
  ch:set("closed")
end

-- The cancel of a task that joins its group ends the members.
do
  local t = shoal.task(function()
    local g <close> = shoal.group()
    g:spawn(wait_for_ever, "process")
    g:task(wait_for_ever, "task")
    g:join()
  end)
  assert(ch:receive("runs", 20) and ch:receive("runs", 20))
  expect(pack(t:cancel(20)), true)
  assert(ch:receive("closed", 0) and ch:receive("closed", 0))
end

-- What cannot be started is no member.
do
  local g <close> = shoal.group()
  expect_error("function", g.spawn, g, 5)
  expect_error("cannot send a coroutine", g.spawn, g, print, coroutine.create(print))
  expect_error("function", g.task, g, 5)
  expect(pack(g:join()), true)
end

-- Misuse is found where it is written.
do
  local g <close> = shoal.group()
  local function fails(expected, f, ...)
    local text = expect_error(expected, f, ...)
    assert(text:find("^[%w/_.]*group.lua:%d+: "), text)
    assert(not text:find("[shoal.", 1, true), text)
  end
  fails("there is no option 'nmae'", function()
    g:spawn({ nmae = "x" }, print)
  end)
  fails("cannot send a coroutine", function()
    g:spawn(print, coroutine.create(print))
  end)
  fails("bad argument", function()
    g:task(5)
  end)
  fails("timeout must not be negative", function()
    g:join(-1)
  end)
  fails("timeout in seconds expected, got NaN", function()
    g:join(0 / 0)
  end)
  fails("timeout in seconds expected, got string", function()
    g:join("1")
  end)
  -- One task at a time joins; when it has, another may.
  g:task(ch.receive, ch, "go on")
  local first = shoal.task(g.join, g, math.huge)
  shoal.yield()
  fails("another task joins this group", function()
    g:join(0)
  end)
  ch:send("go on", true)
  expect(pack(first:join()), true, true)
  first = shoal.task(function()
    g:task(ch.receive, ch, "never")
    g:join()
  end)
  shoal.sleep(0.001)
  first:cancel(20)
  expect(pack(g:join(0)), nil, "timeout")
end

-- Members that end are forgotten: a group of many short ones stays small.
do
  local g <close> = shoal.group()
  local function round(n)
    for i = 1, n do
      g:task(function() end)
      if i % 100 == 0 then
        g:spawn(function() end):join()
        shoal.yield()
      end
    end
  end
  round(500)
  collectgarbage()
  collectgarbage()
  local before = collectgarbage("count")
  round(support.scaled(20000, 1000))
  collectgarbage()
  collectgarbage()
  assert(collectgarbage("count") - before < 300, collectgarbage("count") - before)
  expect(pack(g:join()), true)
end

-- A join in vain is reported where the script waits.
do
  local status, _, err = support.run([[
    local shoal = require("shoal")
    local g <close> = shoal.group()
    g:task(function() shoal.channel():receive("never") end)
    g:join()]])
  assert(status == 1 and err:find(":4\n", 1, true), err)
end
