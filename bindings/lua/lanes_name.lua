-- SPDX-License-Identifier: MIT
-- lanes.nameof, register, require: names of values. What travels by name needs no registration
-- here: bindings/README.md, "What may travel".
local names = {}

-- "file:line" of the caller `level` calls up.
function names.place(level)
  local of = debug and debug.getinfo(level, "Sl")
  return of and of.currentline > 0 and of.short_src .. ":" .. of.currentline or nil
end

-- The values of the globals with their paths, shorter ones first.
local function find(wanted, v4)
  local level, seen = { { table = _G, path = "_G" } }, { [_G] = true }
  local table_suffix, suffix = v4 and "[]" or "", v4 and "()" or ""
  while #level > 0 do
    local found, next_level = nil, {}
    for _, from in ipairs(level) do
      for key, value in next, from.table do
        if type(key) == "string" then
          local path = from.path .. "/" .. key
          if rawequal(value, wanted) and (not found or path < found) then
            found = path
          elseif type(value) == "table" and not seen[value] then
            seen[value] = true
            next_level[#next_level + 1] = { table = value, path = path .. table_suffix }
          end
        end
      end
    end
    if found then
      return found
        .. (type(wanted) == "function" and suffix or type(wanted) == "table" and table_suffix or "")
    end
    level = next_level
  end
  return nil
end

-- nameof(value) → its type and its name; nil as the name of what has none.
function names.nameof(...)
  if select("#", ...) ~= 1 then
    error("bad argument #1 to 'nameof' (one value expected)", 2)
  end
  local value = ...
  local kind = type(value)
  if kind == "function" or kind == "table" or kind == "userdata" or kind == "thread" then
    return kind, find(value, require("shoal.lanes.core").settings().api == 4)
  end
  return kind, tostring(value)
end

-- register(name, value): a value travels by that name to lanes in which it is registered, too.
function names.register(name, value)
  if type(name) ~= "string" then
    error("bad argument #1 to 'register' (string expected, got " .. type(name) .. ")", 2)
  elseif type(value) ~= "table" and type(value) ~= "function" then
    error(
      "bad argument #2 to 'register' (table or function expected, got " .. type(value) .. ")",
      2
    )
  end
  if package.loaded[name] == nil then
    package.loaded[name] = value
  end
end

function names.require(name)
  if type(name) ~= "string" then
    error("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")", 2)
  end
  return require(name)
end

return names
