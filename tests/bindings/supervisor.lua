-- SPDX-License-Identifier: MIT
-- Supervisors: restarts, their limit, and the order in which children are started and stopped.
local shoal = require("shoal")
local supervisor = require("shoal.supervisor")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

-- A child that says what happens to it, and does what it is told.
local function child(name, extra)
  local spec = {
    name = name,
    start = function(word)
      local _ <close> = setmetatable({}, {
        __close = function()
          ch:send("log", "-" .. name)
        end,
      })
      ch:send("log", "+" .. name .. (word or ""))
      if ch:receive(name) == "fail" then
        error("told to fail", 0)
      end
    end,
  }
  for key, value in pairs(extra or {}) do
    spec[key] = value
  end
  return spec
end

local function log(count)
  local lines = {}
  for i = 1, count do
    lines[i] = ch:receive("log", 20)
  end
  return table.concat(lines, " ")
end

-- Children are started in order, listed, and stopped in reverse.
do
  local sup = supervisor.start({
    name = "top",
    children = { child("a", { args = { 1 } }), child("b"), child("c", { shutdown = math.huge }) },
  })
  assert(sup.process.name == "top")
  local start = log(3)
  assert(#start == 9 and start:find("+a1", 1, true), start)
  local children = sup:which_children()
  assert(#children == 3)
  for i, name in ipairs({ "a", "b", "c" }) do
    local one = children[i]
    assert(one.name == name and one.restarts == 0 and one.process.name == name)
    assert(shoal.process(name) == one.process and one.status ~= "done")
  end
  expect(pack(sup:stop(20)), true)
  assert(log(3) == "-c -b -a")
  expect(pack(sup:join()), true)
  expect(pack(sup:which_children()), nil, "closed")
  expect(pack(sup:stop()), true)
end

-- one_for_one: who ends is started again, as `restart` says.
do
  local sup <close> = supervisor.start({
    max_restarts = 10,
    children = {
      child("permanent"),
      child("transient", { restart = "transient" }),
      child("temporary", { restart = "temporary" }),
    },
  })
  log(3)
  local function round(name, how)
    ch:send(name, how)
    assert(log(1) == "-" .. name)
  end
  round("permanent", "return")
  assert(log(1) == "+permanent")
  round("permanent", "fail")
  assert(log(1) == "+permanent")
  round("transient", "fail")
  assert(log(1) == "+transient")
  round("transient", "return")
  round("temporary", "fail")
  local list
  repeat
    list = sup:which_children()
  until not list[2].process and not list[3].process
  assert(list[1].restarts == 2 and list[2].restarts == 1 and list[3].restarts == 0)
  assert(list[2].status == "done" and list[3].status == "error")
  -- One that is cancelled by somebody else is permanent all the same.
  assert(list[1].process:cancel(20))
  assert(log(2) == "-permanent +permanent")
end
assert(log(1) == "-permanent")

-- one_for_all: all are stopped in reverse, and started in order.
do
  local sup <close> = supervisor.start({
    strategy = "one_for_all",
    children = { child("a"), child("b"), child("c") },
  })
  for _, name in ipairs({ "a", "b", "c" }) do
    assert(ch:receive("log", 20))
    _ = name
  end
  ch:send("b", "fail")
  local text = log(6)
  assert(text:sub(1, 8) == "-b -c -a", text)
  for _, name in ipairs({ "a", "b", "c" }) do
    assert(text:find("+" .. name, 1, true), text)
  end
  local list = sup:which_children()
  for i = 1, 3 do
    assert(list[i].restarts == 1)
  end
end
assert(log(3) == "-c -b -a")

-- Too many restarts: it gives up, stops the others and says so.
do
  local sup = supervisor.start({
    name = "nervous",
    max_restarts = 2,
    within = 60,
    children = {
      child("calm"),
      {
        name = "failing",
        start = function()
          error("as always", 0)
        end,
      },
    },
  })
  local ok, err = sup:join(20)
  assert(not ok)
  local text =
    "supervisor 'nervous': more than 2 restarts within 60 s, the last of child 'failing': "
  assert(err == text .. "as always", err)
  -- The calm one may have been cancelled before it started.
  local calm = ch:receive("log", 0)
  assert(calm == nil or (calm == "+calm" and log(1) == "-calm"))
end

-- Restarts that are long ago do not count.
do
  local _ <close> = supervisor.start({
    max_restarts = 1,
    within = 0.001,
    children = { child("slow") },
  })
  assert(log(1) == "+slow")
  for _ = 1, 5 do
    shoal.sleep(0.01)
    ch:send("slow", "fail")
    assert(log(2) == "-slow +slow")
  end
end
log(1)

-- A child that refuses to end has its shutdown time, no more; the others are stopped after it.
do
  local sup = supervisor.start({
    children = {
      child("first"),
      {
        name = "stubborn",
        shutdown = 0.01,
        start = function()
          local _ <close> = setmetatable({}, {
            __close = function()
              shoal.shield(ch.receive, ch, "mercy")
              ch:send("mercy shown", pcall(ch.receive, ch, "never"))
            end,
          })
          ch:send("log", "+stubborn")
          ch:receive("never")
        end,
      },
    },
  })
  log(2)
  expect(pack(sup:stop(20)), true)
  assert(log(1) == "-first")
  ch:send("mercy", true)
  expect(pack(ch:receive("mercy shown", 0)), nil, "timeout")
end

-- Cancelling the supervisor stops the children, too; and its handle may be sent.
do
  local sup = supervisor.start({ children = { child("a"), child("b") } })
  log(2)
  local found = shoal
    .spawn(function(handle)
      return handle:which_children()[2].process
    end, sup)
    :result()
  assert(found.name == "b")
  expect(pack(sup.process:cancel(20)), true)
  assert(log(2) == "-b -a")
end

-- A file as a child.
do
  local file <close> = support.temporary([[
    local ch, word = ...
    ch:send("from the file", word)
    ch:receive("never")]])
  local sup <close> = supervisor.start({
    children = { { name = "file", start = { file = file.path }, args = { ch, "word" } } },
  })
  assert(ch:receive("from the file", 20) == "word")
  assert(#sup:which_children() == 1)
end

-- Misuse is found where it is written.
do
  local sup <close> = supervisor.start({ children = {} })
  for _, method in ipairs({ "stop", "join" }) do
    local text = expect_error("supervisor: timeout: seconds expected, got -1", function()
      sup[method](sup, -1)
    end)
    assert(text:find("^[%w/_.]*supervisor.lua:%d+: supervisor: "), text)
  end
end
do
  local function fails(expected, options)
    local text = expect_error(expected, function()
      supervisor.start(options)
    end)
    assert(text:find("^[%w/_.]*supervisor.lua:%d+: supervisor: "), text)
  end
  fails("options expected, got number", 5)
  fails("children is no list", {})
  fails("no strategy 'x'", { strategy = "x", children = {} })
  fails("max_restarts is no integer", { max_restarts = 1.5, children = {} })
  fails("within is no time", { within = -1, children = {} })
  fails("child 1 has no name", { children = { {} } })
  fails("two children 'a'", { children = { child("a"), child("a") } })
  fails("child 'a': start is missing", { children = { { name = "a" } } })
  fails(
    "child 'a': start: a function or { file = path } expected, got string",
    { children = { { name = "a", start = "fetch.lua" } } }
  )
  fails("no restart 'x'", { children = { child("a", { restart = "x" }) } })
  fails("shutdown is no time", { children = { child("a", { shutdown = "x" }) } })
  fails("there is no option 'childs'", { childs = {}, children = {} })
  fails("name is no string", { name = 5, children = {} })
  fails("daemon is no boolean", { daemon = 1, children = {} })
  fails("child 'a': there is no field 'shutdwon'", { children = { child("a", { shutdwon = 1 }) } })
  fails("cannot send a coroutine", {
    children = { child("a", { args = { coroutine.create(print) } }) },
  })
end
