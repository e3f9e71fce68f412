-- SPDX-License-Identifier: MIT
-- shoal.map, shoal.imap and pool:map: many calls of one function, several items in each message.
--
-- The work is done by runs, see map_run.lua.
local shoal = ...
local math, string, table = shoal.math, shoal.string, shoal.table
local runs = shoal.part("map_run")
local bare, CALLS = runs.bare, runs.CALLS

local map = {}

local OPTIONS = { size = true, chunk = true, progress = true }
-- An imap keeps some of its messages, which are not larger than this many items; and it is so many
-- times as far ahead of who receives as it has to be.
local MOST_ITEMS_KEPT, AHEAD = 1024, 2

-- Arguments ---------------------------------------------------------------------------------------

-- Raises without a place: guarded() adds that of the caller.
local function refuse(name, number, text, ...)
  error(string.format("bad argument #%d to '%s' (%s)", number, name, string.format(text, ...)), 0)
end

local function check_options(name, options)
  if options == nil then
    return {}
  elseif type(options) ~= "table" then
    refuse(name, 3, "a table of options expected, got %s", type(options))
  end
  for option, value in pairs(options) do
    if not OPTIONS[option] then
      refuse(name, 3, "there is no option '%s' (size, chunk, progress)", tostring(option))
    elseif option == "progress" then
      if type(value) ~= "function" then
        refuse(name, 3, "option 'progress' is not a function")
      end
    elseif math.type(value) ~= "integer" or value < 1 then
      refuse(name, 3, "option '%s' is not a positive integer", option)
    end
  end
  return options
end

-- How many items a list has: nil may be among them if `n` says so.
local function length_of(name, list)
  local n = rawget(list, "n")
  if n == nil then
    return #list
  elseif math.type(n) ~= "integer" or n < 0 then
    refuse(name, 2, "field 'n' of the list is not a non-negative integer")
  end
  return n
end

local function check_source(name, source)
  local kind = type(source)
  if kind ~= "function" and kind ~= "table" then
    refuse(name, 2, "a list or an iterator expected, got %s", shoal.type(source) or kind)
  end
end

local function start_processes(run, name, f)
  local ok, err = pcall(run.start_processes, run, f)
  if not ok then
    run:stop()
    refuse(name, 1, "%s", (string.gsub(tostring(bare(err)), "at %[2%]", "at f")))
  end
end

-- shoal.map ---------------------------------------------------------------------------------------

local function run_map(run)
  local results = { n = 0 }
  while true do
    while run.under_way < CALLS * run.size and run:has_more() and run:send() do
    end
    if not run:matters() then
      break
    end
    local call, values = run:receive()
    if call then
      table.move(values, 1, call.count, call.first, results)
    end
  end
  if run.failed then
    error(run.failed.err, 0)
  end
  run:finish()
  results.n = run.taken
  return results
end

local function with_total(name, source, options, most)
  return {
    total = type(source) == "table" and length_of(name, source) or nil,
    progress = options.progress,
    chunk = options.chunk,
    most = most,
  }
end

local function map_here(f, source, options)
  if type(f) ~= "function" then
    refuse("map", 1, "a function expected, got %s", shoal.type(f) or type(f))
  end
  check_source("map", source)
  options = check_options("map", options)
  local plan = with_total("map", source, options)
  local size = options.size or shoal.workers()
  if plan.total then
    size = math.min(size, plan.total)
  end
  local run <close> = runs.new(source, plan, size)
  start_processes(run, "map", f)
  return run_map(run)
end

local function map_pool(pool, f, source, options)
  if type(f) ~= "function" and type(f) ~= "string" then
    local text = "a function or the name of one expected, got %s"
    refuse("map", 1, text, shoal.type(f) or type(f))
  end
  check_source("map", source)
  options = check_options("map", options)
  local queue, size = shoal.queue(pool)
  local run <close> = runs.new(source, with_total("map", source, options), options.size or size)
  run.queue, run.f = queue, f
  return run_map(run)
end

-- Calls the function, whose errors of its arguments get the place of the caller of the C function
-- that has called into here.
local function guarded(f, ...)
  local function pass(ok, ...)
    if ok then
      return ...
    end
    local err = bare((...))
    local misuse = type(err) == "string" and string.find(err, "^bad argument") ~= nil
    error(err, misuse and 4 or 0)
  end
  return pass(pcall(f, ...))
end

function map.map(f, source, options)
  return (guarded(map_here, f, source, options))
end

function map.map_pool(pool, f, source, options)
  return (guarded(map_pool, pool, f, source, options))
end

-- shoal.imap --------------------------------------------------------------------------------------

-- The next result in order is that of `index`: its call has ended.
local function next_result(run, index)
  local ready = run.ready[run.first_ready]
  if not ready then
    return false
  end
  local call, values = ready.call, ready.values
  if index == call.first + call.count - 1 then
    run.ready[run.first_ready] = nil
    run.first_ready = run.first_ready + 1
  end
  return true, values[index - call.first + 1]
end

-- No more calls than this are ahead of the one whose results are received.
local function may_send(run)
  local ahead = run.last_call - run.first_ready + 1
  return run.under_way < CALLS * run.size and ahead < AHEAD * CALLS * run.size and run:has_more()
end

local function step(run, index)
  if run.stopped then
    return nil
  end
  while true do
    local found, value = next_result(run, index + 1)
    if found then
      return index + 1, value
    end
    while may_send(run) and run:send() do
    end
    if run.failed and run.failed.number == run.first_ready then
      error(run.failed.err, 0)
    elseif run.under_way == 0 and not run:has_more() then
      run:finish()
      return nil
    end
    local call, values = run:receive()
    if call then
      run.ready[call.number] = { call = call, values = values }
    end
  end
end

function map.imap(f, source, options)
  local run = guarded(function()
    if type(f) ~= "function" then
      refuse("imap", 1, "a function expected, got %s", shoal.type(f) or type(f))
    end
    check_source("imap", source)
    options = check_options("imap", options)
    local size = options.size or shoal.workers()
    local made = runs.new(source, with_total("imap", source, options, MOST_ITEMS_KEPT), size)
    made.ready, made.first_ready = {}, 1
    start_processes(made, "imap", f)
    return made
  end)
  local index = 0
  local function iterate()
    local ok, next_index, value = pcall(step, run, index)
    if not ok then
      run:stop()
      error(bare(next_index), 0)
    end
    index = next_index or index
    return next_index, value
  end
  return iterate, nil, nil, run
end

return map
