-- SPDX-License-Identifier: MIT
-- Counts the primes below LIMIT, first in one process, then split over several.
--
-- usage: shoal primes.lua [LIMIT [PROCESSES]]
--
-- A process has its own Lua state and shares nothing with the others, so as many of them run at the
-- same time as there are workers: one for each processor, unless told otherwise.
local shoal = require("shoal")

local limit = math.tointeger(tonumber(arg[1] or 2000000))
local processes = math.tointeger(tonumber(arg[2] or shoal.workers()))
if not limit or limit < 2 or not processes or processes < 1 then
  io.stderr:write("usage: primes.lua [LIMIT [PROCESSES]], LIMIT at least 2, PROCESSES at least 1\n")
  os.exit(2)
end

local RANGE = 10000 -- numbers that are handed out at once

local function is_prime(n)
  if n % 2 == 0 or n % 3 == 0 then
    return n == 2 or n == 3
  end
  for divisor = 5, math.floor(math.sqrt(n)), 6 do
    if n % divisor == 0 or n % (divisor + 2) == 0 then
      return false
    end
  end
  return n > 1
end

-- The body of a process. It takes ranges until there are none left: a process that got easy ones
-- takes more of them. What it returns is the result of the process.
local function count_ranges(work)
  local count = 0
  for first, last in work:each("range") do
    for n = first, last do
      if is_prime(n) then
        count = count + 1
      end
    end
  end
  return count
end

local function count_primes(size)
  -- A channel has a queue for each key. Handles of channels travel like any other value.
  local work = shoal.channel()
  for first = 1, limit - 1, RANGE do
    work:send("range", first, math.min(first + RANGE, limit) - 1)
  end
  work:close() -- what was sent is still received; then `each` ends

  -- The body is copied into the new process with all that it refers to, here is_prime.
  local counters = {}
  for i = 1, size do
    counters[i] = shoal.spawn(count_ranges, work)
  end

  local count = 0
  for _, counter in ipairs(counters) do
    count = count + counter:result() -- waits for its end; an error in it would be raised here
  end
  return count
end

local function timed(size)
  local start = shoal.now()
  local count = count_primes(size)
  local seconds = shoal.now() - start
  local noun = size == 1 and "process" or "processes"
  print(("%d %s: %d primes below %d in %.2f s"):format(size, noun, count, limit, seconds))
  return seconds
end

local alone = timed(1)
local together = timed(processes)
print(("speed-up: %.2f (workers: %d)"):format(alone / together, shoal.workers()))
