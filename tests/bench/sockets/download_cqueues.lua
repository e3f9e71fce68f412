-- SPDX-License-Identifier: MIT
-- So many downloads from a port, at one time: a coroutine for each. Prints how many bytes came.
local cqueues = require("cqueues")
local socket = require("cqueues.socket")

local count, port = tonumber((...)), tonumber((select(2, ...)))

local sum = 0
local queue = cqueues.new()
for _ = 1, count do
  queue:wrap(function()
    local client = assert(socket.connect("127.0.0.1", port))
    local page = client:read("*a")
    sum = sum + #page
    client:close()
  end)
end
assert(queue:loop())
print(sum)
