-- SPDX-License-Identifier: MIT
-- shoal.supervisor: a process that starts others, and starts them again when they end.
--
-- It has two keys in its inbox: "down", where its children's monitors report, and "call", where the
-- handles that start() returns ask.
local shoal = ...

local supervisor = {}

local STRATEGIES = { one_for_one = true, one_for_all = true }
local RESTARTS = { permanent = true, transient = true, temporary = true }
local DEFAULTS = { strategy = "one_for_one", max_restarts = 3, within = 5 }
local OPTIONS = { children = true, name = true, daemon = true }
local CHILD_FIELDS =
  { name = true, start = true, args = true, restart = true, shutdown = true, opts = true }
local SHUTDOWN = 5

-- Arguments ---------------------------------------------------------------------------------------

-- Raises without a place: start() adds its caller's.
local function check(condition, ...)
  if not condition then
    error("supervisor: " .. string.format(...), 0)
  end
end

local function is_time(value)
  return type(value) == "number" and value >= 0
end

local function checked_child(child, position, names)
  check(type(child) == "table", "child %d is no table", position)
  local name = child.name
  check(type(name) == "string", "child %d has no name", position)
  check(not names[name], "there are two children '%s'", name)
  names[name] = true
  for field in pairs(child) do
    check(CHILD_FIELDS[field], "child '%s': there is no field '%s'", name, tostring(field))
  end
  local start = child.start
  local file = type(start) == "table" and start.file or nil
  check(start ~= nil, "child '%s': start is missing", name)
  check(
    type(start) == "function" or type(file) == "string",
    "child '%s': start: a function or { file = path } expected, got %s",
    name,
    type(start)
  )
  local restart = child.restart or "permanent"
  check(RESTARTS[restart], "child '%s': there is no restart '%s'", name, tostring(restart))
  local shutdown = child.shutdown or SHUTDOWN
  check(is_time(shutdown), "child '%s': shutdown is no time", name)
  local args, options = child.args or {}, {}
  check(type(args) == "table", "child '%s': args is no list", name)
  check(type(child.opts or {}) == "table", "child '%s': opts is no table", name)
  for key, value in pairs(child.opts or {}) do
    options[key] = value
  end
  options.name = options.name or name
  return {
    name = name,
    start = not file and start or nil,
    file = file,
    args = table.pack(table.unpack(args, 1, args.n or #args)),
    restart = restart,
    shutdown = shutdown,
    options = options,
  }
end

local function checked(options)
  check(type(options) == "table", "options expected, got %s", type(options))
  for option in pairs(options) do
    local known = OPTIONS[option] or DEFAULTS[option]
    check(known, "there is no option '%s'", tostring(option))
  end
  check(options.name == nil or type(options.name) == "string", "name is no string")
  check(options.daemon == nil or type(options.daemon) == "boolean", "daemon is no boolean")
  local plan = { children = {}, name = options.name }
  for key, default in pairs(DEFAULTS) do
    plan[key] = options[key] == nil and default or options[key]
  end
  check(STRATEGIES[plan.strategy], "there is no strategy '%s'", tostring(plan.strategy))
  check(math.type(plan.max_restarts) == "integer", "max_restarts is no integer")
  check(is_time(plan.within), "within is no time")
  check(type(options.children) == "table", "children is no list")
  local names = {}
  for i, child in ipairs(options.children) do
    plan.children[i] = checked_child(child, i, names)
  end
  return plan
end

-- The process -------------------------------------------------------------------------------------

local function start_child(state, child)
  local process
  local args = child.args
  if child.file then
    process = shoal.spawn_file(child.options, child.file, table.unpack(args, 1, args.n))
  else
    process = shoal.spawn(child.options, child.start, table.unpack(args, 1, args.n))
  end
  child.process = process
  child.starts = (child.starts or 0) + 1
  state.by_id[process.id] = child
  process:monitor(state.inbox, "down")
end

-- In a shield: no child is started without being one.
local function start(state, child)
  shoal.shield(start_child, state, child)
end

-- Asks the child to end, and waits for as long as it may take. One that still goes on is left: it
-- has been cancelled, and can wait for nothing any more.
local function stop(state, child)
  local process = child.process
  if process then
    state.by_id[process.id] = nil
    process:cancel(child.shutdown)
    child.process = nil
  end
end

local function stop_all(state)
  -- If this process is itself out of time, the others are still asked.
  local _ <close> = setmetatable({}, {
    __close = function()
      for _, child in ipairs(state.children) do
        if child.process then
          child.process:cancel()
        end
      end
    end,
  })
  for i = #state.children, 1, -1 do
    stop(state, state.children[i])
  end
end

-- Raises if there have been too many restarts.
local function count_restart(state, child, err)
  local now, recent = shoal.now(), {}
  for _, time in ipairs(state.restarts) do
    if now - time <= state.within then
      recent[#recent + 1] = time
    end
  end
  recent[#recent + 1] = now
  state.restarts = recent
  if #recent > state.max_restarts then
    local text = "supervisor%s: more than %d restarts within %g s, the last of child '%s': %s"
    local name = state.name and (" '%s'"):format(state.name) or ""
    error(text:format(name, state.max_restarts, state.within, child.name, tostring(err)), 0)
  end
end

local function restart(state, child)
  if state.strategy == "one_for_one" then
    start(state, child)
    return
  end
  stop_all(state)
  for _, each in ipairs(state.children) do
    if each == child or each.restart ~= "temporary" then
      start(state, each)
    end
  end
end

local function child_is_down(state, id, status, err)
  local child = state.by_id[id]
  if not child then
    return -- it was stopped
  end
  state.by_id[id] = nil
  child.process = nil
  child.ended = status
  if child.restart == "permanent" or (child.restart == "transient" and status == "error") then
    count_restart(state, child, err == nil and status or err)
    restart(state, child)
  end
end

local function list(state)
  local all = {}
  for i, child in ipairs(state.children) do
    all[i] = {
      name = child.name,
      process = child.process,
      status = child.process and child.process:status() or child.ended,
      restarts = math.max((child.starts or 0) - 1, 0),
    }
  end
  return all
end

-- The body of the process. For start() alone.
function supervisor.run(state, inbox)
  state.inbox, state.by_id, state.restarts = inbox, {}, {}
  local _ <close> = setmetatable({}, {
    __close = function()
      stop_all(state)
    end,
  })
  for _, child in ipairs(state.children) do
    start(state, child)
  end
  while true do
    local key, a, b, c = inbox:receive_any({ "call", "down" })
    if key == "down" then
      child_is_down(state, a, b, c)
    elseif a == "list" then
      b:send("reply", list(state))
    elseif a == "stop" then
      return
    end
  end
end

-- The handle --------------------------------------------------------------------------------------

local Handle = {}
Handle.__index = Handle
Handle.__name = "shoal.supervisor"
supervisor.Handle = Handle -- its name, by which handles travel

function Handle:which_children()
  local answer = shoal.channel()
  local _ <close> = self.process:monitor(answer, "down")
  self.inbox:send("call", "list", answer)
  local key, children = answer:receive_any({ "reply", "down" })
  if key == "down" then
    return nil, "closed"
  end
  return children
end

local function check_timeout(timeout)
  if timeout ~= nil and not is_time(timeout) then
    error("supervisor: timeout: seconds expected, got " .. tostring(timeout), 3)
  end
end

function Handle:stop(timeout)
  check_timeout(timeout)
  self.inbox:send("call", "stop")
  local ok, err = self.process:join(timeout)
  if not ok and err == "timeout" then
    return nil, err
  end
  return true
end

function Handle:join(timeout)
  check_timeout(timeout)
  return self.process:join(timeout)
end

function Handle:__close()
  self:stop()
end

local function start_process(options)
  local plan = checked(options)
  local inbox = shoal.channel()
  local process = shoal.spawn(
    { name = plan.name or "supervisor", daemon = options.daemon },
    "return require('shoal.supervisor').run(...)",
    plan,
    inbox
  )
  return setmetatable({ process = process, inbox = inbox }, Handle)
end

function supervisor.start(options)
  local ok, result = pcall(start_process, options)
  if ok then
    return result
  end
  -- What cannot be sent, say.
  if type(result) == "string" then
    result = result:gsub("^%[shoal%.supervisor%]:%d+: ", "supervisor: ")
  end
  error(result, 2)
end

return supervisor
