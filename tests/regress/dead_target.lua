-- SPDX-License-Identifier: MIT
-- moon and skynet: a call never returns when its target dies. Here whoever waits for a process is
-- told of its end, and one that waits for what can no longer come is told, too.
local shoal = require("shoal")
local support = require("support")

-- Joiners, before and after.
do
  local ch = shoal.channel()
  local p = shoal.spawn(function()
    ch:receive("die")
    error("dead")
  end)
  local joiners = {}
  for i = 1, 10 do
    joiners[i] = shoal.spawn(function()
      local ok, err = p:join()
      return ok, err
    end)
  end
  shoal.yield()
  ch:send("die", true)
  for _, j in ipairs(joiners) do
    local ok, err = j:result(30)
    assert(ok == nil and err:find("dead", 1, true))
  end
  assert(p:join(30) == nil)
end

-- A request to a process that has died: the deadlock is found and raised.
do
  local status, out = support.run([[
    local shoal = require "shoal"
    local ch = shoal.channel()
    local server = shoal.spawn({daemon = true}, function()
      ch:receive("request")
      error("died of it")
    end)
    ch:send("request", "x")
    local ok, err = pcall(ch.receive, ch, "reply")
    print(ok, err:match("deadlock"))
  ]])
  assert(status == 0 and out == "false\tdeadlock\n", out)
end

-- With a scope, the channel is closed by the process' end, whatever ends it.
do
  local ch = shoal.channel()
  local server = shoal.spawn(function()
    local _ <close> = ch
    ch:receive("request")
    error("died of it")
  end)
  local t = shoal.task(server.join, server)
  ch:send("request", "x")
  local reply, why = ch:receive("reply", 30)
  assert(reply == nil and why == "closed")
  assert(t:result(30) == nil)
end
