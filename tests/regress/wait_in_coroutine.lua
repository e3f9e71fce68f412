-- SPDX-License-Identifier: MIT
-- luaproc: a receive inside a coroutine poisons the channel for ever; Lanes, effil and LÖVE block
-- the thread. Here the task waits, coroutine or not, its siblings run, and the channel is as
-- before.
local shoal = require("shoal")

local ch = shoal.channel()

local function receive_in_coroutine(key, timeout)
  return coroutine.wrap(function()
    return coroutine.wrap(function()
      return ch:receive(key, timeout)
    end)()
  end)()
end

for i = 1, 100 do
  local sibling_ran = false
  shoal.task(function()
    sibling_ran = true
    ch:send("k", i)
  end)
  assert(receive_in_coroutine("k") == i and sibling_ran)
  local value, why = receive_in_coroutine("k", 0)
  assert(value == nil and why == "timeout")
  ch:send("k", "as before")
  assert(ch:receive("k") == "as before" and ch:count("k") == 0)
end

-- The coroutine that waits is abandoned, as its task has ended: the next receiver gets the message.
local p = shoal.spawn(function()
  require("shoal").task(receive_in_coroutine, "k", 0.001)
end)
p:join()
ch:send("k", "next")
assert(ch:receive("k") == "next")

-- In the way of PiL: a scheduler of one's own, with a receive in one of its coroutines.
local threads, log = {}, {}
for name, key in pairs({ a = "x", b = "y" }) do
  threads[#threads + 1] = coroutine.create(function()
    for i = 1, 3 do
      ch:send(key, i)
      log[#log + 1] = name .. ch:receive(key)
      coroutine.yield()
    end
  end)
end
while #threads > 0 do
  for i = #threads, 1, -1 do
    assert(coroutine.resume(threads[i]))
    if coroutine.status(threads[i]) == "dead" then
      table.remove(threads, i)
    end
  end
end
table.sort(log)
assert(table.concat(log, " ") == "a1 a2 a3 b1 b2 b3")
