-- SPDX-License-Identifier: MIT
-- Echoes blocks of 64 bytes on so many connections, until all are closed: one coroutine for each.
local cqueues = require("cqueues")
local socket = require("cqueues.socket")

local connections = tonumber((...))

local server = assert(socket.listen({ host = "127.0.0.1", port = 0, backlog = 4096 }))
assert(server:listen())
print((select(3, server:localname())))
io.stdout:flush()

local queue = cqueues.new()
queue:wrap(function()
  for _ = 1, connections do
    local client = assert(server:accept())
    client:setmode("bn", "bn")
    queue:wrap(function()
      local block = client:read(64)
      while block do
        client:write(block)
        block = client:read(64)
      end
      client:close()
    end)
  end
end)
assert(queue:loop())
