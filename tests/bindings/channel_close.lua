-- SPDX-License-Identifier: MIT
-- A closed channel still delivers what was sent before, and wakes whoever waits.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

-- What stands there is received, then it is closed; nothing more gets in.
do
  local ch = shoal.channel()
  ch:send("k", 1)
  ch:send("k", 2)
  ch:close()
  expect(pack(ch:send("k", 3)), nil, "closed")
  expect(pack(ch:send_for(0, "k", 3)), nil, "closed")
  expect(pack(ch:send_batch("k", { 3 })), nil, "closed")
  expect(pack(ch:set("k", 3)), nil, "closed")
  expect(pack(ch:send("new", 3)), nil, "closed")
  assert(ch:count("k") == 2 and ch:get("k") == 1)
  expect(pack(ch:receive("k")), 1)
  expect(pack(ch:receive("k", 0)), 2)
  expect(pack(ch:receive("k")), nil, "closed")
  expect(pack(ch:receive("k", 0)), nil, "closed")
  expect(pack(ch:receive("k", 0.01)), nil, "closed")
  expect(pack(ch:receive("new")), nil, "closed")
  expect(pack(ch:receive_any({ "k", "new" })), nil, "closed")
  expect(pack(ch:receive_any({ "k", "new" }, 0)), nil, "closed")
  expect(pack(ch:receive_batch("k", 5)), nil, "closed")
  ch:close()
  ch:close("k")
end

-- Waiting receivers of each kind are woken.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function()
    local s = require("shoal")
    local all = {
      s.task(function()
        return ch:receive("k")
      end),
      s.task(function()
        return ch:receive("k", 1000)
      end),
      s.task(function()
        return ch:receive_any({ "k", "l" })
      end),
      s.task(function()
        return ch:receive_batch("l", 3)
      end),
      s.task(function()
        for _ in ch:each("l") do
          error("nothing was sent")
        end
        return nil, "closed"
      end),
    }
    s.yield()
    ch:send("ready", true)
    for _, t in ipairs(all) do
      support.expect(table.pack(t:result()), nil, "closed")
    end
    return "all"
  end)
  assert(ch:receive("ready"))
  ch:close()
  assert(p:result() == "all")
end

-- Waiting senders, too; what they had is not delivered, also at a rendezvous.
for _, limit in ipairs({ 0, 1 }) do
  local ch = shoal.channel({ limit = limit })
  for i = 1, limit do
    ch:send("k", i)
  end
  local t = shoal.task(function()
    return ch:send("k", "waiting")
  end)
  local u = shoal.task(function()
    return ch:send_for(1000, "k", "waiting too")
  end)
  shoal.yield()
  ch:close()
  expect(pack(t:result()), nil, "closed")
  expect(pack(u:result()), nil, "closed")
  for i = 1, limit do
    expect(pack(ch:receive("k")), i)
  end
  expect(pack(ch:receive("k")), nil, "closed")
end

-- One key is closed, the others are not.
do
  local ch = shoal.channel()
  ch:send("a", 1)
  local t = shoal.task(function()
    return ch:receive("empty")
  end)
  local any = shoal.task(function()
    return ch:receive_any({ "empty", "open" })
  end)
  shoal.yield()
  ch:close("a")
  ch:close("empty")
  expect(pack(t:result()), nil, "closed")
  expect(pack(ch:send("a", 2)), nil, "closed")
  expect(pack(ch:receive("a")), 1)
  expect(pack(ch:receive("a")), nil, "closed")
  assert(ch:send("open", "x"))
  -- Who waits for several keys goes on while one of them is open.
  expect(pack(any:result()), "open", "x")
  ch:close("open")
  expect(pack(ch:receive_any({ "a", "empty", "open" })), nil, "closed")
end

-- It stays closed for those who get the handle later, and in other processes.
do
  local ch = shoal.channel()
  ch:close()
  local p = shoal.spawn(function()
    return ch:receive("k")
  end)
  expect(pack(p:join()), true, nil, "closed")
end

-- Leaving a scope closes.
do
  local out
  do
    local ch <close> = shoal.channel()
    ch:send("k", 1)
    out = ch
  end
  expect(pack(out:send("k", 2)), nil, "closed")
  expect(pack(out:receive("k")), 1)
  pcall(function()
    local c2 <close> = shoal.channel()
    out = c2
    error("x")
  end)
  expect(pack(out:receive("k")), nil, "closed")
end

-- A channel that is closed and dropped while others wait on it: no crash, all are told.
do
  local all = {}
  for i = 1, support.scaled(100) do
    local ch = shoal.channel({ limit = i % 2 })
    all[i] = shoal.spawn(function()
      local s = require("shoal")
      local t = s.task(function()
        return ch:receive("a")
      end)
      ch:send("b", 1)
      local ok, why = ch:send("b", 2)
      assert(ok == nil and why == "closed")
      support.expect(table.pack(t:result()), nil, "closed")
      return true
    end)
    if i % 3 == 0 then
      shoal.yield()
    end
    ch:close()
  end
  collectgarbage()
  for _, p in ipairs(all) do
    local ok, err = p:join()
    -- The first send may have been too late.
    assert(ok == true or err:find('why == "closed"', 1, true) == nil, err)
  end
end
