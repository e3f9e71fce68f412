-- SPDX-License-Identifier: MIT
-- Reads the types that are written for the Lua language server, in bindings/lua/luals.
--
-- A file is run as Lua, for the functions that it defines; what is in comments is read as text:
--   read(path) → classes, globals
--     classes   name → { functions = name → { parameters }, fields = name → true, path = path }
--     globals   name → { parameters }: functions that are no fields
-- Parameters are names, in order, without `self`; the last one may be "...".
local definitions = {}

local function parameters_of(f)
  local of = debug.getinfo(f, "u")
  local list = {}
  for i = 1, of.nparams do
    local name = debug.getlocal(f, i)
    if name ~= "self" then
      list[#list + 1] = name
    end
  end
  if of.isvararg then
    list[#list + 1] = "..."
  end
  return list
end

local function functions_of(defined)
  local functions = {}
  for name, value in pairs(defined) do
    assert(type(value) == "function", name .. " is no function: write it as a field of the class")
    functions[name] = parameters_of(value)
  end
  return functions
end

-- What stands above a function must say what it does, and be about its parameters, in order.
local function check_annotations(path, number, annotations, parameters)
  local named, described = {}, false
  for _, line in ipairs(annotations) do
    named[#named + 1] = line:match("^%-%-%-@param ([%w_.]+)")
    described = described or line:find("^%-%-%- [%u`]") ~= nil
  end
  assert(described, ("%s:%d: no word on what it does"):format(path, number))
  local written = parameters:gsub("%s", "")
  local got = table.concat(named, ",")
  assert(
    got == written,
    ("%s:%d: parameters (%s), but annotations of (%s)"):format(path, number, written, got)
  )
end

-- The classes that the text declares: name → { fields = …, variable = name of its table, or nil
-- }.
local function classes_of(path, text)
  local classes, annotations, number, last = {}, {}, 0, nil -- the name of the last class
  for line in text:gmatch("([^\n]*)\n") do
    number = number + 1
    local name = line:match("^%-%-%-@class ([%w_.]+)")
    -- "public" stands before names that are words of the annotations.
    local field = line:gsub("@field public ", "@field "):match("^%-%-%-@field ([%w_]+)")
    local variable = line:match("^local (%w+) = {}$")
    local parameters = line:match("^function [%w_.:]+%((.*)%) end$")
    if name then
      classes[name] = { fields = {}, path = path }
      last = name
    elseif field then
      classes[last].fields[field] = true
    elseif variable then
      classes[last].variable = variable
    elseif parameters then
      check_annotations(path, number, annotations, parameters)
    else
      assert(not line:find("^function"), ("%s:%d: a function with a body"):format(path, number))
    end
    if line:find("^%-%-%-") then
      annotations[#annotations + 1] = line
    else
      annotations = {}
    end
  end
  return classes
end

-- Runs the file, and returns the tables of its classes by the names of their variables.
local function run(path, text, classes, globals)
  local code = text:gsub("\nreturn [^\n]+\n$", "\n")
  local list = {}
  for _, class in pairs(classes) do
    if class.variable then
      list[#list + 1] = ("%s = %s"):format(class.variable, class.variable)
    end
  end
  code = code .. "return { " .. table.concat(list, ", ") .. " }"
  return assert(load(code, "@" .. path, "t", globals))()
end

function definitions.read(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read("a")
  assert(text:find("^%-%- SPDX[^\n]*\n%-%-%-@meta [%w_.]+\n"), path .. ": no ---@meta on top")
  assert(load(text, "@" .. path, "t")) -- as it stands, too
  local classes, globals = classes_of(path, text), {}
  local tables = run(path, text, classes, globals)
  for _, class in pairs(classes) do
    class.functions = functions_of(class.variable and tables[class.variable] or {})
  end
  return classes, functions_of(globals)
end

return definitions
