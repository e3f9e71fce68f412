-- SPDX-License-Identifier: MIT
-- So many downloads from a port, at one time: a task for each. Prints how many bytes came.
local shoal = require("shoal")
local socket = require("socket")

local count, port = tonumber((...)), tonumber((select(2, ...)))

local tasks = {}
for i = 1, count do
  tasks[i] = shoal.task(function()
    local client = assert(socket.connect("127.0.0.1", port))
    return #client:receive("*a")
  end)
end
local sum = 0
for i = 1, count do
  sum = sum + tasks[i]:result()
end
print(sum)
