-- SPDX-License-Identifier: MIT
-- Runs: the work of a map. They send items in chunks and receive results, by a queue that is that
-- of their own processes or of a pool.
--
-- Calls go out in the order of their items, and are taken in that order. Each has a number, which
-- is sent to `ended` when it has ended. Those of processes of a run are negative.
local shoal = ...
local math, string, table = shoal.math, shoal.string, shoal.table

-- A chunk is to keep a process for so many seconds, if nobody says how large it is …
local CHUNK_TIME = 0.004
-- … is at most so many times the largest one before …
local GROWTH = 4
-- … and not larger than this.
local MOST_ITEMS = 16384
-- Calls that are under way, for each process: one that it works at, and one for it to take then.
local CALLS = 2

-- Strips the place in here of an error.
local function bare(err)
  return type(err) == "string" and string.gsub(err, "^%[shoal%.map[_run]*%]:%d+: ", "") or err
end

local Run = {}
Run.__index = Run

-- Ends the calls and the processes, and waits for that.
function Run:stop()
  if self.stopped then
    return
  end
  self.stopped = true
  for _, call in pairs(self.calls) do
    call.future:cancel()
  end
  if self.processes then
    self.queue:close()
    for _, process in ipairs(self.processes) do
      process:cancel()
    end
    for _, process in ipairs(self.processes) do
      process:join()
    end
  end
end
Run.__close = Run.stop

-- What is left of an imap that nobody goes on with. It is made after the handles in it, so its
-- finalizer comes before theirs.
local Abandoned = {}
function Abandoned:__gc()
  if not self.run.stopped then
    self.run.queue:close()
    for _, process in ipairs(self.run.processes) do
      process:cancel()
    end
  end
end

-- All is done: the processes end by themselves.
function Run:finish()
  self.stopped = true
  if self.processes then
    self.queue:close()
    for _, process in ipairs(self.processes) do
      process:join()
    end
  end
end

local function new_run(source, options, size)
  local is_list = type(source) == "table"
  return setmetatable({
    list = is_list and source or nil,
    next_item = not is_list and source or nil,
    total = is_list and options.total or nil,
    progress = options.progress,
    fixed_chunk = options.chunk,
    chunk = options.chunk or 1,
    most = options.most or MOST_ITEMS,
    size = size,
    ended = shoal.channel(),
    calls = {},
    under_way = 0,
    last_call = 0,
    taken = 0, -- items
    done = 0,
  }, Run)
end

-- Sending -----------------------------------------------------------------------------------------

