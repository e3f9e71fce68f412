-- SPDX-License-Identifier: MIT
-- The types for the Lua language server have the names that there are: functions, methods,
-- fields, options, and the parameters of what is written in Lua. Names that begin with "_" are
-- for Shoal alone.
local shoal = require("shoal")
local definitions = require("definitions")

local FOLDER = "bindings/lua/luals/"
local IS_HOST = os.getenv("SHOAL_TEST_HOST") ~= nil

local classes, globals = {}, {}
local compared = {}
local faults = 0

local function fault(...)
  faults = faults + 1
  print(string.format(...))
end

-- What the files say ------------------------------------------------------------------------------

local function read_all()
  local list <close> = assert(io.popen("ls " .. FOLDER))
  for file in list:lines() do
    if file:find("%.lua$") then
      local of_file, globals_of_file = definitions.read(FOLDER .. file)
      for name, class in pairs(of_file) do
        assert(not classes[name], "two classes " .. name)
        classes[name] = class
      end
      for name, parameters in pairs(globals_of_file) do
        globals[name] = parameters
      end
    end
  end
end

-- What there is -----------------------------------------------------------------------------------

local function upvalue(f, wanted)
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if name == wanted or not name then
      return value
    end
  end
end

-- The upvalue at the end of a path: of f's upvalue of the first name, the upvalue of the second
-- …
local function deep_upvalue(f, ...)
  for _, name in ipairs({ ... }) do
    f = assert(upvalue(f, name), "no upvalue " .. name)
  end
  return f
end

-- The table of a handle's methods. In C they are the first upvalue of __index, which has no name.
local function methods_of(handle)
  local index = debug.getmetatable(handle).__index
  if type(index) == "table" then
    return index
  end
  return assert(upvalue(index, "") or upvalue(index, "Lane"), "no table of methods")
end

local function has_field(handle, name)
  local ok, value = pcall(function()
    return handle[name]
  end)
  return ok and value ~= nil
end

-- The comparison ----------------------------------------------------------------------------------

local function compare_names(what, defined, real)
  for name in pairs(defined) do
    if not real[name] then
      fault("%s: there is no %s, but a type of it", what, name)
    end
  end
  for name in pairs(real) do
    if not defined[name] then
      fault("%s: there is %s, but no type of it", what, name)
    end
  end
end

