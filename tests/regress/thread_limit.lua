-- SPDX-License-Identifier: MIT
-- needs: no simulation
-- Lanes: reaching a limit of threads aborts. Here waits where Lua cannot suspend take a thread
-- each, and one too many is a Lua error of that call.
local shoal = require("shoal")
local support = require("support")

local n = 300
local ch = shoal.channel()
local all = {}
for i = 1, n do
  all[i] = shoal.spawn(function()
    ch:incr("up")
    local value
    table.sort({ 1, 2 }, function()
      value = ch:receive("go")
      return false
    end)
    return value
  end)
end
local joiners, failed = {}, 0
for i = 1, n do
  joiners[i] = shoal.task(function()
    local ok, err = all[i]:join()
    if not ok then
      failed = failed + 1
      assert(type(err) == "string" and not err:find("deadlock", 1, true), err)
    end
  end)
end
support.eventually(function()
  return (ch:get("up") or 0) == n
end)
for i = 1, n do
  support.eventually(function()
    local status = all[i]:status()
    return status == "waiting" or joiners[i]:status() == "done"
  end)
end
assert(failed > 0 and failed < 100, failed)
for _ = 1, n - failed do
  ch:send("go", "value")
end
for _, t in ipairs(joiners) do
  t:result(30)
end
-- The threads are there again for others.
local p = shoal.spawn(function()
  return (("x"):gsub("x", function()
    return ch:receive("go")
  end))
end)
ch:send("go", "again")
assert(p:result(30) == "again")
support.eventually(function()
  return support.threads() <= 100
end)
