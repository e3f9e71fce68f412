-- SPDX-License-Identifier: MIT
-- lanes.gen, and what ends lanes when the one who configured the module has ended.
local shoal = ...
local core = require("shoal.lanes.core")
local body_of = shoal.part("lanes_body")
local new_handle = shoal.part("lanes_handle")
local place = shoal.part("lanes_name").place

local start = {}

-- Arguments of gen --------------------------------------------------------------------------------

local LIBRARIES = { base = true, ["lanes.core"] = true, lanes_core = true }
for name in ("coroutine debug io math os package string table utf8"):gmatch("%a+") do
  LIBRARIES[name] = true
end

local OPTIONS = {
  globals = "table",
  required = "table",
  package = "table",
  name = "string",
  priority = "number",
  native_priority = "number",
  gc_cb = "function",
  error_trace_level = "string",
}
local TRACE_LEVELS = { minimal = true, basic = true, extended = true }

-- All errors of gen are at its caller's line: so many calls above `parse`.
local GEN_LEVEL = 4

local function add_libraries(libraries, list, v4)
  if list == "*" then
    return "*"
  end
  libraries = libraries == "*" and {} or libraries or {}
  libraries.base = true
  local seen = {}
  for name in list:gmatch("[^%s,]+") do
    local plain, optional = name:match("^(.-)(%??)$")
    local known = LIBRARIES[plain]
    if not known and optional == "" or seen[plain] then
      local text = v4 and 'Bad library name: "%s"' or "Bad library name: %s"
      error((known and 'Duplicate library name: "%s"' or text):format(plain), GEN_LEVEL + 1)
    end
    seen[plain] = true
    libraries[plain] = true
  end
  return libraries
end

local function check_option(name, value)
  local expected = OPTIONS[name]
  if not expected then
    error(("Bad '%s' option"):format(tostring(name)), GEN_LEVEL + 1)
  elseif type(value) ~= expected then
    local text = "Bad '%s' option: %s expected, got %s"
    error(text:format(name, expected, type(value)), GEN_LEVEL + 1)
  elseif name == "priority" and (value < -3 or value > 3 or value % 1 ~= 0) then
    error(("Priority out of range: 0..+3 (%s)"):format(value), GEN_LEVEL + 1)
  elseif name == "error_trace_level" and not TRACE_LEVELS[value] then
    error(("Bad 'error_trace_level' option: %s"):format(value), GEN_LEVEL + 1)
  end
end

local function compile(text)
  local body, problem = load(text, "=lane", "t")
  if not body then
    error("error when parsing lane function code: " .. problem, GEN_LEVEL + 1)
  end
  return body
end

-- The libraries, the options and the body of what gen was given.
local function parse(v4, ...)
  local count = select("#", ...)
  local body = select(count > 0 and count or 1, ...)
  if type(body) == "string" then
    body = compile(body)
  elseif type(body) ~= "function" then
    error("no lane function: a function or its source expected, got " .. type(body), GEN_LEVEL)
  end
  local libraries, options = nil, {}
  for i = 1, count - 1 do
    local given = select(i, ...)
    if type(given) == "string" then
      libraries = add_libraries(libraries, given, v4)
    elseif type(given) == "table" then
      for name, value in pairs(given) do
        check_option(name, value)
        options[name] = value
      end
    elseif given ~= nil then
      error(("Bad argument #%d to gen: %s"):format(i, type(given)), GEN_LEVEL)
    end
  end
  return libraries, options, body
end

-- Starting ----------------------------------------------------------------------------------------

-- What cannot be sent, in the words of Lanes. A lane's first argument is the fourth that is sent.
local function refuse(problem, settings)
  if type(problem) == "string" then
    problem = problem:gsub("%(at %[(%d+)%]", function(position)
      return ("(at [%d]"):format(tonumber(position) - 3)
    end)
    problem = core.refusal(problem, settings.api, settings.verbose)
  end
  error(problem, 3)
end

-- The end of lanes when the one who configured has ended: they are asked to, have the time of
-- shutdown_timeout, and are cancelled.
local function end_lanes(guard, registry, timeout)
  local ours = require("shoal")
  guard:receive("end")
  local left, deadline = {}, ours.now() + timeout
  for _, id in ipairs(registry:keys()) do
    local control = id ~= "alive" and registry:get(id)
    if control then
      control:set("cancel", "soft")
      control:close("wake")
      left[#left + 1] = control:get("process")
    end
  end
  for _, process in ipairs(left) do
    process:join(math.max(deadline - ours.now(), 0))
  end
  for _, process in ipairs(left) do
    process:cancel(timeout)
  end
end

-- What has to be done when this state is closed, if it has configured the module.
local owner

function start.own()
  local guard = shoal.channel()
  owner = setmetatable({ guard = guard }, {
    __gc = function(self)
      if self.finally then
        -- What holds memory of its own must not be made any more: it would not be collected.
        self.finally((core.settings().registry:get("alive") or 0) == 0)
      end
      guard:close()
    end,
  })
  core.settings().owner = owner
end

local function watch_end(settings)
  if settings.owner and not settings.owner.watched then
    settings.owner.watched = true
    local options = { name = "lanes end" }
    local guard, registry = settings.owner.guard, settings.registry
    shoal.spawn(options, end_lanes, guard, registry, settings.shutdown_timeout)
  end
end

-- What lanes get of the settings: not who the owner is.
local function inherited(settings)
  local copy = {}
  for name, value in pairs(settings) do
    copy[name] = name ~= "owner" and value or nil
  end
  return copy
end

local function generator(run, ...)
  local settings = core.settings()
  local libraries, options, body = parse(settings.api == 4, ...)
  local level = options.error_trace_level or "minimal"
  local name = options.name
  if name == "auto" then
    name = place(GEN_LEVEL)
  end
  local setup = {
    settings = inherited(settings),
    libraries = libraries,
    globals = options.globals,
    required = options.required,
    package = options.package,
    traced = settings.api == 3 or level ~= "minimal",
  }
  local spawn_options = { daemon = true, name = name }
  return function(...)
    watch_end(settings)
    local control, registry = shoal.channel(), settings.registry
    local id = control.id
    registry:set(id, control)
    registry:incr("alive")
    if name then
      control:set("name", name)
    end
    local ok, process = pcall(shoal.spawn, spawn_options, run, control, setup, body, ...)
    if not ok then
      registry:set(id)
      registry:incr("alive", -1)
      refuse(process, settings)
    end
    control:set("process", process)
    return new_handle(process, control, settings, { level = level, gc_cb = options.gc_cb })
  end
end

function start.gen(...)
  return (generator(body_of.run, ...))
end

-- The others --------------------------------------------------------------------------------------

-- lanes.threads(): the lanes that live.
function start.threads()
  local settings = core.settings()
  if not settings.track then
    error("lane tracking is not available", 2)
  end
  local list = {}
  for _, id in ipairs(settings.registry:keys()) do
    local control = id ~= "alive" and settings.registry:get(id)
    local process = control and control:get("process")
    if process then
      list[#list + 1] = { name = control:get("name") or "<unnamed>", status = process:status() }
    end
  end
  return list
end

-- lanes.finally([f]): called at the end, with whether all lanes have ended.
function start.finally(f)
  if f ~= nil and type(f) ~= "function" then
    error("lanes.finally: a function expected, got " .. type(f), 2)
  end
  local settings = core.settings()
  if not settings.owner then
    error("lanes.finally is for the one who has configured lanes", 2)
  end
  settings.owner.finally = f
end

return start
