-- SPDX-License-Identifier: MIT
-- Monitors: a message when a process ends.
local shoal = require("shoal")
local support = require("support")
local expect, pack, expect_error = support.expect, table.pack, support.expect_error

local ch = shoal.channel()

local function wait_for_ever()
  ch:receive("never")
end

-- The message says which process, how it ended, and the error as it was thrown.
do
  local p = shoal.spawn(function()
    ch:receive("go")
    return 1, 2
  end)
  p:monitor(ch, "down")
  assert(ch:count("down") == 0)
  ch:send("go", 1)
  expect(pack(ch:receive("down", 20)), p.id, "done")
  p = shoal.spawn(error, { code = { 5 } })
  p:monitor(ch, "down")
  expect(pack(ch:receive("down", 20)), p.id, "error", { code = { 5 } })
  p = shoal.spawn(wait_for_ever)
  p:monitor(ch, "down")
  p:cancel()
  expect(pack(ch:receive("down", 20)), p.id, "cancelled")
  -- An error that cannot travel arrives as join has it.
  p = shoal.spawn(function()
    error(coroutine.create(print))
  end)
  p:monitor(ch, "down")
  local id, status, err = ch:receive("down", 20)
  assert(id == p.id and status == "error" and err == select(2, p:join()))
end

-- At once if it has ended; as often as one likes; to any key; and it tells of what join tells.
do
  local p = shoal.spawn(error, "boom", 0)
  p:join()
  p:monitor(ch, 1)
  expect(pack(ch:receive(1, 0)), p.id, "error", "boom")
  p:monitor(ch, true)
  p:monitor(ch, p)
  expect(pack(ch:receive(true, 0)), p.id, "error", "boom")
  expect(pack(ch:receive(p, 0)), p.id, "error", "boom")
  expect(pack(p:join()), nil, "boom", select(3, p:join()))
end

-- The limit is not looked at, and a closed channel is no trouble.
do
  local full = shoal.channel({ limit = 0 })
  local closed = shoal.channel()
  closed:close()
  local all = {}
  for i = 1, 3 do
    all[i] = shoal.spawn(function() end)
    all[i]:monitor(full, "k")
    all[i]:monitor(closed, "k")
    all[i]:join()
  end
  for _ = 1, 3 do
    assert(full:receive("k", 20))
  end
end

-- It can be taken back, but not when it has been sent.
do
  local p = shoal.spawn(wait_for_ever)
  local kept, taken = p:monitor(ch, "kept"), p:monitor(ch, "taken")
  expect(pack(taken:cancel()), true)
  expect(pack(taken:cancel()), false)
  do
    local _ <close> = p:monitor(ch, "taken")
  end
  p:cancel(20)
  assert(ch:receive("kept", 20) == p.id)
  expect(pack(kept:cancel()), false)
  expect(pack(ch:receive("taken", 0)), nil, "timeout")
end

-- Who drops the handle keeps the monitor.
do
  local p = shoal.spawn(wait_for_ever)
  p:monitor(ch, "down")
  collectgarbage()
  collectgarbage()
  p:cancel()
  assert(ch:receive("down", 20) == p.id)
end

-- Misuse.
do
  local p = shoal.self()
  expect_error("bad argument #2", p.monitor, p, "channel", "key")
  expect_error("bad argument #3", p.monitor, p, ch, 1.5)
end

-- A monitor knows of the error: it is not reported.
do
  local status, out, err = support.run([[
    local shoal = require("shoal")
    local ch = shoal.channel()
    shoal.spawn(error, "before"):monitor(ch, "down")
    local p = shoal.spawn(error, "after")
    while p:status() ~= "error" do shoal.yield() end
    p:monitor(ch, "down")
    print(select("#", ch:receive("down")), select("#", ch:receive("down")))
  ]])
  assert(status == 0 and err == "" and out == "3\t3\n", err)
end

-- Ends and monitors that race: each is told once.
do
  local rounds = support.scaled(3000, 50)
  for i = 1, rounds do
    local p = shoal.spawn(function() end)
    p:monitor(ch, "raced")
    if i % 3 == 0 then
      p:monitor(ch, "raced"):cancel()
    end
    p:monitor(ch, "raced")
    p:join()
    assert(ch:receive("raced", 20) == p.id)
    assert(ch:receive("raced", 20) == p.id)
    local third = ch:receive("raced", 0)
    assert(third == nil or (i % 3 == 0 and third == p.id))
  end
end
