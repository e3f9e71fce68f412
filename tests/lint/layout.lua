-- SPDX-License-Identifier: MIT
-- Checks the layout of the repository: layers, includes, tests, terms, sizes.
--
-- usage: git ls-files | lua5.4 layout.lua        (in the top folder)
--
-- Prints a line for each fault, `file:line: what is wrong`, and exits with 1 if there are any.
-- gcc does not see an include of an indirect dependency, and neither gcc nor clang sees that a
-- header of the system is included in the wrong layer; this does.

-- The layer table: a folder of C++, and what it may include besides itself: folders or single
-- headers. A folder that is not here may not hold C++.
local LAYERS = {
  ["runtime/base"] = {},
  ["runtime/message"] = { "runtime/base" },
  ["runtime/wait"] = { "runtime/base", "runtime/message" },
  ["runtime/channel"] = { "runtime/base", "runtime/message", "runtime/wait" },
  ["runtime/sched"] = { "runtime/base" },
  ["runtime/driver"] = { "runtime/base", "runtime/wait" },
  ["runtime/lua"] = { "runtime/base", "runtime/message" },
  ["runtime/process"] = {
    "runtime/base",
    "runtime/message",
    "runtime/wait",
    "runtime/channel",
    "runtime/sched",
    "runtime/driver",
    "runtime/lua",
  },
  ["runtime"] = {
    "runtime/base",
    "runtime/message",
    "runtime/wait",
    "runtime/channel",
    "runtime/sched",
    "runtime/driver",
    "runtime/lua",
    "runtime/process",
  },
  ["bindings/lua"] = {
    "runtime/base",
    "runtime/message",
    "runtime/wait",
    "runtime/channel",
    "runtime/lua",
    "runtime/process",
  },
  ["bindings/host"] = {
    "runtime",
    "runtime/base",
    "runtime/channel",
    "runtime/lua",
    "runtime/process",
    "bindings/lua",
  },
  -- What programs include: the standard library, and Lua where that is the point.
  ["bindings/cpp/shoal"] = {},
  ["bindings/cpp"] = {
    "runtime",
    "runtime/base",
    "runtime/message",
    "runtime/wait",
    "runtime/channel",
    "runtime/lua",
    "runtime/process",
    "bindings/lua",
  },
  ["bindings/cli"] = {
    "runtime",
    "runtime/base",
    "runtime/lua",
    "runtime/process",
    "bindings/lua",
  },
  ["tests"] = "anything", -- and the folders in it
  ["examples"] = "anything",
}

-- Headers of libraries, by pattern, and the layers that may include them.
local LIBRARIES = {
  {
    "^lua[.]hpp$",
    "^lua[.]h$",
    "^luaconf[.]h$",
    "^lualib[.]h$",
    "^lauxlib[.]h$",
    "^lua5[.]4/",
    layers = {
      "runtime/lua",
      "runtime/process",
      "runtime",
      "bindings/lua",
      "bindings/host",
      "bindings/cpp",
      "bindings/cpp/shoal",
      "bindings/cli",
      "tests",
      "examples",
    },
  },
  { "concurrentqueue", layers = { "runtime/sched", "tests" } },
  { "^catch2/", layers = { "tests" } },
  { "^histedit[.]h$", "^editline/", layers = { "bindings/cli" } },
  { "^shoal/", layers = { "bindings/cpp", "bindings/cpp/shoal", "tests", "examples" } },
}

-- Words that say nothing, or that belong to other systems; runtime/README.md has the terms to use.
-- "lane" may stand in files with "lanes" in their path: the module of that name.
local BANNED = {}
for word in ("universe keeper lane actor service manager helper util data info"):gmatch("%a+") do
  BANNED[word], BANNED[word .. "s"] = true, true
end

local MANY_LINES, TOO_MANY_LINES = 400, 600

-- What the files are ------------------------------------------------------------------------------

local CPP = { cc = true, h = true }
local SIZED = { cc = true, h = true, lua = true }
local LICENSED = { cc = true, h = true, lua = true, bzl = true, sh = true, pml = true }
local TOP_FOLDERS = { runtime = true, bindings = true, tests = true, examples = true }

local faults = 0

local function fault(path, line, ...)
  faults = faults + 1
  print(("%s:%d: %s"):format(path, line, string.format(...)))
end

-- The row of the layer table for a file, or nil: its folder, or the folder above it that has
-- "anything".
local function layer_of(path)
  local folder = path:match("^(.*)/[^/]*$") or ""
  if LAYERS[folder] then
    return folder
  end
  local top = folder:match("^[^/]+")
  return LAYERS[top] == "anything" and top or nil
end

local function contains(list, value)
  for _, item in ipairs(list) do
    if item == value then
      return true
    end
  end
  return false
end

