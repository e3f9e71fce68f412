-- SPDX-License-Identifier: MIT
-- All that can wait takes a timeout in seconds. One that runs out is no error: the call returns nil
-- and "timeout", and nothing is lost.
--
-- usage: shoal timeouts.lua
local shoal = require("shoal")

if arg[1] then
  io.stderr:write("usage: timeouts.lua, without arguments\n")
  os.exit(2)
end

local channel = shoal.channel({ limit = 1 })

-- Receiving. 0 does not wait; without a timeout, it would be for ever.
print("receive, empty key:", channel:receive("mail", 0.05))
print("receive, no wait:  ", channel:receive("mail", 0))

-- Sending to a key that is at its limit. send_for takes the timeout first: all that follows the key
-- is the message.
print("send, room:        ", channel:send_for(0.05, "mail", "first", 1))
print("send, full key:    ", channel:send_for(0.05, "mail", "second", 2))
print("receive:           ", channel:receive("mail", 0.05))

-- Waiting for one of several keys.
channel:send("fast", "here")
print("receive_any:       ", channel:receive_any({ "slow", "fast" }, 0.05))
print("receive_any, empty:", channel:receive_any({ "slow", "fast" }, 0.05))

-- Waiting for a process: join returns what happened, result raises it.
local process = shoal.spawn(function()
  channel:receive("go")
  return "done"
end)
print("join, too early:   ", process:join(0.05))
local ok, problem = pcall(process.result, process, 0.05)
print("result, too early: ", ok, problem == shoal.timeout)
channel:send("go", true)
print("join:              ", process:join(10))

-- Values that go away by themselves.
channel:set("token", "secret")
channel:expire("token", 0.3)
print("before expiry:     ", channel:get("token"))
shoal.sleep(0.6)
print("after expiry:      ", channel:get("token"))

-- A deadline for many calls together: each waits for what is left of the time.
local inbox, total = shoal.channel(), 0
inbox:send_batch("number", { 10, 20, 30 })
local deadline = shoal.now() + 0.1
repeat
  local number, outcome = inbox:receive("number", math.max(deadline - shoal.now(), 0))
  total = total + (number or 0)
until outcome == "timeout"
print("sum within 0.1 s:  ", total)

-- Misuse is an error, which names the argument.
print(pcall(function()
  channel:receive("mail", -1)
end))
