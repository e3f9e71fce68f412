-- SPDX-License-Identifier: MIT
-- A program for luaproc, as it is: a row of processes that pass on numbers, each of which keeps the
-- first one that it gets, a prime, and drops its multiples.
--
-- usage: shoal from_luaproc.lua [COUNT]        the first COUNT primes
--
-- `luaproc` is built in. Each send waits until the next process receives. What luaproc itself does
-- not have: the channel's name and the end are arguments of the process, and the result is a table.
local luaproc = require("luaproc")

local count = math.tointeger(tonumber(arg[1] or 100))
if not count or count < 1 then
  io.stderr:write("usage: from_luaproc.lua [COUNT], COUNT at least 1\n")
  os.exit(2)
end

-- The process `i` of the row. It gets numbers from one channel, and answers on another one.
local function filter(i, last)
  local luaproc = require("luaproc") -- luacheck: ignore
  local prime = luaproc.receive("numbers " .. i)
  local found = {}
  if i < last then
    luaproc.newchannel("numbers " .. i + 1)
    luaproc.newchannel("found " .. i + 1)
    luaproc.newproc(filter, i + 1, last)
    local n
    repeat
      n = luaproc.receive("numbers " .. i)
    until n % prime ~= 0 and not luaproc.send("numbers " .. i + 1, n)
    found = luaproc.receive("found " .. i + 1)
  end
  luaproc.delchannel("numbers " .. i) -- who sends there is told
  table.insert(found, 1, prime)
  luaproc.send("found " .. i, found)
end

luaproc.newchannel("numbers 1")
luaproc.newchannel("found 1")
luaproc.newproc(filter, 1, count)
local n = 2
while luaproc.send("numbers 1", n) do
  n = n + 1
end
local primes = luaproc.receive("found 1")
local first = table.concat(primes, " ", 1, math.min(#primes, 5))
print(("the first %d primes: %s …"):format(#primes, first))
print(("the last of them is %d"):format(primes[#primes]))