-- `code` with comments, strings and character literals blanked; the line breaks stay.
local function strip(code)
  local function blank(text)
    return (text:gsub("[^\n]", " "))
  end
  local out, at = {}, 1
  while true do
    local start = code:find("[/\"'R]", at)
    if not start then
      break
    end
    local stop
    local two = code:sub(start, start + 1)
    if two == "//" then
      stop = (code:find("\n", start, true) or #code + 1) - 1
    elseif two == "/*" then
      stop = select(2, code:find("*/", start + 2, true)) or #code
    elseif two == 'R"' then
      local mark = code:match('^R"([^(]*)%(', start)
      stop = mark and select(2, code:find(")" .. mark .. '"', start, true)) or start + 1
    elseif
      two:sub(1, 1) == '"' or (two:sub(1, 1) == "'" and not code:find("^%x'%x", start - 1))
    then
      local quote, i = two:sub(1, 1), start + 1
      while i <= #code and code:sub(i, i) ~= quote do
        i = i + (code:sub(i, i) == "\\" and 2 or 1)
      end
      stop = i
    end
    out[#out + 1] = code:sub(at, start - 1)
    out[#out + 1] = stop and blank(code:sub(start, stop)) or code:sub(start, start)
    at = (stop or start) + 1
  end
  out[#out + 1] = code:sub(at)
  return table.concat(out)
end

local function lines(text)
  local number = 0
  local next_line = (text:sub(-1) == "\n" and text or text .. "\n"):gmatch("([^\n]*)\n")
  return function()
    number = number + 1
    local line = next_line()
    return line and number, line
  end
end

-- The checks --------------------------------------------------------------------------------------

local function check_size(path, text)
  local count = select(2, text:gsub("\n", "\n"))
  if count > TOO_MANY_LINES then
    fault(path, count, "%d lines; more than %d do not land, split the file", count, TOO_MANY_LINES)
  elseif count > MANY_LINES then
    print(("%s:%d: warning: %d lines; look for the second concept"):format(path, count, count))
  end
end

local function check_license(path, text)
  local first = text:gsub("^#![^\n]*\n", ""):match("^[^\n]*")
  if not first:find("SPDX-License-Identifier: MIT", 1, true) then
    fault(path, 1, "the first line must be the SPDX line: SPDX-License-Identifier: MIT")
  end
end

-- Each .cc of the runtime has its test program's file at the mirrored place.
local function check_mirror(path, exists)
  local layer, name = path:match("^runtime/(.*)/([^/]*)%.cc$")
  if not layer then
    layer, name = "runtime", path:match("^runtime/([^/]*)%.cc$")
  end
  local mirror = name and ("tests/%s/%s_test.cc"):format(layer, name)
  if mirror and not exists[mirror] then
    fault(path, 1, "has no test %s", mirror)
  end
end

local function check_project_include(path, layer, line, header, exists)
  local target = layer_of(header)
  if not target then
    fault(path, line, '"%s": quotes are for our own headers, by their path from the top', header)
    return
  elseif not exists[header] then
    fault(path, line, '"%s" does not exist', header)
  end
  local allowed = LAYERS[layer]
  if
    target ~= layer
    and allowed ~= "anything"
    and not contains(allowed, target)
    and not contains(allowed, header)
  then
    fault(
      path,
      line,
      "%s may not include %s (the layer table is in tests/lint/layout.lua)",
      layer,
      header
    )
  end
end

local function check_system_include(path, layer, line, header)
  for _, library in ipairs(LIBRARIES) do
    for _, pattern in ipairs(library) do
      if header:find(pattern) and not contains(library.layers, layer) then
        fault(
          path,
          line,
          "<%s> is not for %s, only for %s",
          header,
          layer,
          table.concat(library.layers, ", ")
        )
      end
    end
  end
end

local function check_includes(path, text, exists)
  local layer = layer_of(path)
  if not layer then
    fault(path, 1, "its folder has no row in the layer table (tests/lint/layout.lua)")
    return
  end
  local own = path:gsub("%.cc$", ".h")
  local first = true
  for number, line in lines(text) do
    local quoted = line:match('^%s*#%s*include%s*"([^"]*)"')
    local angled = line:match("^%s*#%s*include%s*<([^>]*)>")
    if quoted then
      check_project_include(path, layer, number, quoted, exists)
    elseif angled then
      check_system_include(path, layer, number, angled)
    end
    if first and (quoted or angled) then
      first = false
      if own ~= path and exists[own] and quoted ~= own then
        fault(path, number, 'the first include must be its own header, "%s"', own)
      end
    end
  end
end

local function may_say(path, word)
  return not BANNED[word] or (word:find("^lanes?$") and path:find("lanes", 1, true))
end

local function check_path_terms(path)
  for word in path:lower():gmatch("%a+") do
    if not may_say(path, word) then
      fault(path, 1, 'the name says "%s", which is not one of our terms', word)
    end
  end
end

-- Looks at types, functions and constants (UpperCamel or kUpperCamel) and at namespaces. Accessors
-- and variables are free: `data()` is what the standard library calls it, too.
local function check_terms(path, code)
  for number, line in lines(strip(code)) do
    for name in line:gmatch("[%a_][%w_]*") do
      if name:find("^k?%u%w*%l") then
        for word in name:gmatch("%u%l+") do
          if not may_say(path, word:lower()) then
            fault(path, number, '%s says "%s", which is not one of our terms', name, word:lower())
          end
        end
      end
    end
    for word in (line:match("^%s*namespace%s+([%w_:]+)") or ""):gmatch("[%a]+") do
      if not may_say(path, word) then
        fault(path, number, 'the namespace says "%s", which is not one of our terms', word)
      end
    end
  end
end

local paths, exists = {}, {}
for path in io.lines() do
  paths[#paths + 1] = path
  exists[path] = true
end

for _, path in ipairs(paths) do
  local extension = path:match("%.(%a+)$") or ""
  local file = TOP_FOLDERS[path:match("^[^/]+/") and path:match("^[^/]+")] or LICENSED[extension]
  local text = ""
  if file then
    local handle = assert(io.open(path, "rb"))
    text = handle:read("a")
    handle:close()
  end
  if TOP_FOLDERS[path:match("^[^/]+")] then
    check_path_terms(path)
  end
  if SIZED[extension] then
    check_size(path, text)
  end
  if LICENSED[extension] then
    check_license(path, text)
  end
  if CPP[extension] then
    check_mirror(path, exists)
    check_includes(path, text, exists)
    if path:find("^runtime/") or path:find("^bindings/") then
      check_terms(path, text)
    end
  end
end

if faults > 0 then
  print(("%d faults in the layout"):format(faults))
  os.exit(1)
end
