-- SPDX-License-Identifier: MIT
-- Echoes blocks of 64 bytes on so many connections, until all are closed: one coroutine for each,
-- which the callbacks resume.
local uv = require("luv")

local left = tonumber((...))
local server = uv.new_tcp()

local function echo(client)
  local pending = ""
  -- Waits for so many bytes; nil at the end.
  local function receive(count)
    while #pending < count do
      local data = coroutine.yield()
      if not data then
        return nil
      end
      pending = pending .. data
    end
    local block = pending:sub(1, count)
    pending = pending:sub(count + 1)
    return block
  end

  local block = receive(64)
  while block do
    client:write(block)
    block = receive(64)
  end
  client:close()
  left = left - 1
  if left == 0 then
    server:close()
  end
end

assert(server:bind("127.0.0.1", 0))
assert(server:listen(4096, function(problem)
  assert(not problem, problem)
  local client = uv.new_tcp()
  server:accept(client)
  local task = coroutine.create(echo)
  assert(coroutine.resume(task, client))
  client:read_start(function(_, data)
    assert(coroutine.resume(task, data))
  end)
end))
print(server:getsockname().port)
io.stdout:flush()
uv.run()
