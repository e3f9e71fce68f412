-- SPDX-License-Identifier: MIT
-- needs: no simulation
-- More calls that block than there are workers hold up nobody. (Without signals nothing but
-- shoal.blocking would make a worker free.)
local shoal = require("shoal")
local support = require("support")

local n = support.workers + 2
local names, readers = {}, {}
for i = 1, n do
  names[i] = os.tmpname()
  os.remove(names[i])
  assert(os.execute("mkfifo " .. names[i]))
  readers[i] = shoal.spawn(function(name)
    local s = require("shoal")
    return s.blocking(function()
      local file <close> = assert(io.open(name))
      return file:read("a")
    end)
  end, names[i])
end
for i = 1, n do
  shoal.blocking(function()
    local file <close> = assert(io.open(names[i], "w"))
    file:write("line " .. i)
  end)
end
for i = 1, n do
  support.expect(table.pack(readers[i]:join()), true, "line " .. i)
  os.remove(names[i])
end

-- There is a bound, which is an error.
local ch = shoal.channel()
local blocked = {}
for i = 1, 300 do
  blocked[i] = shoal.spawn(function(c)
    require("shoal").blocking(function()
      c:send("in", true)
      c:receive("go")
    end)
  end, ch)
end
local failed = 0
for _, p in ipairs(blocked) do
  p:monitor(ch, "end")
end
repeat
  local _, status, err = ch:receive("end")
  assert(status == "error" and err:find("too many", 1, true), err)
  failed = failed + 1
until failed == 300 - 256
for _ = 1, 300 do
  ch:send("go", true)
end
for _, p in ipairs(blocked) do
  p:join()
end
