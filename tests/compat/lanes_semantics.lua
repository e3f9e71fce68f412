-- SPDX-License-Identifier: MIT
-- The edge cases of Lanes have the outcomes that they have in Lanes, in both its versions, but for
-- those that are meant to differ.
local shoal = require("shoal")

-- What differs, as { 4.x, 3.x }: outcomes, or a list of those that may be. bindings/README.md has
-- the reasons.
local CANCELLED =
  { 'true, "cancelled", "cancelled", nil, CANCEL_ERROR', 'true, "cancelled", "cancelled"' }
local TRAVELS = { 'true, "file"', '"file"' }
local DEVIATIONS = {
  -- No cancel is swallowed, and what computes is interrupted. (It may have ended before the look.)
  ["hard cancel busy loop no hook"] = {
    { 'false, "timeout", nil, CANCEL_ERROR', 'true, "cancelled", nil, CANCEL_ERROR' },
    { 'false, "timeout"', 'true, "cancelled"' },
  },
  ["hook cancel swallowed by pcall"] = CANCELLED,
  ["hard cancel inside pcall receive"] = CANCELLED,
  ["hard cancel inside coroutine"] = CANCELLED,
  -- Places and names are kept in messages.
  ["print without base"] = {
    "nil, \"attempt to call a nil value (global 'print')\"",
    "nil, \"attempt to call a nil value (global 'print')\", {1=SCRIPT}",
  },
  -- What modules hold travels by its name.
  ["upvalue io.stdout"] = TRAVELS,
  ["value io.stdout"] = { "true", "true" },
  ["receive C function"] = { '"c", <userdata>', '"c", <userdata>' },
  -- A metatable that no module holds is copied with each message.
  ["metatable kept"] = { "7, false", "7, false" },
  -- Closures that share a variable go on sharing it.
  ["two closures share upvalue"] = { "1", "1" },
}

-- Runs in a process of its own: the names of the rows and their outcomes, in order.
local function rows_of(api)
  local lanes = require("lanes").configure({ api = api, with_timers = false })
  local names, outcomes = {}, {}

  local function normalised(text)
    text = text:gsub("^[^%s:]+:%-?%d+: ", "")
    return (text:gsub("0x%x+", "ADDR"))
  end
  local function shown(value)
    if value == lanes.cancel_error then
      return "CANCEL_ERROR"
    elseif type(value) == "string" then
      return ("%q"):format(normalised(value)):gsub("\\\n", "\\n")
    elseif type(value) == "userdata" or type(value) == "function" then
      return "<" .. type(value) .. ">"
    elseif type(value) == "table" then
      local list = {}
      for k, v in pairs(value) do
        list[#list + 1] = tostring(k)
          .. "="
          .. tostring(v):gsub("[^,={}]*lanes_rows%.lua:%d+", "SCRIPT")
      end
      table.sort(list)
      return "{" .. table.concat(list, ",") .. "}"
    end
    return tostring(value)
  end
  local function show(name, f, ...)
    local outcome = table.pack(pcall(f, ...))
    local list = {}
    for i = 2, outcome.n do
      list[i - 1] = (shown(outcome[i]))
    end
    local text = outcome.n == 1 and "(nothing)" or table.concat(list, ", ")
    names[#names + 1] = name
    outcomes[name] = outcome[1] and text or "ERROR " .. text
  end

  require("lanes_rows")(lanes, api, show)
  return names, outcomes
end

local function is_one_of(text, expected)
  if type(expected) ~= "table" then
    return text == expected
  end
  for _, one in ipairs(expected) do
    if text == one then
      return true
    end
  end
  return false
end

local RESULTS = require("lanes_results")
local failures = {}
for column, api in ipairs({ 4, 3 }) do
  local names, outcomes = shoal.spawn(rows_of, api):result()
  assert(#names >= 121, "rows are missing")
  for _, name in ipairs(names) do
    local original = RESULTS[name]
    if type(original) == "table" then
      original = original[column]
    end
    assert(original, name)
    original = original:gsub("\\\n", "\\n")
    local deviation = DEVIATIONS[name] and DEVIATIONS[name][column]
    if not is_one_of(outcomes[name], deviation or original) then
      failures[#failures + 1] = ("api %d, %s:\n  %s\n  expected %s"):format(
        api,
        name,
        outcomes[name],
        type(deviation) == "table" and deviation[1] or deviation or original
      )
    end
  end
end
assert(#failures == 0, table.concat(failures, "\n"))
