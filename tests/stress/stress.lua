-- SPDX-License-Identifier: MIT
-- Random spawns, sends, timeouts, cancels, limits and closes for some time; all is accounted for.
--
-- usage: shoal stress.lua [SECONDS [SEED]]
--
-- It goes in rounds. In each, processes with a seed of their own send and receive on a few channels
-- until the round's time is over, while the controller closes keys and, in every second round,
-- cancels processes. Then
--   each process has ended within half a minute, and none by an error that was not asked for;
--   no message has been received twice, or without having been sent;
--   each message that was sent has been received or still stands in its channel. Of a process that
--   was cancelled, one may be unknown: it received it and was ended before it could say so.
local shoal = require("shoal")

local seconds = tonumber(arg and arg[1]) or 10
local seed = tonumber(arg and arg[2]) or os.time()
print(("stress: %g s, seed %d"):format(seconds, seed))
math.randomseed(seed)

local WORKERS = 12
local KEYS = { "a", "b", 3, true }

-- What a process of the stress does; it returns when the round is over.
local function worker(stage, ledger, channels, number, keys)
  local shoal = require("shoal") -- luacheck: ignore 431
  math.randomseed(number)
  local random = math.random

  local function any(list)
    return list[random(#list)]
  end
  local function over()
    return stage:get("over") ~= nil
  end
  local function sent(id, ok, why)
    assert(ok or why == "timeout" or why == "closed", why)
    if ok then
      ledger:set("s" .. id, true)
    end
  end
  local function received(id, why)
    if id == nil then
      assert(why == "timeout" or why == "closed", why)
    else
      ledger:incr("r" .. id)
    end
  end
  local function new_id()
    return ledger:incr("id")
  end

  local actions
  actions = {
    function()
      local id = new_id()
      sent(id, any(channels):send_for(random() * 0.004, any(keys), id))
    end,
    function()
      local id = new_id()
      sent(id, any(channels):send_for(0, any(keys), id, ("x"):rep(random(300))))
    end,
    function()
      local a, b = new_id(), new_id()
      local ch = any(channels)
      local ok, outcome, why = pcall(ch.send_batch, ch, any(keys), { a, b }, 0.002)
      -- A batch that is larger than the limit is misuse.
      if ok then
        sent(a, outcome, why)
        sent(b, outcome, why)
      end
    end,
    function()
      received(any(channels):receive(any(keys), random() * 0.004))
    end,
    function()
      received(any(channels):receive(any(keys), 0))
    end,
    function()
      local key, id = any(channels):receive_any(keys, random() * 0.003)
      received(key ~= nil and id or nil, id)
    end,
    function()
      local list, why = any(channels):receive_batch(any(keys), random(4), random() * 0.003)
      for i = 1, list and list.n or 0 do
        received(list[i])
      end
      assert(list or why == "timeout" or why == "closed")
    end,
    function()
      local until_then = shoal.now() + random() * 0.003
      while shoal.now() < until_then do
      end
    end,
    function()
      for _ = 1, random(20000) do
      end
    end,
    function()
      shoal.sleep(random() * 0.002)
    end,
    shoal.yield,
    function()
      table.sort({ 3, 1, 2 }, function(x, y)
        shoal.sleep(0)
        received(any(channels):receive(any(keys), 0.0005))
        return x < y
      end)
    end,
    function()
      local t = shoal.task(any(actions))
      any(actions)()
      t:join()
    end,
    function()
      local t = shoal.task(function()
        shoal.sleep(10)
      end)
      shoal.yield()
      assert(t:cancel(30) == true)
    end,
    function()
      local child = shoal.spawn(function(...)
        return ...
      end, number, { number })
      local ok, n, list = child:join(30)
      assert(ok and n == number and list[1] == number)
    end,
    function()
      -- To be closed, should this process be cancelled here.
      local child <close> =
        shoal.spawn("local shoal = require 'shoal' while true do pcall(shoal.sleep, 0.001) end")
      shoal.sleep(random() * 0.002)
      assert(child:cancel(30) == true and child:status() == "cancelled")
    end,
    function()
      -- A daemon: should this process be cancelled in the join, the error is no failure.
      local _, err = shoal.spawn({ daemon = true }, error, { code = number }):join(30)
      assert(err.code == number)
    end,
    function()
      local child <close> = shoal.spawn("while true do end")
      assert(child.id > 0)
      shoal.sleep(random() * 0.002)
    end,
  }

  -- The first ones, which send and receive, are what it is about.
  local done = 0
  while not over() do
    actions[random() < 0.9 and random(7) or random(#actions)]()
    done = done + 1
  end
  return done
end

local function round(cancels)
  local stage, ledger = shoal.channel(), shoal.channel()
  local channels = {}
  for i, limit in ipairs({ math.huge, 0, 1, 5 }) do
    channels[i] = shoal.channel({ limit = limit })
  end
  local workers, cancelled = {}, 0
  local function start(i)
    workers[i] = shoal.spawn(worker, stage, ledger, channels, math.random(1 << 30), KEYS)
  end
  for i = 1, WORKERS do
    start(i)
  end
  local all = table.move(workers, 1, WORKERS, 1, {})

  local until_then = shoal.now() + 0.1 + math.random() * 0.4
  while shoal.now() < until_then do
    shoal.sleep(math.random() * 0.02)
    if cancels then
      local i = math.random(WORKERS)
      if math.random() < 0.5 then
        assert(workers[i]:cancel(30) == true)
      else
        workers[i]:cancel()
      end
      cancelled = cancelled + 1
      start(i)
      all[#all + 1] = workers[i]
    end
    if math.random() < 0.02 then
      channels[math.random(#channels)]:close(KEYS[math.random(#KEYS)])
    end
  end
  stage:set("over", true)

  local done = 0
  for i, p in ipairs(all) do
    local ok, result, traceback = p:join(30)
    if ok then
      done = done + result
    elseif not (cancels and result == shoal.cancelled) then
      error(("worker %d: %s\n%s"):format(i, tostring(result), traceback or ""))
    end
  end

  -- What is left.
  local left = {}
  for _, ch in ipairs(channels) do
    ch:close()
    for _, key in ipairs(KEYS) do
      for id in ch:each(key) do
        assert(not left[id], "a message stands in two places")
        left[id] = true
      end
    end
  end
  local messages, unknown = 0, 0
  for id = 1, ledger:get("id") or 0 do
    local was_sent = ledger:get("s" .. id)
    local times = (ledger:get("r" .. id) or 0) + (left[id] and 1 or 0)
    messages = messages + times
    assert(times <= 1, "a message was received twice")
    if was_sent and times == 0 or times == 1 and not was_sent then
      unknown = unknown + 1
    end
  end
  if unknown > (cancels and 2 * cancelled or 0) then
    error(("%d messages are not accounted for, after %d cancels"):format(unknown, cancelled))
  end
  return done, messages, cancelled, unknown
end

local start, rounds = shoal.now(), 0
local totals = { 0, 0, 0, 0 }
while shoal.now() - start < seconds do
  rounds = rounds + 1
  for i, n in ipairs({ round(rounds % 2 == 0) }) do
    totals[i] = totals[i] + n
  end
end
print(
  ("stress: %d rounds, %d actions, %d messages, %d cancels, %d unknown of those"):format(
    rounds,
    table.unpack(totals)
  )
)
