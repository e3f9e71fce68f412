-- SPDX-License-Identifier: MIT
-- luaproc: processes, rendezvous under names, and what the original gets wrong.
local shoal = require("shoal")
local support = require("support")
local luaproc = require("luaproc")
local expect, expect_error = support.expect, support.expect_error

assert(require("shoal.luaproc") == luaproc)

local function starts(...)
  expect(table.pack(luaproc.newproc(...)), true)
end

-- Source, bytecode, functions; arguments; `luaproc` is a global of a process.
do
  assert(luaproc.newchannel("out"))
  starts(
    [[
    require("string")
    luaproc.send("out", "source", ...)
  ]],
    1,
    { 2 }
  )
  local name, a, b = luaproc.receive("out")
  assert(name == "source" and a == 1 and b[1] == 2)
  local prefix = "up"
  local function body(text)
    local proc = require("luaproc")
    proc.send("out", prefix .. (text or "value"))
  end
  starts(body, "arg")
  expect(table.pack(luaproc.receive("out")), "uparg")
  starts(string.dump(load("luaproc.send('out', 'bytecode', ...)")), 3)
  expect(table.pack(luaproc.receive("out")), "bytecode", 3)
end

-- Tuples of any length and any values arrive as they were sent.
do
  assert(luaproc.newchannel("in"))
  starts([[
    while true do
      local function reply(...)
        luaproc.send("out", ...)
        return select("#", ...)
      end
      if reply(luaproc.receive("in")) == 0 then break end
    end
  ]])
  local function echo(...)
    assert(luaproc.send("in", ...))
    return table.pack(luaproc.receive("out"))
  end
  local large = math.maxinteger
  expect(echo(nil), nil)
  expect(echo(nil, "message"), nil, "message")
  expect(echo(large, large - 1, 2 ^ 53 + 0.0, -0.0, 0 / 0), large, large - 1, 2 ^ 53, -0.0, 0 / 0)
  expect(echo("a\0b", true, false, nil), "a\0b", true, false, nil)
  local list = echo({ { 1 }, f = string.format })
  assert(list[1][1][1] == 1 and list[1].f == string.format)
  expect(echo())
end

-- Names are those of the program, and are told apart to the last byte.
do
  expect(table.pack(luaproc.newchannel("a\0b")), true)
  expect(table.pack(luaproc.newchannel("a\0c")), true)
  expect(table.pack(luaproc.newchannel("a\0b")), nil, "channel 'a\0b' already exists")
  expect(table.pack(luaproc.delchannel("a\0b")), true)
  expect(table.pack(luaproc.delchannel("a\0b")), nil, "channel 'a\0b' does not exist")
  expect(table.pack(luaproc.send("gone", 1)), nil, "channel 'gone' does not exist")
  expect(table.pack(luaproc.receive("gone")), nil, "channel 'gone' does not exist")
  expect(table.pack(luaproc.receive("a\0c", true)), nil, "no senders waiting on channel 'a\0c'")
  assert(luaproc.newchannel(5) and luaproc.delchannel("5"))
end

-- A send returns when it is received; senders and receivers are served in turn.
do
  assert(luaproc.newchannel("meet") and luaproc.newchannel("after"))
  starts([[
    luaproc.send("meet", 1)
    luaproc.send("after", "sent")
  ]])
  while luaproc.receive("after", true) do
    error("it was not received yet")
  end
  expect(table.pack(luaproc.receive("meet")), 1)
  expect(table.pack(luaproc.receive("after")), "sent")
end

-- A channel that is deleted wakes those who wait, in any process, the main one too.
do
  assert(luaproc.newchannel("doomed") and luaproc.newchannel("report"))
  starts([[luaproc.send("report", "sender", luaproc.send("doomed", 1))]])
  while luaproc.receive("doomed", true) ~= 1 do
    shoal.yield()
  end
  expect(table.pack(luaproc.receive("report")), "sender", true)
  starts([[luaproc.send("report", luaproc.receive("doomed"))]])
  starts([[luaproc.send("report", luaproc.receive("doomed"))]])
  shoal.sleep(0.01)
  assert(luaproc.delchannel("doomed"))
  for _ = 1, 2 do
    local value, reason = luaproc.receive("report")
    assert(value == nil and reason:find("^channel 'doomed' d"), reason)
  end
  assert(luaproc.newchannel("doomed"))
  starts(([[
    local shoal = require("shoal")
    while shoal.process(%d):status() ~= "waiting" do shoal.yield() end
    luaproc.delchannel("doomed")
  ]]):format(shoal.self().id))
  local reason = "channel 'doomed' destroyed while waiting for sender"
  expect(table.pack(luaproc.receive("doomed")), nil, reason)
end

-- Waits in coroutines, and where Lua cannot yield, disturb nobody.
do
  assert(luaproc.newchannel("co"))
  starts([[
    local co = coroutine.create(function()
      return "in coroutine", luaproc.receive("co")
    end)
    local ok, text, value = coroutine.resume(co)
    table.sort({ 1, 2 }, function(a, b)
      luaproc.send("out", text, value, ok, coroutine.status(co))
      return a < b
    end)
  ]])
  luaproc.send("co", 7)
  expect(table.pack(luaproc.receive("out")), "in coroutine", 7, true, "dead")
end

-- A yield of the body lets others run; coroutines in it yield as ever.
starts([[
  local n = select("#", coroutine.yield(1, 2))
  local next_one = coroutine.wrap(function() coroutine.yield("inner") end)
  luaproc.send("out", n, next_one())
]])
expect(table.pack(luaproc.receive("out")), 0, "inner")

