-- SPDX-License-Identifier: MIT
-- The starter of a pool: a process that starts the others, and starts them again.
--
-- Each process has a slot, from 1 to the pool's size, and a key of its own in the queue, a negative
-- number, by which it is told to end. What comes in:
--
--   "ready"  the own key of a process that has loaded the script
--   "down"   as of monitors
--   "order"  answers: "close", "reload"
--   and calls, where no process could take them: see wait()
local shoal = ...
local string = shoal.string

local starter = {}

local function start_process(state, slot)
  local plan = state.plan
  state.last = state.last - 1
  local seed = plan.seed
  if seed then
    seed = seed + slot.number - 1
  end
  local process = shoal.spawn(
    {
      name = state.name,
      daemon = true,
      env = plan.has_env and _G or nil,
      libs = plan.libs,
      channels = plan.channels,
      memory_limit = plan.memory_limit,
      cpu_limit = plan.cpu_limit,
      message_limit = plan.message_limit,
      seed = seed,
    },
    "local pool = ... return pool:_serve(select(2, ...))",
    state.pool,
    state.last,
    slot.number,
    plan.tasks,
    state.script
  )
  slot.process, slot.own = process, state.last
  slot.ready, slot.failure, slot.version = false, nil, state.version
  state.by_id[process.id] = slot
  state.live = state.live + 1
  process:monitor(state.queue, "down")
  if state.closing then
    state.queue:close(slot.own)
  end
end

-- In a shield: no process is started without being in its slot.
local function start(state, slot)
  local ok, err = pcall(shoal.shield, start_process, state, slot)
  if ok then
    return
  elseif string.find(tostring(err), "the program is ending", 1, true) then
    state.queue:receive("end") -- the cancel, which comes to all
  end
  error(err, 0)
end

local function fail(answer, failure)
  local _ <close> = answer
  answer:fail(failure.err, failure.traceback)
end

-- Fails the calls that stand under the key.
local function fail_all(state, key, failure)
  for _ = 1, state.queue:count(key) do
    local answer = state.queue:receive(key, 0)
    if answer then
      fail(answer, failure)
    end
  end
end

-- No process has come as far as to take calls. The calls that stand there, and the next one, fail;
-- it starts the processes anew. (To do so at once might go on for ever.)
local function load_failed(state, slot, status)
  local _, err, traceback = slot.process:join()
  if status == "cancelled" then
    err = "the process was cancelled while it loaded the script"
  elseif status == "done" then
    err = "the process ended while it loaded the script"
  end
  slot.failure = { err = err, traceback = type(traceback) == "string" and traceback or nil }
  fail_all(state, slot.number, slot.failure)
  if state.live == 0 then
    fail_all(state, "call", slot.failure)
  end
end

local function is_down(state, id, status)
  local slot = state.by_id[id]
  state.by_id[id] = nil
  state.live = state.live - 1
  state.queue:set(slot.own) -- what it was told and did not hear
  if not slot.ready and slot.version == state.version then
    load_failed(state, slot, status)
  elseif not state.closing then
    start(state, slot)
  end
end

-- A call that nobody can take has come.
local function take_call(state, key, answer)
  local failure
  for _, slot in ipairs(state.slots) do
    if slot.failure and (key == "call" or key == slot.number) then
      failure = failure or slot.failure
      if not state.closing then
        start(state, slot)
      end
    end
  end
  fail(answer, failure)
end

-- Orders ------------------------------------------------------------------------------------------

local orders = {}

function orders.reload(state, answer)
  local script = state.script
  if state.plan.file then
    local loaded, err = loadfile(state.plan.file, "t")
    if not loaded then
      answer:fail(err)
      return
    end
    script = loaded
  end
  state.script, state.version = script, state.version + 1
  local takers = state.plan.tasks == 1 and 1 or state.plan.tasks + 1
  for _, slot in ipairs(state.slots) do
    if slot.failure then
      start(state, slot)
    else
      -- What it has taken, it finishes; what is sent from now on, it does not take.
      for _ = 1, takers do
        state.queue:send(slot.own, true)
      end
    end
  end
  answer:finish(true)
end

-- What has been called is still answered: a process ends when all its keys are closed and empty.
function orders.close(state, answer)
  state.closers[#state.closers + 1] = answer
  if state.closing then
    return
  end
  state.closing = true
  if state.registry then
    state.registry:set("pool")
  end
  state.queue:close("call")
  for _, slot in ipairs(state.slots) do
    state.queue:close(slot.number)
    if not slot.failure then
      state.queue:close(slot.own)
    end
  end
end

local function obey(state, answer)
  local name = answer:begin()
  if name then
    orders[name](state, answer)
  end
end

-- The process -------------------------------------------------------------------------------------

-- The next thing that has happened. "ready" comes first: who is down had sent it before.
local function wait(state)
  local keys = { "ready", "down", "order" }
  for _, slot in ipairs(state.slots) do
    if slot.failure then
      keys[#keys + 1] = slot.number
    end
  end
  if state.live == 0 then
    keys[#keys + 1] = "call"
  end
  return state.queue:receive_any(keys)
end

-- After an order to close, processes that died may have left calls behind.
local function restart_for_rest(state)
  for i, slot in ipairs(state.slots) do
    local rest = state.queue:count(slot.number) > 0 or i == 1 and state.queue:count("call") > 0
    if rest and not slot.failure then
      start(state, slot)
    elseif rest then
      fail_all(state, slot.number, slot.failure)
      fail_all(state, "call", slot.failure)
    end
  end
  return state.live > 0
end

local function run(state)
  for _, slot in ipairs(state.slots) do
    start(state, slot)
  end
  while not state.closing or state.live > 0 or restart_for_rest(state) do
    local key, a, b = wait(state)
    if key == nil then
      return -- who closes the pool waits no longer
    elseif key == "ready" then
      for _, slot in ipairs(state.slots) do
        slot.ready = slot.ready or slot.own == a
      end
    elseif key == "down" then
      is_down(state, a, b)
    elseif key == "order" then
      obey(state, a)
    else
      take_call(state, key, a)
    end
  end
end

-- Nobody can call any more, and nothing runs. (What stands in the queue is closed when the starter
-- has ended.)
local function leave(state)
  if state.registry and state.registry:get("pool") == state.pool then
    state.registry:set("pool")
  end
  state.queue:close()
  for _, slot in pairs(state.by_id) do
    slot.process:cancel()
  end
  for _, slot in pairs(state.by_id) do
    slot.process:join()
  end
  for _, answer in ipairs(state.closers) do
    answer:finish(true)
  end
end

function starter.serve(pool, plan, registry, script)
  local state = {
    pool = pool,
    queue = shoal.queue(pool),
    name = "pool " .. (pool.name or pool.id),
    plan = plan,
    registry = registry,
    script = script,
    version = 1,
    slots = {},
    by_id = {},
    live = 0,
    last = 0,
    closers = {},
  }
  for number = 1, plan.size do
    state.slots[number] = { number = number }
  end
  local _ <close> = setmetatable({}, {
    __close = function()
      leave(state)
    end,
  })
  run(state)
end

return starter