-- The next items, and how many.
function Run:take_items()
  local items, most = {}, self.chunk
  if self.list then
    local left = self.total - self.taken
    if not self.fixed_chunk then
      -- Towards the end, chunks get smaller, so that all processes end at the same time.
      most = math.min(most, (left + CALLS * self.size - 1) // (CALLS * self.size))
    end
    local count = math.min(most, left)
    return table.move(self.list, self.taken + 1, self.taken + count, 1, items), count
  end
  local count, began = 0, shoal.now()
  while count < most do
    local item = self.next_item()
    if item == nil then
      self.exhausted = true
      break
    end
    count = count + 1
    items[count] = item
    -- A source that is slow does not keep the processes waiting for a whole chunk.
    if not self.fixed_chunk and shoal.now() - began > CHUNK_TIME then
      break
    end
  end
  return items, count
end

-- Raises which of the items it is that cannot travel.
local function items_are_stuck(first, count, items, err)
  for i = 1, count do
    local ok, why = pcall(shoal.travels, items[i], "item")
    if not ok then
      error(string.format("item %d: %s", first + i - 1, bare(why)), 0)
    end
  end
  error(bare(err), 0)
end

-- Sends the next chunk. False: there are no more items.
function Run:send()
  local items, count = self:take_items()
  if count == 0 then
    return false
  end
  local first = self.taken + 1
  local ok, future = pcall(shoal.new_call, true, self.f, first, count, items)
  if not ok then
    items_are_stuck(first, count, items, future)
  end
  self.taken = self.taken + count
  self.last_call = self.last_call + 1
  local number = self.last_call
  self.calls[number] = { future = future, number = number, first = first, count = count }
  self.under_way = self.under_way + 1
  shoal.watch_call(future, self.ended, 1, self.last_call)
  shoal.send_call(self.queue, nil, "call", future) -- if it is closed, so is the future
  return true
end

function Run:has_more()
  if self.failed then
    return false
  elseif self.list then
    return self.taken < self.total
  end
  return not self.exhausted
end

-- Receiving ---------------------------------------------------------------------------------------

-- What has gone wrong with items: it counts if no earlier item has.
function Run:fail(number, call, err)
  if self.failed and self.failed.number < number then
    return
  end
  self.failed = { number = number, first = call.first, err = err }
  for other, later in pairs(self.calls) do
    if other > number then
      later.future:cancel()
    end
  end
end

local function with_traceback(err, traceback)
  if type(err) == "string" and traceback and traceback ~= "" then
    return err .. "\n" .. traceback
  end
  return err
end

-- The error of an item; values that are no strings are raised as they are.
local function item_error(position, err, traceback)
  if type(err) ~= "string" then
    return err
  end
  return with_traceback(string.format("item %d: %s", position, err), traceback)
end

-- A call has failed as a whole: its process has died, most likely.
function Run:call_error(call, err, traceback)
  local last = call.first + call.count - 1
  if err == "closed" and traceback == nil then
    if self.lost then
      err, traceback = self.lost.err, self.lost.traceback
    else
      err = "the pool is closed"
    end
  end
  if type(err) == "userdata" and tostring(err) == "cancelled" then
    err = "the process was cancelled"
  end
  if call.count == 1 or type(err) ~= "string" then
    return item_error(last, err, traceback)
  end
  return with_traceback(string.format("items %d to %d: %s", call.first, last, err), traceback)
end

-- The size of chunks follows the time that one takes.
function Run:learn(count, seconds)
  if self.fixed_chunk then
    return
  end
  local ideal = seconds > 0 and CHUNK_TIME / seconds * count or math.huge
  self.chunk = math.max(1, math.floor(math.min(ideal, self.chunk * GROWTH, self.most)))
end

function Run:take_result(number)
  local call = self.calls[number]
  self.calls[number] = nil
  self.under_way = self.under_way - 1
  local ok, done, a, b, c = call.future:join()
  if not ok then
    if not (self.failed and self.failed.number < number) then
      self:fail(number, call, self:call_error(call, done, a))
    end
  elseif not done then
    self:fail(number, call, item_error(a, c, b))
  else
    self:learn(call.count, b)
    self.done = self.done + call.count
    if self.progress then
      self.progress(self.done, self.total)
    end
    return call, a
  end
end

-- A process of the map has ended, which none does by itself. If it was the last one, nobody takes
-- what is left: it ends as that process did.
function Run:process_ended(number)
  self.left = self.left - 1
  if self.left > 0 or self.stopped then
    return
  end
  local _, err, traceback = self.processes[number]:join()
  self.lost = { err = err, traceback = traceback }
  self.queue:close()
  for _ = 1, self.queue:count("call") do
    local answer = self.queue:receive("call", 0)
    if answer then
      answer:close()
    end
  end
end

-- Whether a call that could change the outcome is under way.
function Run:matters()
  if not self.failed then
    return self.under_way > 0
  end
  for number in pairs(self.calls) do
    if number < self.failed.number then
      return true
    end
  end
  return false
end

-- Waits till something has ended. Returns the call and its results, if it was one that went well.
function Run:receive()
  local number = self.ended:receive(1)
  if number > 0 then
    return self:take_result(number)
  end
  self:process_ended(-number)
end

-- Processes ---------------------------------------------------------------------------------------

local BODY = "local pool, f = ... return pool:_serve_map(f)"

-- Raises, if the function cannot travel; then those that have been started are in `processes`.
function Run:start_processes(f)
  self.queue = shoal.channel()
  self.processes, self.left = {}, 0
  local pool = shoal.new_pool(self.queue, nil, self.size)
  for i = 1, self.size do
    local process = shoal.spawn({ name = "map", daemon = true }, BODY, pool, f)
    self.processes[i] = process
    self.left = self.left + 1
    shoal.watch(process, self.ended, -i)
  end
  self.abandoned = setmetatable({ run = self }, Abandoned)
end

return { new = new_run, bare = bare, CALLS = CALLS }