-- A process that computes holds up nobody, and states are clean.
do
  luaproc.recycle(10)
  starts(
    [[
    leaked = true
    for i = 1, ... do end
    luaproc.send("out", "busy")
  ]],
    support.scaled(1000000)
  )
  starts([[luaproc.send("report", leaked)]])
  expect(table.pack(luaproc.receive("report")), nil)
  expect(table.pack(luaproc.receive("out")), "busy")
end

-- Numbers of workers, up and down.
do
  assert(luaproc.getnumworkers() == support.workers)
  luaproc.setnumworkers(8)
  luaproc.setnumworkers(2)
  starts([[luaproc.send("out", luaproc.getnumworkers())]])
  expect(table.pack(luaproc.receive("out")), 2)
end

-- A ping-pong with the main script loses no wake-up.
do
  assert(luaproc.newchannel("ping") and luaproc.newchannel("pong"))
  local rounds = support.scaled(20000, 50)
  starts(
    [[
    for i = 1, ... do luaproc.send("pong", luaproc.receive("ping") + 1) end
  ]],
    rounds
  )
  for i = 1, rounds do
    luaproc.send("ping", i)
    assert(luaproc.receive("pong") == i + 1)
  end
end

-- Channels come and go while others receive from them.
do
  local rounds = support.scaled(2000, 20)
  for _ = 1, 4 do
    starts(function(n)
      local proc = require("luaproc")
      for _ = 1, n do
        proc.newchannel("race")
        proc.receive("race", true)
        proc.delchannel("race")
      end
      proc.send("out", "raced")
    end, rounds)
  end
  for _ = 1, 4 do
    expect(table.pack(luaproc.receive("out")), "raced")
  end
  luaproc.delchannel("race")
end

-- Without names: children of the script, and theirs.
do
  starts([[
    luaproc.newproc("luaproc.send(luaproc.receive() + 1)")
    luaproc.send({ luaproc.receive() })
  ]])
  luaproc.send("word")
  local list = luaproc.receive()
  assert(list[1] == "word")
  expect(table.pack(luaproc.receive(nil, true)), nil, "no senders waiting on channel 'parent'")
end

-- What cannot be.
do
  local co = coroutine.create(print)
  local function refused(expected, ...)
    local results = table.pack(...)
    assert(results[1] == nil and results[2]:find(expected, 1, true), results[2])
  end
  refused(
    "failed to send value of unsupported type 'thread': cannot send a coroutine (at [2].x)",
    luaproc.send("out", 1, { x = co })
  )
  refused(
    "of unsupported type 'thread': cannot send a coroutine (at body(upvalue co))",
    luaproc.newproc(function()
      return co
    end)
  )
  refused("(at [1])", luaproc.newproc("return", co))
  refused(
    "failed to copy value of unsupported type 'userdata'",
    luaproc.newproc("return", io.tmpfile())
  )
  refused("cannot use 'table' to create a new process", luaproc.newproc({}))
  refused("cannot use 'no value' to create a new process", luaproc.newproc())
  local function raises(expected, f, ...)
    local arguments = table.pack(...)
    local err = support.expect_error(expected, function()
      f(table.unpack(arguments, 1, arguments.n))
      return nil
    end)
    assert(err:find("compat/luaproc.lua:%d+: "), err)
  end
  raises("unexpected symbol", luaproc.newproc, "return return")
  raises("truncated", luaproc.newproc, "\27Lua")
  raises(
    "bad argument #1 to 'newchannel' (the name of a channel expected, got no value)",
    luaproc.newchannel
  )
  raises(
    "bad argument #1 to 'delchannel' (the name of a channel expected, got table)",
    luaproc.delchannel,
    {}
  )
  raises("bad argument #1 to 'send' (the name of a channel expected, got no value)", luaproc.send)
  raises(
    "bad argument #1 to 'send' (the name of a channel expected, got table)",
    luaproc.send,
    {},
    1
  )
  raises(
    "bad argument #1 to 'receive' (the name of a channel expected, got boolean)",
    luaproc.receive,
    true
  )
  raises(
    "bad argument #1 to 'setnumworkers' (integer expected, got no value)",
    luaproc.setnumworkers
  )
  raises(
    "bad argument #1 to 'setnumworkers' (integer expected, got number)",
    luaproc.setnumworkers,
    1.5
  )
  raises("number of workers must be positive", luaproc.setnumworkers, 0)
  raises("bad argument #1 to 'recycle' (integer expected, got string)", luaproc.recycle, "x")
  raises("must not be negative", luaproc.recycle, -1)
  starts([[luaproc.send("out", pcall(luaproc.wait))]])
  local ok, err = luaproc.receive("out")
  assert(not ok and err:find("luaproc.wait is for the main script", 1, true), err)
  expect_error("deadlock", luaproc.receive, "out")
  luaproc.wait()
end

-- Errors of processes, tables too, are reported, and end only their process. The program ends with
-- processes that wait for ever, with and without `wait`.
do
  local status, out, err = support.run([[
    local luaproc = require("luaproc")
    luaproc.newchannel("c")
    luaproc.newproc("error({ 1 })")
    luaproc.newproc("error('boom')")
    luaproc.newproc("luaproc.receive('c')")
    luaproc.wait()
    print("waited")
  ]])
  assert(out == "waited\n" and status == support.unjoined, out .. err)
  assert(err:find("boom", 1, true) and err:find("(error object is a table value)", 1, true), err)
  status, out, err = support.run([[
    local luaproc = require("luaproc")
    luaproc.newchannel("c")
    luaproc.newproc("luaproc.receive('c') print('received')")
    luaproc.newproc("luaproc.receive('c')")
    luaproc.send("c", 1)
  ]])
  assert(status == 0 and err == "" and (out == "received\n" or out == ""), out .. err)
end
