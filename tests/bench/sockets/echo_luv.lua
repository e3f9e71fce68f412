-- SPDX-License-Identifier: MIT
-- Echoes what comes on so many connections, until all are closed: with callbacks.
local uv = require("luv")

local left = tonumber((...))

local server = uv.new_tcp()
assert(server:bind("127.0.0.1", 0))
assert(server:listen(4096, function(problem)
  assert(not problem, problem)
  local client = uv.new_tcp()
  server:accept(client)
  client:read_start(function(_, data)
    if data then
      client:write(data)
      return
    end
    client:close()
    left = left - 1
    if left == 0 then
      server:close()
    end
  end)
end))
print(server:getsockname().port)
io.stdout:flush()
uv.run()
