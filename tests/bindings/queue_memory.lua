-- SPDX-License-Identifier: MIT
-- The memory for queues bounds what stands in all channels together.
local support = require("support")

local function run(status, source)
  local got, out, err =
    support.run('local shoal = require "shoal" ' .. source, "SHOAL_TEST_QUEUE_MEMORY=1000000")
  if got ~= status then
    error(("status %s, not %s; stdout %q, stderr:\n%s"):format(got, status, out, err), 2)
  end
  return out, err
end

-- A sender waits as at a limit, and goes on when something has been received.
assert(run(
  0,
  [[
  local ch = shoal.channel()
  local text = ("x"):rep(100000)
  local sent = 0
  while ch:send_for(0, sent % 3, text) do sent = sent + 1 end
  print(sent > 5 and sent <= 10, ch:send_for(0.01, "k", text))
  print(shoal.channel():send_for(0, "k", text))
  print(shoal.channel():send_for(0, "k", "small"))
  local t = shoal.task(function() return ch:send("k", text) end)
  shoal.yield()
  print(t:status(), #ch:receive(0))
  print(t:result())
]]
) == "true\tnil\ttimeout\nnil\ttimeout\ntrue\nwaiting\t100000\ntrue\n")

-- A producer that is faster than its consumer is slowed down, and memory stays bounded.
assert(run(
  0,
  [[
  local ch = shoal.channel()
  local support = require("support")
  local p = shoal.spawn(function()
    local n = 0
    for text in ch:each("k") do
      n = n + #text
      if n % 1000000 == 0 then require("shoal").sleep(0.001) end
    end
    return n
  end)
  local text = ("x"):rep(10000)
  local before = support.memory()
  for i = 1, 3000 do ch:send("k", text) end
  print(support.scale < 1 or support.memory() - before < 15e6)
  ch:close()
  print(p:result())
]]
) == "true\n30000000\n")

-- If nobody can receive, it raises.
do
  local _, err = run(
    1,
    [[
    local ch = shoal.channel()
    local text = ("x"):rep(100000)
    while true do ch:send("k", text) end
  ]]
  )
  assert(err:find("queue memory limit reached", 1, true), err)
  local out = run(
    0,
    [[
    local ch = shoal.channel()
    local text = ("x"):rep(100000)
    local ok, err
    repeat ok, err = pcall(ch.send, ch, "k", text) until not ok
    print(err:match("queue memory limit reached"), ch:count("k") > 5)
    while ch:count("k") > 0 do assert(#ch:receive("k") == 100000) end
    print(ch:send("k", text), #ch:receive("k"))
  ]]
  )
  assert(out == "queue memory limit reached\ttrue\ntrue\t100000\n", out)
end
