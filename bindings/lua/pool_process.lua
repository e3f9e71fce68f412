-- SPDX-License-Identifier: MIT
-- The processes of pools and maps: they take calls from a queue and answer them.
local shoal = ...
local string = shoal.string

local process = {}

-- What is called ----------------------------------------------------------------------------------

-- What the script of the pool has returned, if that is a table.
local exports

local function look_up(scope, name)
  local found = scope[name]
  if found ~= nil then
    return found
  end
  for part in string.gmatch(name, "[^.]+") do
    if type(scope) ~= "table" then
      return nil
    end
    scope = scope[part]
  end
  return scope
end

local function find(name)
  local found = exports and look_up(exports, name)
  if found == nil then
    found = look_up(_G, name)
  end
  if found == nil then
    error("the pool has no function '" .. name .. "'", 0)
  end
  return found
end

-- A chunk of a map. The taker knows which one, and at which item it is.
local function call_items(taker, f, first, count, items)
  local results, began = {}, shoal.now()
  taker.first, taker.count = first, count
  for i = 1, count do
    taker.position = first + i - 1
    results[i] = f(items[i], first + i - 1)
  end
  taker.position = nil
  return true, results, shoal.now() - began
end

-- The marker `true` in place of a function means that many items follow.
local function call(taker, f, ...)
  if f == nil then
    return -- it has been cancelled
  elseif f == true then
    local g = ...
    if type(g) == "string" then
      g = find(g)
    end
    return call_items(taker, g or taker.f, select(2, ...))
  elseif type(f) == "string" then
    f = find(f)
  end
  return f(...)
end

local function execute(taker, answer)
  return call(taker, answer:begin())
end

-- Answers -----------------------------------------------------------------------------------------

-- Why the results cannot travel; of a chunk, which of them it is.
local function results_are_stuck(taker, answer, why, _, results)
  for i = 1, taker.first and taker.count or 0 do
    local ok, err = pcall(shoal.travels, results[i], "result")
    if not ok then
      answer:finish(false, taker.first + i - 1, nil, err)
      return
    end
  end
  answer:fail(why)
end

-- What stands for an error value that cannot travel.
local function text_of(err)
  local meta = getmetatable(err)
  if type(meta) == "table" and meta.__tostring then
    return tostring(err)
  end
  return "(error object is a " .. type(err) .. " value)"
end

local function finish(taker, answer, ok, ...)
  local position = taker.position
  if not ok then
    local err, stack = (...), taker.stack()
    if not position then
      answer:fail(err, stack)
    elseif not answer:finish(false, position, stack, err) then
      answer:finish(false, position, stack, text_of(err))
    end
    return
  end
  local answered, why = answer:finish(...)
  if not answered then
    results_are_stuck(taker, answer, why, ...)
  end
end

-- Takes calls from the keys, the first of which is its own, till it is told there to end, or all of
-- them are closed and empty.
local function work(queue, keys, f)
  local handler, stack = shoal.tracer()
  local taker = { f = f, stack = stack }
  while true do
    local key, answer = queue:receive_any(keys)
    if key == nil or key == keys[1] then
      return
    end
    local _ <close> = answer
    taker.first, taker.position = nil, nil
    finish(taker, answer, xpcall(execute, handler, taker, answer))
  end
end

-- Bodies ------------------------------------------------------------------------------------------

-- A taker whose call was cancelled has ended by that, and is started again.
local function keep_takers(queue, takers)
  local ended = shoal.channel()
  local function start(number)
    local taker = takers[number]
    taker.task = shoal.task(work, queue, taker.keys)
    shoal.watch(taker.task, ended, number)
  end
  for number = 1, #takers do
    start(number)
  end
  local left = #takers
  while left > 0 do
    local number = ended:receive(1)
    local status = takers[number].task:status()
    if status == "cancelled" then
      start(number)
    else
      takers[number].task:result() -- raises, if it has failed
      left = left - 1
    end
  end
end

-- The calls of call_on come one at a time: they have a taker of their own, if there are several.
local function takers_of(own, slot, tasks)
  if tasks == 1 then
    return { { keys = { own, slot, "call" } } }
  end
  local takers = { { keys = { own, slot } } }
  for _ = 1, tasks do
    takers[#takers + 1] = { keys = { own, "call" } }
  end
  return takers
end

function process.serve(pool, own, slot, tasks, script)
  local queue = shoal.queue(pool)
  if script then
    local returned = script()
    exports = type(returned) == "table" and returned or nil
  end
  queue:send("ready", own)
  keep_takers(queue, takers_of(own, slot, tasks))
end

function process.serve_map(pool, f)
  work(shoal.queue(pool), { 0, "call" }, f)
end

return process
