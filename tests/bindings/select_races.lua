-- SPDX-License-Identifier: MIT
-- Processes select among sends, receives and ends with random timeouts, beside others that only
-- send or receive; some are cancelled, and keys are closed. Each message that was sent is received
-- once, or stands where it was sent.
local shoal = require("shoal")
local support = require("support")
local random = support.random()

local SELECTORS = 4
local STEPS = support.scaled(300, 20)

-- Says how each message ended by what it returns: lists of those that were sent, and received. What
-- happens to a process that is cancelled stands in `notes`, a channel with a key for each.
local function run(me, ch, notes, steps, seed)
  math.randomseed(seed)
  local next = 0
  local function note(kind, message)
    assert(notes:send(kind, message))
  end
  -- A shield: what has happened is noted, whatever comes.
  local function step()
    local cases, kinds = {}, {}
    local message = me .. " " .. next
    local ended
    for i = 1, random(1, 4) do
      local draw = random(10)
      local key = random(3)
      if draw <= 4 then
        cases[i], kinds[i] = { ch, key }, "receive"
      elseif draw <= 8 then
        cases[i], kinds[i] = { ch, key, send = { message, ("x"):rep(random(0, 200)) } }, "send"
      elseif draw == 9 then
        ended = ended
          or shoal.task(function(s)
            shoal.sleep(s)
            return "end"
          end, random() / 1000)
        cases[i], kinds[i] = { ended }, "end"
      else
        cases[i], kinds[i] = { ch, "closed" }, "closed"
      end
    end
    cases.timeout = random(3) == 1 and 0 or random() / 500
    local i, a, b = shoal.select(cases)
    local kind = kinds[i]
    if not i then
      assert(a == "timeout")
    elseif kind == "end" then
      -- A cancel of the process ends its tasks.
      assert(a and b == "end" or b == shoal.cancelled)
    elseif kind == "closed" then
      assert(a == nil and b == "closed")
    elseif kind == "send" then
      assert(a == true or b == "closed", b)
      if a then
        note("sent", message)
        next = next + 1
      end
    else
      assert(a or b == "closed", b)
      if a then
        note("received", a)
      end
    end
    if ended then
      ended:cancel()
    end
  end
  for _ = 1, steps do
    shoal.shield(step)
    shoal.sleep(random(8) == 1 and 0.0005 or 0)
  end
end

local function round(limit, bytes)
  local ch = shoal.channel({ limit = limit, bytes = bytes })
  local notes = shoal.channel()
  ch:close("closed")
  local all = {}
  for me = 1, SELECTORS do
    all[me] = shoal.spawn(run, me, ch, notes, STEPS, random(1 << 30))
  end
  -- One that is cancelled in the middle, one that comes late, and a close at some time.
  shoal.sleep(random() / 50)
  all[random(SELECTORS)]:cancel(math.huge)
  if random(2) == 1 then
    ch:close(random(3))
  end
  all[#all + 1] = shoal.spawn(run, SELECTORS + 1, ch, notes, STEPS, random(1 << 30))
  for _, p in ipairs(all) do
    local ok, why, trace = p:join()
    assert(ok or why == shoal.cancelled, trace and why .. trace)
  end
  local sent, received = {}, {}
  for _, kind in ipairs({ "sent", "received" }) do
    local into = kind == "sent" and sent or received
    for _ = 1, notes:count(kind) do
      local message = notes:receive(kind)
      assert(not into[message], "twice " .. kind .. ": " .. message)
      into[message] = true
    end
  end
  for key = 1, 3 do
    for _ = 1, ch:count(key) do
      local message = ch:receive(key)
      assert(not received[message], "also stands: " .. message)
      received[message] = true
    end
    assert(select("#", ch:receive(key, 0)) == 2)
  end
  for message in pairs(sent) do
    assert(received[message], "lost: " .. message)
  end
  for message in pairs(received) do
    assert(sent[message], "never sent: " .. message)
  end
end

for _, limit in ipairs({ 0, 1, 3, math.huge }) do
  round(limit)
  round(limit, 600)
end

-- Tasks of one process do the same in pairs: each message goes from a select to a select.
do
  local ch = shoal.channel({ limit = 0 })
  local count = support.scaled(2000, 50)
  local sums = { 0, 0 }
  local function both(me)
    for i = 1, count do
      local n, value = shoal.select({ { ch, "k", send = { i } }, { ch, "k" } })
      sums[me] = sums[me] + (n == 1 and i or -value)
    end
  end
  local one, two = shoal.task(both, 1), shoal.task(both, 2)
  one:result()
  two:result()
  assert(sums[1] + sums[2] == 0)
end
