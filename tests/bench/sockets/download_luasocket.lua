-- SPDX-License-Identifier: MIT
-- So many downloads from a port, at one time: with `select`. Prints how many bytes came.
local socket = require("socket")

local count, port = tonumber((...)), tonumber((select(2, ...)))

local list, parts = {}, {}
for i = 1, count do
  list[i] = assert(socket.connect("127.0.0.1", port))
  list[i]:settimeout(0)
  parts[list[i]] = {}
end
local sum = 0
while #list > 0 do
  for _, client in ipairs((socket.select(list))) do
    local whole, problem, part = client:receive(8192)
    table.insert(parts[client], whole or part)
    if problem == "closed" then
      sum = sum + #table.concat(parts[client])
      client:close()
      for i = #list, 1, -1 do
        if list[i] == client then
          table.remove(list, i)
        end
      end
    end
  end
end
print(sum)
