-- SPDX-License-Identifier: MIT
-- The handles of lanes. One is userdata, as in Lanes; behind it stands a table, its state:
--   process, control, settings, options
--   kind     how the lane has ended: "done", "error", "cancelled" or "refused" (its results cannot
--            travel); nil while that is not known
--   results  of "done", packed; err, trace of "error"
local shoal = ...
local core = require("shoal.lanes.core")
local trace_of = shoal.part("lanes_body").trace_of

-- Waits for the end. False: it takes longer. What the wait itself raises, such as a deadlock, is at
-- the line of the caller's caller.
local function wait_for_end(state, timeout)
  if state.kind then
    return true
  end
  local process = state.process
  local joined = table.pack(pcall(process.join, process, timeout))
  if not joined[1] then
    error(joined[2], 3)
  end
  local outcome = table.pack(table.unpack(joined, 2, joined.n))
  if outcome[1] == true then
    state.kind, state.results = "done", table.pack(table.unpack(outcome, 2, outcome.n))
  elseif outcome.n == 3 then
    state.err = outcome[2]
    -- An error that the lane raised has a traceback; its results are looked at when it has ended.
    state.kind = outcome[3] == "" and "refused" or "error"
    state.trace = trace_of(outcome[3])
  elseif outcome[2] == core.cancelled then
    state.kind = "cancelled"
    local registry, id = state.settings.registry, state.control.id
    if registry:get(id) then -- it has not begun
      registry:set(id)
      registry:incr("alive", -1)
    end
  else
    return false
  end
  return true
end

-- The error of results that cannot travel, at the line of the one who asks for them.
local function raise_refused(state, level)
  local settings = state.settings
  local problem = core.refusal(state.err, settings.api, settings.verbose)
  if settings.api == 4 then
    problem = problem:gsub("^%l", string.upper)
  end
  error(problem, level + 1)
end

local function check_timeout(timeout, what)
  if timeout == nil then
    return
  elseif type(timeout) ~= "number" or timeout ~= timeout then
    local got = timeout ~= timeout and "NaN" or tostring(timeout)
    error(("bad argument to '%s' (seconds expected, got %s)"):format(what, got), 3)
  elseif timeout < 0 then
    error(("bad argument to '%s' (duration cannot be < 0)"):format(what), 3)
  end
end

local function state_of(handle, what)
  local state = type(handle) == "userdata" and core.state(handle)
  if not state then
    error(("bad argument #1 to '%s' (lane expected, got %s)"):format(what, type(handle)), 3)
  end
  return state
end

local function status(state)
  local kind = state.kind
  if kind then
    return kind == "refused" and "error" or kind
  end
  local now = state.process:status()
  if now == "ready" then
    return state.process:stats().slices == 0 and "pending" or "running"
  end
  return now
end

-- Methods -----------------------------------------------------------------------------------------

local Lane = {}

local function trace(state)
  local level = state.options.level
  if state.settings.api == 4 and level == "minimal" then
    return nil
  end
  return state.trace
end

local function join4(state)
  if state.kind == "done" then
    return true, table.unpack(state.results, 1, state.results.n)
  elseif state.kind == "cancelled" then
    return nil, core.cancel_error
  elseif trace(state) then
    return nil, state.err, trace(state)
  end
  return nil, state.err
end

local function join3(state)
  if state.joined then
    return nil, "timeout" -- as 3.x does
  end
  state.joined = true
  if state.kind == "done" then
    return table.unpack(state.results, 1, state.results.n)
  elseif state.kind == "cancelled" then
    return
  end
  return nil, state.err, trace(state)
end

function Lane.join(handle, timeout)
  local state = state_of(handle, "join")
  check_timeout(timeout, "join")
  if not wait_for_end(state, timeout) then
    return nil, "timeout"
  elseif state.kind == "refused" then
    raise_refused(state, 2)
  end
  local join = state.settings.api == 4 and join4 or join3
  return join(state)
