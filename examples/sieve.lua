-- SPDX-License-Identifier: MIT
-- The prime sieve of communicating sequential processes: each prime that is found gets a process of
-- its own, which lets pass only what it does not divide.
--
-- usage: shoal sieve.lua [COUNT]               the first COUNT primes
--
--   numbers ─2,3,4,5,…─> not of 2 ─3,5,7,9,…─> not of 3 ─5,7,11,…─> not of 5 ─> …
--
-- It is not the quick way to primes: it shows that processes are light enough to be used like
-- objects. A number passes a process and a channel for each prime below it.
local shoal = require("shoal")

local count = math.tointeger(tonumber(arg[1] or 100))
if not count or count < 1 then
  io.stderr:write("usage: sieve.lua [COUNT], COUNT at least 1\n")
  os.exit(2)
end

local KEY = "number"

local function stream()
  return shoal.channel({ limit = 100 })
end

-- The body of all processes of the chain. The first number that arrives is a prime; of the others,
-- what it does not divide goes on to the next process, which it starts itself.
local function sieve(input, primes)
  local prime = input:receive(KEY)
  if not prime or not primes:send(KEY, prime) then
    input:close() -- enough were found
    return
  end
  local output = stream()
  shoal.spawn(sieve, output, primes)
  for number in input:each(KEY) do
    if number % prime ~= 0 then
      output:send(KEY, number)
    end
  end
  output:close()
end

local numbers, primes = stream(), stream()
shoal.spawn(sieve, numbers, primes)
shoal.spawn(function()
  local number = 2
  while numbers:send(KEY, number) do -- until it is closed
    number = number + 1
  end
end)

local found = {}
for i = 1, count do
  found[i] = primes:receive(KEY)
end
-- Ends the chain: `send` returns nil in the process that counts, `each` ends in the others, and
-- each of them closes what the next one reads.
numbers:close()
primes:close()

for i = 1, count, 10 do
  print(table.concat(found, " ", i, math.min(i + 9, count)))
end
