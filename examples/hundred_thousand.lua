-- SPDX-License-Identifier: MIT
-- Starts 100,000 processes that each wait on their own key, wakes all of them and waits for their
-- end. Prints what it took.
--
-- usage: shoal hundred_thousand.lua [N]
--
-- A process that waits takes no thread, only the memory of its Lua state. Without N, there are as
-- many as fit in the memory that is free, at most 100,000.
local shoal = require("shoal")

local STATE = 35 * 1024 -- bytes that a waiting process takes, about

-- A number of kibibytes from a file of the kernel, in bytes; nil if it has none of that name.
local function bytes_of(path, name)
  for line in io.lines(path) do
    local kibibytes = line:match("^" .. name .. ":%s*(%d+) kB")
    if kibibytes then
      return kibibytes * 1024
    end
  end
end

local n = 100000
if arg[1] then
  n = math.tointeger(tonumber(arg[1]))
  if not n or n < 1 then
    io.stderr:write("usage: hundred_thousand.lua [N], N at least 1\n")
    os.exit(2)
  end
else
  n = math.min(n, bytes_of("/proc/meminfo", "MemAvailable") // STATE)
end

local gate = shoal.channel()

local function wait_for_key(key)
  gate:send("here", key)
  return gate:receive(key)
end

local function passed(start)
  return ("%.2f s"):format(shoal.now() - start)
end

local start = shoal.now()
local processes = {}
for key = 1, n do
  processes[key] = shoal.spawn(wait_for_key, key)
end
for _ = 1, n do
  gate:receive("here")
end
print(("%d processes wait after %s"):format(n, passed(start)))

start = shoal.now()
for key = 1, n do
  gate:send(key, key)
end
for key, process in ipairs(processes) do
  assert(process:result() == key)
end
print(("all were woken and have ended after %s"):format(passed(start)))

local peak = bytes_of("/proc/self/status", "VmHWM")
print(("peak memory: %d MB, %.1f KB for a process"):format(peak // 1000000, peak / n / 1000))
