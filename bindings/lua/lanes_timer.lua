-- SPDX-License-Identifier: MIT
-- lanes.timer: sets the time under a key of a linda, once or again and again. One process has all
-- timers; it is a daemon, which the first call starts. What it is asked stands in the channel
-- `timers` under "call".
local shoal = ...
local core = require("shoal.lanes.core")

local timers = {}

-- The process -------------------------------------------------------------------------------------

-- Sets the beats of one timer. They are at their times, however long one takes.
local function beat(linda, key, first, period)
  local ours = require("shoal")
  local due = ours.now() + first
  while true do
    ours.sleep(math.max(due - ours.now(), 0))
    linda:set(key, core.now_secs())
    if not period then
      return
    end
    due = math.max(due + period, ours.now())
  end
end

local function run(calls)
  local ours = require("shoal")
  local running = {} -- linda → key → { task, first, period }
  for what, linda, key, first, period in calls:each("call") do
    if what == "list" then
      local list = {}
      for at, keys in pairs(running) do
        for name, timer in pairs(keys) do
          if timer.task:status() ~= "done" then
            list[#list + 1] = { at, name, { timer.first, timer.period } }
          end
        end
      end
      linda:send("reply", list)
    else
      local keys = running[linda] or {}
      running[linda] = keys
      if keys[key] then
        keys[key].task:cancel()
        keys[key] = nil
      end
      if first then
        local task = ours.task(beat, linda, key, first, period)
        keys[key] = { task = task, first = first, period = period }
      elseif next(keys) == nil then
        running[linda] = nil
      end
    end
  end
end

local function calls()
  local channel = core.settings().timers
  if not channel then
    error("timers are not active", 3)
  end
  if channel:add("started", true) then
    shoal.spawn({ name = "lanes timers", daemon = true }, run, channel)
  end
  return channel
end

-- The functions -----------------------------------------------------------------------------------

local function check(condition, ...)
  if not condition then
    error(("lanes.timer: " .. (...)):format(select(2, ...)), 3)
  end
end

local function is_time(value)
  return type(value) == "number" and value >= 0
end

-- timer(linda, key, date | seconds [, period]); 0 without a period clears it.
function timers.timer(linda, key, first, period)
  local channel = calls()
  check(type(linda) == "userdata" and core.is_linda(linda), "Linda expected, got %s", type(linda))
  check(key ~= nil, "a key expected, got nil")
  local ok, err = pcall(linda.count, linda, key)
  check(ok, "%s", err)
  check(period == nil or is_time(period), "bad period: %s", tostring(period))
  local is_date = type(first) == "table"
  if is_date then
    first = math.max(os.time(first) - core.now_secs(), 0)
  end
  check(first == nil or is_time(first), "bad time of the first beat: %s", tostring(first))
  period = period ~= 0 and period or nil
  if not first or (first == 0 and not period and not is_date) then
    channel:send("call", "clear", linda, key)
  else
    channel:send("call", "set", linda, key, first, period)
  end
end

-- timers(): a list of { linda, key, { first, period } }.
function timers.timers()
  local channel, reply = calls(), shoal.channel()
  channel:send("call", "list", reply)
  return reply:receive("reply")
end

return timers
