-- SPDX-License-Identifier: MIT
-- Cancels that race with messages: none is lost, none comes twice.
local shoal = require("shoal")
local support = require("support")
local expect, pack = support.expect, table.pack

local ch = shoal.channel()

local function until_waiting(p)
  while p:status() ~= "waiting" do
    shoal.yield()
  end
  return p
end

-- A cancel races with a message: it is received, or it stands there still.
do
  local rounds = support.scaled(10000, 100)
  for i = 1, rounds do
    local taken = 0
    local function take()
      if ch:receive("raced") == i then
        taken = taken + 1
      end
    end
    local t = shoal.task(take)
    shoal.yield()
    if i % 2 == 0 then
      ch:send("raced", i)
      t:cancel()
    else
      t:cancel()
      ch:send("raced", i)
    end
    t:join()
    local left = ch:receive("raced", 0)
    assert((taken == 1) ~= (left == i), i)
  end
  -- The same with two processes on their workers: one sends, one is cancelled.
  rounds = support.scaled(1000, 30)
  for i = 1, rounds do
    local receiver = shoal.spawn(function()
      return ch:receive("raced")
    end)
    if i % 3 == 0 then
      until_waiting(receiver)
    end
    local sender = shoal.spawn(function()
      ch:send("raced", i)
    end)
    receiver:cancel()
    local _, taken = receiver:join()
    sender:join()
    local left = ch:receive("raced", 0)
    assert((taken == i) ~= (left == i), i)
  end
end

-- A send that is cancelled has sent nothing, or all.
do
  local one = shoal.channel({ limit = 1 })
  one:send("k", 0)
  for i = 1, support.scaled(1000, 30) do
    local sender = shoal.spawn(function()
      return one:send("k", i)
    end)
    if i % 2 == 0 then
      until_waiting(sender)
    end
    local taker = shoal.spawn(function()
      return one:receive("k")
    end)
    sender:cancel()
    assert(taker:result() == 0)
    local sent = sender:join()
    local found = one:receive("k", 0)
    assert((sent == true) == (found == i), i)
    one:send("k", 0)
  end
end

-- A cancel while the receiver loads the module that a message names: the message goes back.
do
  local module <close> = support.temporary([[
    local shoal = require("shoal")
    shoal.channel("loads"):send("begun", true)
    shoal.channel("loads"):receive("go on")
    return setmetatable({ f = string.dump }, { __index = {} })]])
  local gate = shoal.channel("loads")
  package.preload["slow module"] = nil
  package.loaded["slow module"] = { f = coroutine.wrap(print), object = setmetatable({}, {}) }
  local inbox = shoal.channel()
  for _, receive in ipairs({
    function(path)
      package.preload["slow module"] = loadfile(path)
      return inbox:receive("k") ~= nil
    end,
    function(path)
      package.preload["slow module"] = loadfile(path)
      return inbox:receive_any({ "none", "k" }) ~= nil
    end,
    function(path)
      package.preload["slow module"] = loadfile(path)
      return inbox:receive_batch("k", 5) ~= nil
    end,
  }) do
    inbox:send("k", package.loaded["slow module"].f)
    local p = shoal.spawn(receive, module.path)
    assert(gate:receive("begun", 20))
    assert(p:cancel(20))
    assert(inbox:count("k") == 1)
    -- In cleanup code, it arrives.
    p = shoal.spawn(function(path)
      local _ <close> = setmetatable({}, {
        __close = function()
          gate:set("received", receive(path))
        end,
      })
      gate:send("runs", true)
      gate:receive("never")
    end, module.path)
    assert(gate:receive("runs", 20))
    p:cancel()
    assert(gate:receive("begun", 20))
    gate:send("go on", true)
    expect(pack(p:join()), nil, shoal.cancelled)
    assert(gate:get("received") == true and inbox:count("k") == 0)
    gate:set("received")
  end
end
