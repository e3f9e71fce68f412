-- SPDX-License-Identifier: MIT
-- luaproc: a channel that is deleted while someone waits is a segfault. Here a channel lives as
-- long as anyone has it, and closing it tells all who wait.
local shoal = require("shoal")
local support = require("support")

for round = 1, support.scaled(50) do
  local waiters = {}
  do
    local ch = shoal.channel({ name = "passing", limit = 1 })
    ch:send("full", 0)
    for i = 1, 3 do
      waiters[i] = shoal.spawn(function()
        if i == 1 then
          return ch:receive("k")
        elseif i == 2 then
          return ch:send("full", 1)
        end
        return ch:receive_any({ "a", "b" })
      end)
    end
    if round % 2 == 0 then
      shoal.yield()
    end
    if round % 3 == 0 then
      shoal.sleep(0.001)
    end
    ch:close()
  end
  collectgarbage()
  for _, p in ipairs(waiters) do
    local ok, value, why = p:join(30)
    assert(ok == true and value == nil and why == "closed")
  end
  for i = 1, 3 do
    waiters[i] = nil
  end
  collectgarbage()
  -- The name is free again.
  do
    local again = shoal.channel({ name = "passing", limit = 1 })
    assert(again:send("k", 1) == true)
    assert(again:receive("k") == 1)
  end
  collectgarbage()
end