end

local HOOKS = { call = true, ret = true, line = true, count = true, all = true }

-- cancel([mode [, hook count]] [, timeout] [, wake]): hooks are not needed.
local function cancel_arguments(api, mode, ...)
  local arguments, first = table.pack(...), 1
  if mode == nil or type(mode) == "number" then
    arguments, mode = table.pack(mode, ...), "hard"
  elseif HOOKS[mode] then
    first = type(arguments[1]) == "number" and mode ~= "all" and 2 or 1
    if first == 2 and arguments[1] < 1 then
      error("hook count cannot be < 1", 3)
    end
    mode = "hard"
  elseif mode ~= "soft" and mode ~= "hard" then
    error(("invalid cancel option '%s'"):format(tostring(mode)), 3)
  end
  local timeout, wake = arguments[first], arguments[first + 1]
  if type(timeout) == "boolean" then
    timeout, wake = nil, timeout
  end
  if timeout == nil and api == 3 then
    timeout = 0
  end
  return mode, timeout, wake
end

function Lane.cancel(handle, ...)
  local state = state_of(handle, "cancel")
  local mode, timeout, wake = cancel_arguments(state.settings.api, ...)
  check_timeout(timeout, "cancel")
  if mode == "soft" then
    state.control:set("cancel", "soft")
    if wake then
      state.control:close("wake")
    end
  elseif not state.kind then
    state.process:cancel()
  end
  if wait_for_end(state, timeout) then
    return true, status(state)
  end
  return false, "timeout"
end

function Lane.get_threadname(handle)
  return state_of(handle, "get_threadname").control:get("name") or "<unnamed>"
end
Lane.get_debug_threadname = Lane.get_threadname

-- Fields ------------------------------------------------------------------------------------------

local function result(state, n)
  wait_for_end(state)
  local kind = state.kind
  if n == 0 then
    return state.settings.api == 3 or (kind == "done" and state.results.n or 0)
  elseif kind == "done" then
    return state.results[n]
  elseif kind == "refused" then
    raise_refused(state, 3)
  end
  local err = state.err
  if kind == "cancelled" then
    err = core.cancel_error
  end
  if n < 0 then
    return err
  end
  error(err, 0) -- its place is that of the lane
end

local function index(handle, field)
  local state = core.state(handle)
  local v4 = state.settings.api == 4
  if type(field) == "number" then
    return (result(state, field))
  elseif field == "status" then
    return status(state)
  elseif field == "error_trace_level" and v4 then
    return state.options.level
  elseif Lane[field] then
    return Lane[field]
  elseif type(field) == "string" then
    error((v4 and "unknown field '%s'" or "can't index a lane with '%s'"):format(field), 2)
  elseif v4 then
    error("Unknown key: " .. tostring(field), 0)
  end
  error("attempt to concatenate a " .. type(field) .. " value", 0)
end

local metatable = {
  __name = "Lane",
  __metatable = "Lane",
  __index = index,
  __newindex = function()
    error("a lane cannot be changed: its fields are read-only", 2)
  end,
  __tostring = function(handle)
    local state = core.state(handle)
    return "Lane: " .. (state.process.name or state.process.id)
  end,
  __close = function(handle)
    wait_for_end(core.state(handle))
  end,
  __gc = function(handle)
    local state = core.state(handle)
    local callback = state.options.gc_cb
    if callback then
      local now = status(state)
      local ended = now == "done" or now == "error" or now == "cancelled"
      callback(Lane.get_threadname(handle), ended and "closed" or "selfdestruct")
    end
  end,
}
-- Lanes without a callback need no finalizer.
local plain = {}
for name, value in pairs(metatable) do
  plain[name] = name ~= "__gc" and value or nil
end

return function(process, control, settings, options)
  local state = { process = process, control = control, settings = settings, options = options }
  return core.proxy(state, options.gc_cb and metatable or plain)
end
