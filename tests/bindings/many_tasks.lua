-- SPDX-License-Identifier: MIT
-- Tens of thousands of tasks in one process: all wait, all are woken, and all is freed.
local shoal = require("shoal")
local support = require("support")

local n = support.scaled(20000, 500)
local ch = shoal.channel()

local function round()
  local tasks = {}
  for i = 1, n do
    tasks[i] = shoal.task(function()
      if i % 2 == 0 then
        return ch:receive(i)
      end
      return select(2, shoal.select({ { ch, i }, timeout = 1000 }))
    end)
  end
  for i = 1, n do
    support.until_waiting(tasks[i])
  end
  collectgarbage()
  return tasks
end

local function finish(tasks)
  for i = n, 1, -1 do
    ch:send(i, i)
  end
  for i = 1, n do
    local ok, value = tasks[i]:join()
    assert(ok and value == i)
  end
end

finish(round())
collectgarbage()
local before = support.memory()
local tasks = round()
local each = (support.memory() - before) / n
-- One that waits takes about 2 KB, most of it Lua's for a coroutine. What was freed is used again,
-- so it may seem less; the sanitizers and small numbers take more.
if support.scale >= 1 then
  assert(each < 2600, each)
end
finish(tasks)

-- Cancelled all at once.
tasks = round()
for i = 1, n do
  tasks[i]:cancel()
end
for i = 1, n do
  local ok, why = tasks[i]:join()
  assert(not ok and why == shoal.cancelled)
end
collectgarbage()
assert(ch:count(1) == 0)
