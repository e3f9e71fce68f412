-- SPDX-License-Identifier: MIT
-- Counts the words of files and prints the most frequent ones.
--
-- usage: shoal word_count.lua [FILE...]        without a file: this one
--
--            path            text             counts
--   script ────────> readers ─────> counters ─────────> merger
--
-- The arrows are keys of one channel. A key holds at most 16 messages; who sends to a full one
-- waits until there is room. So a file of any size passes through in little memory: a reader is
-- never far ahead of the counters.
local shoal = require("shoal")

local READERS = 2
local BLOCK = 64 * 1024 -- bytes that are read at once
local TOP = 10 -- words that are printed

-- A word is a run of ASCII letters, digits, apostrophes and bytes of other letters in UTF-8.
local LETTER, OTHER = "[%w'\x80-\xff]", "[^%w'\x80-\xff]"

-- Sends the text of a file in blocks that end between two words. Returns true, or nil and why not.
local function read_file(path, pipes)
  local file, problem = io.open(path, "rb")
  if not file then
    return nil, problem
  end
  local pieces = {} -- what has not been sent yet
  local block
  repeat
    block, problem = file:read(BLOCK)
    local whole, start = (block or ""):match("^(.*" .. OTHER .. ")(" .. LETTER .. "*)$")
    if whole then
      pieces[#pieces + 1] = whole
      pipes:send("text", table.concat(pieces))
      pieces = { start }
    else
      pieces[#pieces + 1] = block
    end
  until not block
  file:close()
  if problem then
    return nil, path .. ": " .. problem -- a folder can be opened, for example, but not read
  end
  pipes:send("text", table.concat(pieces))
  return true
end

-- Takes paths until the key is closed. Returns how many files could not be read.
local function reader(pipes)
  local failed = 0
  for path in pipes:each("path") do
    local ok, problem = read_file(path, pipes)
    if not ok then
      io.stderr:write("word_count.lua: ", problem, "\n")
      failed = failed + 1
    end
  end
  return failed
end

-- Takes blocks until the key is closed, then sends what it has counted.
local function counter(pipes)
  local counts = {}
  for text in pipes:each("text") do
    for word in text:lower():gmatch(LETTER .. "+") do
      counts[word] = (counts[word] or 0) + 1
    end
  end
  pipes:send("counts", counts)
end

local function merger(pipes)
  local totals = {}
  for counts in pipes:each("counts") do
    for word, count in pairs(counts) do
      totals[word] = (totals[word] or 0) + count
    end
  end
  return totals
end

local pipes = shoal.channel({ limit = 16 })

local function start(size, body)
  local processes = {}
  for i = 1, size do
    processes[i] = shoal.spawn(body, pipes)
  end
  return processes
end

-- Waits for all of them, and returns the sum of what they return.
local function finish(processes)
  local sum = 0
  for _, process in ipairs(processes) do
    sum = sum + (process:result() or 0)
  end
  return sum
end

local readers = start(READERS, reader)
local counters = start(shoal.workers(), counter)
local totals = shoal.spawn(merger, pipes)

-- When no one is left who could send to a key, it is closed: its receivers take what still stands
-- there, and end.
local paths = #arg > 0 and arg or { arg[0] }
for _, path in ipairs(paths) do
  pipes:send("path", path)
end
pipes:close("path")
local failed = finish(readers)
pipes:close("text")
finish(counters)
pipes:close("counts")

local words, all = {}, 0
for word, count in pairs(totals:result()) do
  words[#words + 1] = { word = word, count = count }
  all = all + count
end
table.sort(words, function(a, b)
  return a.count > b.count or (a.count == b.count and a.word < b.word)
end)
print(("%d words, %d different, in %d of %d files"):format(all, #words, #paths - failed, #paths))
for i = 1, math.min(TOP, #words) do
  print(("%8d  %s"):format(words[i].count, words[i].word))
end
os.exit(failed == 0)
