-- SPDX-License-Identifier: MIT
-- shoal.lanes: the module `lanes` on processes and channels of Shoal.
--
-- A lane is a process that is a daemon. Its settings are those of who configured the module, and
-- are handed down to all that it starts; so is what these share:
--   registry   a channel: under the number of each lane that lives, its control; under "alive" how
--              many there are
--   sleeper    a linda, for those who sleep
--   timers     a channel: what is asked of the process of the timers
local shoal = ...
local core = require("shoal.lanes.core")

local lanes = {}

-- Settings ----------------------------------------------------------------------------------------

local function is_boolean(value)
  return type(value) == "boolean"
end

local function is_function(value)
  return type(value) == "function"
end

local function is_number(least, most)
  return function(value)
    return type(value) == "number" and value >= least and value <= most
  end
end

local function any()
  return true
end

-- What a setting may be. Those without a meaning here are checked all the same: keepers, allocators
-- and conversions.
local SETTINGS = {
  api = function(value)
    return value == 3 or value == 4
  end,
  allocator = any,
  internal_allocator = function(value)
    return value == "allocator" or value == "libc"
  end,
  convert_fallback = any,
  convert_max_attempts = is_number(1, 9),
  demote_full_userdata = is_boolean,
  keepers_gc_threshold = is_number(-math.huge, math.huge),
  linda_wake_period = function(value)
    return value == "never" or (type(value) == "number" and value > 0)
  end,
  nb_keepers = is_number(1, 100),
  nb_user_keepers = is_number(0, 100),
  on_state_create = is_function,
  protect_allocator = is_boolean,
  shutdown_mode = any,
  shutdown_timeout = is_number(0, 3600),
  strip_functions = is_boolean,
  track_lanes = is_boolean,
  verbose_errors = is_boolean,
  with_timers = is_boolean,
}

local function checked(given)
  for name, value in pairs(given) do
    local check = SETTINGS[name]
    if not check then
      error(("lanes.configure: unknown setting '%s'"):format(tostring(name)), 4)
    elseif not check(value) then
      error(("lanes.configure: bad value of setting '%s': %s"):format(name, tostring(value)), 4)
    end
  end
  return given
end

local function api_of(given)
  if given.api then
    return given.api
  end
  return os and os.getenv("SHOAL_LANES_API") == "3" and 3 or 4
end

local function make_settings(given)
  local api = api_of(given)
  local with_timers = given.with_timers
  if with_timers == nil then
    with_timers = api == 3
  end
  return {
    api = api,
    verbose = given.verbose_errors,
    track = given.track_lanes,
    shutdown_timeout = given.shutdown_timeout or 0.25,
    on_state_create = given.on_state_create,
    registry = shoal.channel(),
    sleeper = core.linda({ name = "lanes.sleep", api = api }),
    timers = with_timers and shoal.channel() or nil,
  }
end

-- The module --------------------------------------------------------------------------------------

-- Names that are kept for programs that set them: there are no keepers, threads or priorities.
local function ignored() end

local function make_linda(settings)
  local v4 = settings.api == 4
  local FIELDS = { name = "string", group = "number", close_handler = "function" }

  local function check(condition, ...)
    if not condition then
      error(("lanes.linda: " .. (...)):format(select(2, ...)), 3)
    end
  end

  return function(options, group)
    if type(options) ~= "table" then
      options = { name = options, group = group }
    end
    for field, value in pairs(options) do
      if field == "wake_period" then
        check(SETTINGS.linda_wake_period(value), "bad value of wake_period: %s", tostring(value))
      else
        check(FIELDS[field], "unknown field '%s'", tostring(field))
        check(
          type(value) == FIELDS[field],
          "%s: a %s expected, got %s",
          field,
          FIELDS[field],
          type(value)
        )
      end
    end
    local name = options.name
    return core.linda({
      name = name ~= "auto" and name or v4 and name and shoal.part("lanes_name").place(3) or nil,
      api = settings.api,
      verbose = settings.verbose,
      close_handler = options.close_handler,
    })
  end
end

local function fill(settings)
  local v4 = settings.api == 4
  local locks = shoal.part("lanes_lock")
  local names = shoal.part("lanes_name")
  local timers = shoal.part("lanes_timer")
  local start = shoal.part("lanes_gen")
  lanes.ABOUT = {
    author = "Shoal",
    description = "the interface of Lua Lanes on processes of Shoal",
    license = "MIT",
    version = v4 and "4.0.1" or "3.17.0",
  }
  lanes.cancel_error = core.cancel_error
  lanes.null = v4 and core.null or nil
  lanes.linda = make_linda(settings)
  lanes.gen = start.gen
  lanes.finally, lanes.threads = start.finally, start.threads
  lanes.timer, lanes.timers = timers.timer, timers.timers
  lanes.genlock, lanes.genatomic = locks.genlock, locks.genatomic
  lanes.nameof, lanes.register, lanes.require = names.nameof, names.register, names.require
  lanes.now_secs = core.now_secs
  lanes.collectgarbage, lanes.set_singlethreaded = ignored, ignored
  lanes.set_thread_priority, lanes.set_thread_affinity = ignored, ignored
  function lanes.thread_priority_range()
    return -3, 3
  end
  function lanes.sleep(seconds)
    if seconds == "indefinitely" then
      seconds = nil
    elseif seconds == nil then
      seconds = not v4 and 0 or nil
    elseif type(seconds) ~= "number" or seconds < 0 or seconds ~= seconds then
      error("lanes.sleep: seconds expected, got " .. tostring(seconds), 2)
    end
    return settings.sleeper:receive(seconds, "sleep")
  end
  setmetatable(lanes, nil)
end

-- lanes.configure([settings]): the first call counts. A lane has the settings of who started it;
-- but the module may be loaded before it is told, if it is among what the lane is given.
local filled = false

function lanes.configure(given)
  if given ~= nil and type(given) ~= "table" then
    error("lanes.configure: a table expected, got " .. type(given), 2)
  end
  if not core.settings() then
    core.settings(make_settings(checked(given or {})))
    shoal.part("lanes_gen").own()
  end
  if not filled then
    filled = true
    fill(core.settings())
  end
  return lanes
end

if core.settings() then
  return lanes.configure()
end
if api_of({}) == 4 then
  lanes.null = core.null
end
return setmetatable(lanes, {
  __index = function(_, name)
    lanes.configure()
    return lanes[name]
  end,
})
