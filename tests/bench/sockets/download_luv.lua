-- SPDX-License-Identifier: MIT
-- So many downloads from a port, at one time: with callbacks. Prints how many bytes came.
local uv = require("luv")

local count, port = tonumber((...)), tonumber((select(2, ...)))

local sum = 0
for _ = 1, count do
  local client = uv.new_tcp()
  local parts = {}
  client:connect("127.0.0.1", port, function(problem)
    assert(not problem, problem)
    client:read_start(function(_, data)
      if data then
        parts[#parts + 1] = data
      else
        sum = sum + #table.concat(parts)
        client:close()
      end
    end)
  end)
end
uv.run()
print(sum)
