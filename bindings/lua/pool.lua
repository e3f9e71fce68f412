-- SPDX-License-Identifier: MIT
-- shoal.pool, and what pools do that is not a call: map, close, reload.
--
-- All that a pool is stands in its queue: calls under "call" and under the numbers of its
-- processes, orders for the starter (pool_starter.lua) under "order", the starter itself under
-- "starter", its description under "plan".
local shoal = ...
local math, string = shoal.math, shoal.string

local pool = {}

local OWN = { size = true, file = true, body = true, name = true, tasks = true, limit = true }
local PASSED = {
  env = true,
  libs = true,
  channels = true,
  memory_limit = true,
  cpu_limit = true,
  message_limit = true,
  seed = true,
}

-- Arguments ---------------------------------------------------------------------------------------

-- Raises without a place: make() adds its caller's.
local function refuse(text, ...)
  error("bad argument #1 to 'pool' (" .. string.format(text, ...) .. ")", 0)
end

-- Strips the place in here of an error.
local function bare(err)
  return type(err) == "string" and string.gsub(err, "^%[shoal%.pool%]:%d+: ", "") or err
end

local function check(condition, ...)
  if not condition then
    refuse(...)
  end
end

local function is_count(value, least)
  return math.type(value) == "integer" and value >= least
end

-- What is wrong with the options of processes, as spawn says it.
local function check_passed(options)
  local passed = {}
  for option, value in pairs(options) do
    if not OWN[option] then
      local text = "there is no option '%s' of pools (size, file, body, name, tasks, limit, env, "
        .. "libs, channels, memory_limit, cpu_limit, message_limit, seed)"
      check(PASSED[option], text, tostring(option))
      passed[option] = value
    end
  end
  local ok, err = pcall(shoal.check_options, passed)
  if not ok then
    refuse("%s", string.match(tostring(err), "%((.*)%)$") or tostring(err))
  end
  return passed
end

-- The function that each process calls first, or nil.
local function script_of(options)
  local file, body = options.file, options.body
  check(file == nil or body == nil, "a file or a body, not both")
  if file ~= nil then
    check(type(file) == "string", "option 'file' is not a string")
    local script, err = loadfile(file, "t")
    check(script, "%s", err)
    return script
  end
  if type(body) == "string" then
    local script, err = load(body, body, "t")
    check(script, "%s", err)
    return script
  end
  local text = "option 'body': a function or source text expected, got %s"
  check(body == nil or type(body) == "function", text, type(body))
  return body
end

local function plan_of(options)
  check(type(options) == "table", "a table of options expected, got %s", type(options))
  local size, tasks, limit = options.size, options.tasks, options.limit
  check(size == nil or is_count(size, 1), "option 'size' is not a positive integer")
  check(tasks == nil or is_count(tasks, 1), "option 'tasks' is not a positive integer")
  local bounded = limit ~= nil and limit ~= math.huge
  check(not bounded or is_count(limit, 0), "option 'limit' is not a non-negative integer")
  check(options.name == nil or type(options.name) == "string", "option 'name' is not a string")
  return {
    size = size or shoal.workers(),
    tasks = tasks or 1,
    limit = limit or math.huge,
    name = options.name,
    file = options.file,
    options = check_passed(options),
    script = script_of(options),
  }
end

-- A pool of that name exists already: what was asked for must be what it is.
local function check_same(options, known)
  local plan = shoal.queue(known):get("plan")
  for _, option in ipairs({ "size", "tasks", "limit" }) do
    local asked = options[option]
    local text = "pool '%s' exists with another %s (%s)"
    local same = asked == nil or asked == plan[option]
    check(same, text, options.name, option, tostring(plan[option]))
  end
  return known
end

-- Making one --------------------------------------------------------------------------------------

local function new_pool(plan)
  local queue = shoal.channel()
  for slot = 1, plan.size do
    queue:limit(slot, plan.limit)
  end
  queue:limit("call", plan.limit)
  queue:set("plan", { size = plan.size, tasks = plan.tasks, limit = plan.limit })
  return shoal.new_pool(queue, plan.name, plan.size), queue
end

local function start_starter(made, queue, plan, registry)
  local passed = plan.options
  local ok, starter = pcall(
    shoal.spawn,
    {
      name = "pool" .. (plan.name and " " .. plan.name or ""),
      daemon = true,
      env = passed.env,
      libs = passed.libs,
      channels = passed.channels,
    },
    "local pool = ... return pool:_start(select(2, ...))",
    made,
    {
      size = plan.size,
      tasks = plan.tasks,
      file = plan.file,
      -- The starter has these globals itself.
      has_env = passed.env ~= nil,
      memory_limit = passed.memory_limit,
      cpu_limit = passed.cpu_limit,
      message_limit = passed.message_limit,
      libs = passed.libs,
      channels = passed.channels,
      seed = passed.seed,
    },
    registry or false,
    plan.script
  )
  if not ok then
    local err = string.gsub(bare(starter), "at %[4%]", "at body")
    refuse("%s", err)
  end
  shoal.watch_starter(starter, made, registry)
  queue:set("starter", starter)
  return starter
end

local function make_unnamed(options)
  local plan = plan_of(options)
  local made, queue = new_pool(plan)
  start_starter(made, queue, plan)
  return made
end

-- Of those who make one of the same name at the same time, one has made it.
local function get_or_make(options)
  local registry = shoal.channel("shoal.pool:" .. options.name)
  local known = registry:get("pool")
  while not known do
    local plan = plan_of(options)
    local made, queue = new_pool(plan)
    local starter = start_starter(made, queue, plan, registry)
    if registry:add("pool", made) then
      return made
    end
    starter:cancel()
    known = registry:get("pool")
  end
  return check_same(options, known)
end

function pool.make(options)
  local named = type(options) == "table" and type(options.name) == "string"
  local ok, made = pcall(named and get_or_make or make_unnamed, options)
  if not ok then
    error(bare(made), 3)
  end
  return made
end

-- Methods -----------------------------------------------------------------------------------------

-- Sends the starter an order. nil: the pool is closed.
local function order(queue, ...)
  local future = shoal.new_call(...)
  return shoal.send_call(queue, nil, "order", future) and future
end

function pool.close(self, timeout)
  local queue, size = shoal.queue(self)
  local starter = queue:get("starter")
  -- From here on there are no more calls, even if the starter has not heard of it.
  queue:close("call")
  for slot = 1, size do
    queue:close(slot)
  end
  local future = order(queue, "close")
  -- Without one, somebody has closed it before.
  local ok, err = (future or starter):join(timeout)
  if not ok and err == "timeout" then
    if future then
      starter:cancel()
      shoal.end_pool(self)
    end
    return nil, "timeout"
  end
  starter:join()
  shoal.end_pool(self)
  return true
end

function pool.leave_scope(self)
  local starter = shoal.queue(self):get("starter")
  starter:cancel()
  starter:join()
  shoal.end_pool(self)
end

function pool.reload(self)
  local future = order(shoal.queue(self), "reload")
  local ok, err = nil, "closed"
  if future then
    ok, err = future:join()
  end
  if not ok then
    error(err == "closed" and "the pool is closed" or err, 3)
  end
  return true
end

return pool