-- `skip`: how many of the real parameters come before those of the types. A function without any
-- takes no notice of what it is given.
local function compare_parameters(what, defined, f, skip)
  local of = debug.getinfo(f, "Su")
  if of.what == "C" or of.isvararg or of.nparams == 0 then
    return
  end
  local names = {}
  for i = skip + 1, of.nparams do
    names[#names + 1] = debug.getlocal(f, i)
  end
  local written, real = table.concat(defined, ", "), table.concat(names, ", ")
  if written ~= real then
    fault("%s(%s): its parameters are (%s)", what, written, real)
  end
end

local function class_of(name)
  compared[name] = true
  return assert(classes[name], "there is no class " .. name)
end

local function compare_functions(name, real, skip, left_out)
  local class, functions = class_of(name), {}
  for field, value in pairs(real) do
    if type(value) == "function" and not field:find("^_") and not left_out[field] then
      functions[field] = value
    end
  end
  compare_names(name, class.functions, functions)
  for field, parameters in pairs(class.functions) do
    if functions[field] then
      compare_parameters(name .. "." .. field, parameters, functions[field], skip)
    end
  end
end

-- A module has all its fields. `left_out` is a set of names that are for Shoal alone.
local function compare_module(name, module, left_out)
  compare_functions(name, module, 0, left_out or {})
  local fields = {}
  for field, value in pairs(module) do
    if type(value) ~= "function" and not (left_out or {})[field] then
      fields[field] = true
    end
  end
  compare_names(name, classes[name].fields, fields)
end

-- A handle has what it answers to, so no more can be found than what is asked for. `elsewhere`
-- is a set of fields that others of its kind have.
local function compare_handle(name, handle, elsewhere)
  compare_functions(name, methods_of(handle), 1, {})
  for field in pairs(classes[name].fields) do
    if not has_field(handle, field) and not (elsewhere or {})[field] then
      fault("%s: there is no field %s", name, field)
    end
  end
end

local function compare_fields(name, real, ...)
  local names = {}
  for _, set in ipairs({ real, ... }) do
    for field in pairs(set) do
      names[field] = true
    end
  end
  compare_names(name, class_of(name).fields, names)
end

-- Options that are written in C: an error lists them.
local function compare_options(name, pattern, f, ...)
  local _, text = pcall(f, ...)
  local list = tostring(text):match(pattern)
  if not list then
    fault("%s: the error does not say which options there are: %s", name, tostring(text))
    return
  end
  local names = {}
  for option in list:gmatch("[%w_]+") do
    names[option] = true
  end
  compare_fields(name, names)
end

-- Shoal -------------------------------------------------------------------------------------------

-- The program refuses all of them.
local function check_settings()
  if IS_HOST then
    compare_options("shoal.settings", "'x' %((.*)%)%)$", shoal.configure, { x = 1 })
  else
    class_of("shoal.settings")
  end
end

local function check_channels()
  local ch <close> = shoal.channel("of luals")
  compare_handle("shoal.channel", ch)
  compare_options("shoal.channel_options", "there are (.*)", shoal.channel, { x = 1 })
  local timer <close> = shoal.after(1000, ch, "key", 1)
  compare_handle("shoal.timer", timer)
end

local function check_processes()
  local ch <close> = shoal.channel()
  local process <close> = shoal.spawn({ name = "luals" }, function(channel)
    channel:receive("key")
  end, ch)
  compare_handle("shoal.process", process)
  while process:status() ~= "waiting" do
    shoal.yield()
  end
  compare_fields("shoal.process_stats", process:stats())
  local pattern = "of processes %((.*)%)%)$"
  compare_options("shoal.spawn_options", pattern, shoal.spawn, { x = 1 }, "")
  local monitor <close> = process:monitor(ch, "end")
  compare_handle("shoal.monitor", monitor)
end

local function check_tasks()
  local task <close> = shoal.task(shoal.sleep, 1000)
  compare_handle("shoal.task", task)
  local group <close> = shoal.group()
  compare_handle("shoal.group", group)
end

local function check_offloading()
  if not shoal.pool then
    fault("shoal: there is no pool")
    return
  end
  local pool <close> = shoal.pool({ size = 1, name = "luals" })
  compare_handle("shoal.pool", pool)
  local pattern = "of pools %((.*)%)%)$"
  compare_options("shoal.pool_options", pattern, shoal.pool, { x = 1 })
  compare_options("shoal.map_options", "'x' %((.*)%)%)$", shoal.map, print, {}, { x = 1 })
  local future <close> = pool:async("math.abs", 1)
  compare_handle("shoal.future", future)
end

local function check_buffers()
  compare_handle("shoal.buffer", shoal.buffer("bytes"))
end

local function check_supervisor()
  local supervisor = require("shoal.supervisor")
  compare_module("shoal.supervisor.module", supervisor, { run = true, Handle = true })
  local checked = deep_upvalue(supervisor.start, "start_process", "checked")
  compare_fields(
    "shoal.supervisor_options",
    deep_upvalue(checked, "OPTIONS"),
    deep_upvalue(checked, "DEFAULTS")
  )
  compare_fields("shoal.child", deep_upvalue(checked, "checked_child", "CHILD_FIELDS"))
  local sup <close> = supervisor.start({
    children = { { name = "one", start = function() end, restart = "temporary" } },
  })
  compare_handle("shoal.supervisor", sup)
  compare_fields("shoal.child_state", sup:which_children()[1], { process = true })
end

-- The others --------------------------------------------------------------------------------------

-- Runs in a process, and in a lane.
local function names_of_globals()
  local names = {}
  for name in pairs(_G) do
    names[name] = true
  end
  return names
end

-- Runs in a process: what the interface of 3.x has, of these fields of a linda, and globals in
-- lanes.
local function look_at_v3(fields)
  local lanes = require("shoal.lanes").configure({ api = 3 })
  local linda, there = lanes.linda(), {}
  for _, field in ipairs(fields) do
    there[field] = linda[field] ~= nil or nil
  end
  return there, lanes.gen("*", names_of_globals)()[1]
end

local function check_lanes()
  local lanes = require("shoal.lanes").configure()
  compare_module("lanes", lanes)
  compare_fields("lanes.about", lanes.ABOUT)
  compare_fields("lanes.settings", deep_upvalue(lanes.configure, "checked", "SETTINGS"))
  local options = deep_upvalue(lanes.gen, "generator", "parse", "check_option", "OPTIONS")
  compare_fields("lanes.gen_options", options)

  local lane = lanes.gen("*", names_of_globals)()
  compare_handle("lanes.lane", lane)
  local linda = lanes.linda("luals")
  local in_v3, globals_in_v3 = shoal.spawn(look_at_v3, { "null", "batched" }):result()
  compare_handle("lanes.linda", linda, in_v3)
  linda:set("key", 1)
  compare_fields("lanes.slot", linda:dump().key)
  compare_fields("lanes.linda_options", { name = 1, group = 1, close_handler = 1, wake_period = 1 })

  local in_lanes = {}
  local plain = shoal.spawn(names_of_globals):result()
  for _, set in ipairs({ lane[1], globals_in_v3 }) do
    for global in pairs(set) do
      in_lanes[global] = not plain[global] or nil
    end
  end
  compare_names("a lane", globals, in_lanes)
end

read_all()
check_settings() -- before the first use
compare_module("shoal", shoal)
check_channels()
check_processes()
check_tasks()
check_offloading()
check_buffers()
check_supervisor()
check_lanes()
compare_module("luaproc", require("shoal.luaproc"))

-- Those that have no names to compare: marks, and the lists of a select.
for _, name in ipairs({ "shoal.outcome", "shoal.case", "shoal.cases", "lanes.cancel_error" }) do
  class_of(name)
end
for name, class in pairs(classes) do
  if not compared[name] then
    fault("%s: class %s has been compared with nothing", class.path, name)
  end
end
assert(faults == 0, faults .. " faults")
