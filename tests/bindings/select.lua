-- SPDX-License-Identifier: MIT
-- shoal.select: of several cases exactly one happens.
local shoal = require("shoal")
local support = require("support")
local expect, expect_error = support.expect, support.expect_error

local function select(cases)
  return table.pack(shoal.select(cases))
end

-- The first case in the list that is ready happens, and nothing of the others.
do
  local ch = shoal.channel()
  ch:send("b", "b", nil, 3)
  ch:send("c", "c")
  expect(select({ { ch, "a" }, { ch, "b" }, { ch, "c" } }), 2, "b", nil, 3)
  expect(select({ { ch, "a" }, { ch, "b" }, { ch, "c" } }), 3, "c")
  expect(select({ { ch, "a" }, { ch, "x", send = { 1, 2 } }, { ch, "y", send = { 1 } } }), 2, true)
  expect(table.pack(ch:receive("x")), 1, 2)
  assert(ch:count("y") == 0)
end

-- A timeout takes all back; 0 does not wait.
do
  local ch = shoal.channel({ limit = 0 })
  local p = shoal.spawn(function(c)
    c:receive("end")
  end, ch)
  for _, timeout in ipairs({ 0, 0.001 }) do
    local cases = { { ch, "a" }, { ch, "b", send = { "lost" } }, { p }, timeout = timeout }
    expect(select(cases), nil, "timeout")
  end
  expect(table.pack(ch:receive("b", 0)), nil, "timeout")
  expect(select({ timeout = 0 }), nil, "timeout")
  expect(select({ timeout = 0.001 }), nil, "timeout")
  ch:send("end", 1)
  p:join()
end

-- Each kind of case ends a wait, alone and among others.
do
  local ch = shoal.channel({ limit = 0 })
  local function later(f, ...)
    return shoal.task(function(...)
      shoal.sleep(0.001)
      return f(...)
    end, ...)
  end
  for _, others in ipairs({ {}, { { ch, "never" }, { ch, "never", send = { 0 } } } }) do
    local n = #others + 1
    local function with(case)
      local cases = table.move(others, 1, #others, 1, {})
      cases[n] = case
      return select(cases)
    end
    later(ch.send, ch, "k", "x", nil)
    expect(with({ ch, "k" }), n, "x", nil)
    local t = later(ch.receive, ch, "k")
    expect(with({ ch, "k", send = table.pack("y", nil) }), n, true)
    expect(table.pack(t:join()), true, "y", nil)
    later(ch.close, ch, "closed" .. n)
    expect(with({ ch, "closed" .. n }), n, nil, "closed")
    expect(with({ ch, "closed" .. n, send = { 1 } }), n, nil, "closed")

    expect(
      with({ shoal.spawn(function()
        return 1, nil, { 2 }
      end) }),
      n,
      true,
      1,
      nil,
      { 2 }
    )
    expect(
      with({ shoal.task(function()
        return 1, nil
      end) }),
      n,
      true,
      1,
      nil
    )
    local failed = with({ shoal.spawn(function()
      error({ code = 5 })
    end) })
    assert(failed[1] == n and failed[2] == nil and failed[3].code == 5 and failed.n == 4)
    assert(failed[4]:find("stack traceback", 1, true))
    failed = with({ shoal.task(function()
      error("boom", 0)
    end) })
    assert(failed[1] == n and failed[2] == nil and failed[3] == "boom" and failed.n == 4)
    local p = shoal.spawn(function()
      shoal.sleep(math.huge)
    end)
    p:cancel()
    expect(with({ p }), n, nil, shoal.cancelled)
    -- As often as you like.
    expect(with({ p }), n, nil, shoal.cancelled)
  end
end

-- What is to be sent is copied before the wait; so are the cases.
do
  local ch = shoal.channel({ limit = 0 })
  local values = { { 1 } }
  local case = { ch, "k", send = values }
  local cases = { case, { ch, "other" } }
  local t = shoal.task(function()
    values[1][1], values[1], case[1], case[2], cases[1] = 2, 3, nil, "other", nil
    collectgarbage()
    return ch:receive("k")
  end)
  expect(select(cases), 1, true)
  expect(table.pack(t:join()), true, { 1 })
end

-- A key that many wait for: receivers are served in the order in which they came.
do
  local ch = shoal.channel()
  local order = {}
  local tasks = {}
  for i = 1, 3 do
    tasks[i] = shoal.task(function()
      local _, v = shoal.select({ { ch, "other" }, { ch, "k" } })
      order[v] = i
    end)
    shoal.yield()
  end
  for i = 1, 3 do
    ch:send("k", i)
  end
  for i = 1, 3 do
    tasks[i]:join()
  end
  expect(table.pack(table.unpack(order)), 1, 2, 3)
end

-- A select does not meet itself; another one meets it under the same key.
do
  local ch = shoal.channel({ limit = 0 })
  local function both(name)
    return { { ch, "k" }, { ch, "k", send = { name } }, timeout = 0.001 }
  end
  expect(select(both("x")), nil, "timeout")
  local t = shoal.task(function()
    local cases = both("t")
    cases.timeout = nil
    return shoal.select(cases)
  end)
  shoal.yield()
  local mine, theirs = select(both("m")), table.pack(t:join())
  local got = mine[1] == 1 and mine[2] or theirs[3]
  assert(mine[1] ~= theirs[2] and got == (mine[1] == 1 and "t" or "m"))
end

-- It waits where Lua cannot yield, in coroutines, and in other processes.
do
  local ch = shoal.channel()
  shoal.spawn(function(c)
    local t = {}
    local _ = ("x"):gsub("x", function()
      t = table.pack(shoal.select({ { c, "never" }, { c, "go" } }))
    end)
    c:send("done", table.unpack(t, 1, t.n))
  end, ch)
  local co = coroutine.wrap(function()
    return shoal.select({ { ch, "done" }, { ch, "never" } })
  end)
  shoal.task(ch.send, ch, "go", "now", 1)
  expect(table.pack(co()), 1, 2, "now", 1)
end

-- Values that need a module arrive as with receive, behind the number.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function(c)
    c:send("f", require("support").same, 1)
  end, ch)
  p:join()
  package.loaded.support = nil
  local got = select({ { ch, "never" }, { ch, "f" } })
  assert(got[1] == 2 and type(got[2]) == "function" and got[3] == 1)
  package.loaded.support = support
