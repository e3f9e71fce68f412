-- SPDX-License-Identifier: MIT
-- shoal.after and shoal.every: messages that are sent later, by nobody.
local shoal = require("shoal")
local support = require("support")
local expect, expect_error = support.expect, support.expect_error

-- A message comes when its time has come, as it was when the timer was started.
do
  local ch = shoal.channel()
  local value = { 1 }
  local start = shoal.now()
  shoal.after(0.02, ch, "k", value, nil, "x")
  value[1] = 2
  expect(table.pack(ch:receive("k")), { 1 }, nil, "x")
  assert(shoal.now() - start >= 0.02)
  shoal.after(0, ch, "k", 1)
  assert(ch:receive("k") == 1)
end

-- Timers are in the order of their times, and take no notice of limits.
do
  -- If one is started late, it may be another order.
  support.some_time("the order of timers", function()
    local ch = shoal.channel({ limit = 0 })
    for i = 3, 1, -1 do
      shoal.after(i * 0.01, ch, "k", i)
    end
    support.eventually(function()
      return ch:count("k") == 3
    end)
    return ch:receive("k") == 1 and ch:receive("k") == 2 and ch:receive("k") == 3
  end)
end

-- A cancel takes it back; it says whether there was something to take back.
do
  local ch = shoal.channel()
  local timer = shoal.after(1000, ch, "k", 1)
  assert(tostring(timer):find("^timer: "))
  assert(timer:cancel() == true)
  assert(timer:cancel() == false)
  timer = shoal.after(0, ch, "k", 2)
  assert(ch:receive("k") == 2)
  assert(timer:cancel() == false)
  do
    local _ <close> = shoal.after(0.001, ch, "k", 3)
    local _ <close> = shoal.every(0.001, ch, "k", 3)
    assert(shoal.after(math.huge, ch, "k", 3):cancel())
  end
  ch:set("k")
  expect(table.pack(ch:receive("k", 0.01)), nil, "timeout")
end

-- Beats come until they are cancelled. One is left out while the last one stands there; what others
-- send does not count.
do
  local ch = shoal.channel()
  local timer = shoal.every(0.002, ch, "beat", "tick")
  for _ = 1, 5 do
    assert(ch:receive("beat") == "tick")
  end
  local function stands(count)
    support.eventually(function()
      return ch:count("beat") >= count
    end)
    shoal.sleep(0.02)
    assert(ch:count("beat") == count)
  end
  stands(1)
  ch:receive("beat")
  ch:send("beat", "other")
  stands(2)
  assert(timer:cancel() == true)
  ch:receive_batch("beat", 9)
  expect(table.pack(ch:receive("beat", 0.02)), nil, "timeout")
end

-- It goes on when its handle, and the process that started it, are gone; a close ends it.
do
  local ch = shoal.channel()
  shoal
    .spawn(function(c)
      local s = require("shoal")
      s.after(0.01, c, "after", 1)
      s.every(0.002, c, "every", 2)
      collectgarbage()
    end, ch)
    :join()
  collectgarbage()
  assert(ch:receive("after") == 1)
  for _ = 1, 3 do
    assert(ch:receive("every") == 2)
  end
  ch:close()
  shoal.after(0.001, ch, "after", 1)
  shoal.sleep(0.01)
  ch:receive_batch("every", 9)
  expect(table.pack(ch:receive("every")), nil, "closed")
  expect(table.pack(ch:receive("after")), nil, "closed")
end

-- Who waits where a timer will send to does not wait in vain; nor does who waits for that one. But
-- when it has sent, there is a deadlock.
do
  local ch = shoal.channel()
  local echo = shoal.spawn(function(c)
    while true do
      c:send("answer", c:receive("question"))
    end
  end, ch)
  shoal.after(3, shoal.channel(), "nobody waits here", 1)
  for _, wait in ipairs({ 0.01, 0.02 }) do
    shoal.after(wait, ch, "question", wait)
    assert(ch:receive("answer") == wait)
  end
  expect_error("deadlock", ch.receive, ch, "answer")
  shoal.after(0.01, ch, "other", 1)
  expect_error("deadlock", ch.receive, ch, "answer")
  assert(ch:receive("other") == 1)
  local timer = shoal.every(0.001, ch, "other", 2)
  assert(shoal.select({ { ch, "none" }, { ch, "other" } }) == 2)
  shoal.task(function()
    ch:receive("other")
    timer:cancel()
  end)
  expect_error("deadlock", ch.receive, ch, "answer")
  echo:cancel()
end

-- Tasks that join each other wait in vain, also while timers are armed elsewhere.
do
  local timer <close> = shoal.after(1000, shoal.channel("elsewhere"), "k", 1)
  local one, two
  one = shoal.task(function()
    two:join()
  end)
  two = shoal.task(function()
    one:join()
  end)
  expect_error("deadlock", one.join, one)
  one:cancel()
  assert(tostring(timer))
end

-- What may not be sent, and bad arguments; nothing is sent then.
do
  local ch = shoal.channel()
  for _, start in ipairs({ shoal.after, shoal.every }) do
    expect_error("seconds expected", start)
    expect_error("(time must not be negative)", start, -1, ch, "k", 1)
    expect_error("#2 to", start, 1, "ch", "k", 1)
    expect_error("#3 to", start, 1, ch, 1.5, 1)
    expect_error("a message needs at least one value", start, 1, ch, "k")
    expect_error("must not be nil", start, 1, ch, "k", nil, 1)
    expect_error("cannot send a coroutine", start, 0.001, ch, "k", coroutine.create(print))
  end
  expect_error("a time larger than 0", shoal.every, 0, ch, "k", 1)
  shoal.sleep(0.005)
  assert(ch:count("k") == 0)
end

-- Many are cheap, and are freed, whether they have fired or not.
do
  local n = support.scaled(100000, 1000)
  local ch = shoal.channel()
  local function many()
    local timers = {}
    for i = 1, n do
      local timer = shoal.after(i % 2 == 0 and 1000 or 0.001 * (i % 100), ch, i % 2, i)
      if i % 2 == 0 then
        timers[#timers + 1] = timer
      end
    end
    for _ = 1, n // 2 do
      ch:receive(1)
    end
    for _, timer in ipairs(timers) do
      assert(timer:cancel())
    end
    collectgarbage()
  end
  many()
  local before = support.memory()
  -- Were they kept, it would be 200 MB; malloc keeps some for each thread.
  for _ = 1, 6 do
    many()
  end
  local grown = support.memory() - before
  assert(grown < 100 << 20, grown)
end
