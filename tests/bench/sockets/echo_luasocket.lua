-- SPDX-License-Identifier: MIT
-- Echoes blocks of 64 bytes on so many connections, until all are closed: with `select`. (So it has
-- no more than a thousand.)
local socket = require("socket")

local left = tonumber((...))

local server = assert(socket.bind("127.0.0.1", 0, 4096))
print((select(2, server:getsockname())))
io.stdout:flush()

local list = { server }
while left > 0 do
  for _, each in ipairs((socket.select(list))) do
    if each == server then
      list[#list + 1] = assert(server:accept())
    else
      local block = each:receive(64)
      if block then
        each:send(block)
      else
        each:close()
        left = left - 1
        for i = 2, #list do
          if list[i] == each then
            list[i] = list[#list]
            list[#list] = nil
            break
          end
        end
      end
    end
  end
end