end

-- A cancel, and a message that goes back for lack of memory.
do
  local ch = shoal.channel()
  local t = shoal.task(function()
    local _ <close> = setmetatable({}, {
      __close = function()
        ch:send("closed", 1)
      end,
    })
    shoal.select({ { ch, "never" }, { ch, "never", send = { 1 } } })
    shoal.select({ { ch, "a" }, timeout = math.huge })
  end)
  assert(ch:receive("never") == 1)
  t:cancel()
  expect(table.pack(t:join()), nil, shoal.cancelled)
  expect(select({ { ch, "closed" } }), 1, 1)
  local big = ("x"):rep(4 << 20)
  ch:send("big", { big })
  local p = shoal.spawn({ memory_limit = "2M" }, function(c)
    return pcall(shoal.select, { { c, "none" }, { c, "big" } })
  end, ch)
  local _, ok, why = p:join()
  assert(not ok and why == "not enough memory", why)
  assert(#ch:receive("big")[1] == #big)
end

-- Arguments: the error names the case, and nothing has been sent.
do
  local ch = shoal.channel({ name = "args" })
  local good = { ch, "sent", send = { 1 } }
  local function wrong(expected, case)
    expect_error("case 2: " .. expected, shoal.select, { good, case })
    assert(ch:count("sent") == 0)
  end
  wrong("a table expected, got channel", ch)
  wrong("a channel, process, task, future or socket expected, got string", { "x" })
  wrong("a channel, process, task, future or socket expected, got nil", {})
  wrong("a key is a string, integer, boolean, light userdata or handle, got no value", { ch })
  wrong("a key is a string", { ch, 1.5 })
  wrong("send: a list of values expected, got string", { ch, "k", send = "x" })
  wrong("a message needs at least one value", { ch, "k", send = {} })
  wrong("the first value of a message must not be nil", { ch, "k", send = { n = 2, nil, 1 } })
  wrong("cannot send a coroutine", { ch, "k", send = { coroutine.create(print) } })
  wrong("there is no field 'snd'", { ch, "k", snd = { 1 } })
  wrong("there is no field 'timeout'", { shoal.task(function() end), timeout = 1 })
  wrong("more than a handle and a key", { ch, "k", 5 })
  wrong("only a channel has keys", { shoal.task(function() end), "k" })
  wrong("a process cannot join itself", { shoal.self() })
  expect_error("neither a case nor a timeout", shoal.select, {})
  expect_error("unknown field 'timout'", shoal.select, { good, timout = 1 })
  expect_error("table expected", shoal.select, ch)
  expect_error("timeout must not be negative", shoal.select, { good, timeout = -1 })
  expect_error("timeout in seconds expected, got string", shoal.select, { good, timeout = "1" })
  assert(ch:count("sent") == 0)
  local t
  t = shoal.task(function()
    expect_error("case 1: a task cannot join itself", shoal.select, { { t } })
  end)
  t:result()
end
