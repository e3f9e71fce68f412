-- SPDX-License-Identifier: MIT
-- What a lane runs. The function is sent to it, with what it refers to here; `core` goes by its
-- name. The lane may be left without libraries: what is needed is taken before.
local core = require("shoal.lanes.core")

-- Removes what was not asked for from the globals. `libraries` is a set, or nil: no globals at all.
local function prune(libraries, globals)
  local next = next
  if not libraries then
    for name in next, globals do
      globals[name] = nil
    end
    return
  end
  local loaded = package and package.loaded
  for _, name in
    next,
    { "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8" }
  do
    if not libraries[name] then
      globals[name] = nil
      if loaded and libraries.package then
        loaded[name] = nil
      end
    end
  end
  if not libraries.package then
    globals.require = nil
  end
end

local function set_package(given)
  for name, value in pairs(given) do
    if name == "preload" then
      for module, loader in pairs(value) do
        package.preload[module] = loader
      end
    else
      package[name] = value
    end
  end
end

-- Lanes' list of where the error came from, of a traceback of ours: "file:line" or "[C]:?" for each
-- call of the lane's own.
local function trace_of(text)
  local list = {}
  for line in text:gmatch("\n\t([^\n]+)") do
    if line:find("^%[shoal%.lanes_body%]") then
      break
    end
    local place = line:match("^(%[C%]):") and "[C]:?" or line:match("^(.-:%d+): in ")
    if place then
      list[#list + 1] = place
    end
  end
  return list
end

-- Runs the finalizers of the lane, the last one first. An error of one ends it, and is the lane's.
local function finalize(self, err)
  local finalizers = self.finalizers
  self.registry:set(self.id)
  self.registry:incr("alive", -1)
  for i = #finalizers, 1, -1 do
    if self.done then
      finalizers[i]()
    elseif err == core.cancelled then
      finalizers[i](core.cancel_error)
    else
      finalizers[i](err, self.traced and trace_of(core.traceback()) or nil)
    end
  end
end

local function end_body(self, ...)
  self.done = true
  return ...
end

local function set_injected(globals, control, setup, self)
  local error, type = error, type
  globals.cancel_test = core.cancel_test
  function globals.set_finalizer(f)
    if type(f) ~= "function" then
      error("bad argument #1 to 'set_finalizer' (function expected, got " .. type(f) .. ")", 2)
    end
    self.finalizers[#self.finalizers + 1] = f
  end
  local function thread_name(name)
    if name == nil then
      return (control:get("name"))
    end
    control:set("name", name)
  end
  if setup.settings.api == 4 then
    globals.lane_threadname = thread_name
  else
    globals.set_debug_threadname = thread_name
    function globals.set_error_reporting(mode)
      if mode ~= "basic" and mode ~= "extended" then
        error("unsupported error reporting model " .. tostring(mode), 2)
      end
    end
  end
end

-- Its arguments are the lane's control (see lanes_core.h), the setup that all lanes of one
-- generator have, and the lane's own body with its arguments.
local function run(control, setup, body, ...)
  local settings, globals = setup.settings, _G
  core.enter(control, settings)
  if setup.package then
    set_package(setup.package)
  end
  for _, name in ipairs(setup.required or {}) do
    require(name)
  end
  local self = setmetatable({
    finalizers = {},
    registry = settings.registry,
    id = control.id,
    traced = setup.traced,
  }, { __close = finalize })
  local finish <close> = self
  local copy_pairs, copied = pairs, setup.globals
  if setup.libraries ~= "*" then
    prune(setup.libraries, globals)
  end
  if copied then
    for name, value in copy_pairs(copied) do
      globals[name] = value
    end
  end
  set_injected(globals, control, setup, self)
  if settings.on_state_create then
    settings.on_state_create("lane")
  end
  return end_body(finish, body(...))
end

return { run = run, trace_of = trace_of }
