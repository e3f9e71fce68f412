-- SPDX-License-Identifier: MIT
-- Hashes files on all processors, with SHA-256 in plain Lua, and says how far it is.
--
--   lua5.4 offload.lua FILE...        (or: shoal offload.lua FILE...)
--
-- It puts out what `sha256sum` does. The progress goes to stderr.
local shoal = require("shoal")

-- The first 32 bits of the fractions of the cube roots (and square roots) of the first primes.
local function fractions(count, exponent)
  local list, n = {}, 2
  while #list < count do
    local prime = true
    for divisor = 2, math.floor(math.sqrt(n)) do
      prime = prime and n % divisor ~= 0
    end
    if prime then
      list[#list + 1] = math.floor(n ^ exponent % 1 * 2 ^ 32)
    end
    n = n + 1
  end
  return list
end
local K, START = fractions(64, 1 / 3), fractions(8, 1 / 2)

local function rotated(x, n)
  return x >> n | x << (32 - n) & 0xffffffff
end

-- Adds a block of 64 bytes to the state.
local function add_block(state, w)
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    local s0 = rotated(x, 7) ~ rotated(x, 18) ~ x >> 3
    local s1 = rotated(y, 17) ~ rotated(y, 19) ~ y >> 10
    w[i] = w[i - 16] + s0 + w[i - 7] + s1 & 0xffffffff
  end
  local a, b, c, d, e, f, g, h = table.unpack(state)
  for i = 1, 64 do
    local s1 = rotated(e, 6) ~ rotated(e, 11) ~ rotated(e, 25)
    local t1 = h + s1 + (e & f ~ ~e & g) + K[i] + w[i]
    local s0 = rotated(a, 2) ~ rotated(a, 13) ~ rotated(a, 22)
    local t2 = s0 + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, h = t1 + t2 & 0xffffffff, a, b, c, d + t1 & 0xffffffff, e, f, g
  end
  for i, word in ipairs({ a, b, c, d, e, f, g, h }) do
    state[i] = state[i] + word & 0xffffffff
  end
end

local function sha256(bytes)
  local state = table.move(START, 1, 8, 1, {})
  local padding = "\x80" .. ("\0"):rep(-(#bytes + 9) % 64) .. (">I8"):pack(#bytes * 8)
  bytes = bytes .. padding
  for at = 1, #bytes, 64 do
    add_block(state, { (">" .. ("I4"):rep(16)):unpack(bytes, at) })
  end
  return (("%08x"):rep(8)):format(table.unpack(state))
end

-- Runs in the processes of the map. Without a hash, the file cannot be read.
local function hash_of(path)
  local file <close> = io.open(path, "rb")
  local bytes = file and file:read("a")
  return bytes and sha256(bytes)
end

if #arg == 0 then
  io.stderr:write("usage: offload.lua FILE...\n")
  os.exit(2)
end
local paths = table.move(arg, 1, #arg, 1, {})
local hashes = shoal.map(hash_of, paths, {
  chunk = 1, -- each file is work enough for a message
  progress = function(done, total)
    io.stderr:write(("\r%d of %d files"):format(done, total), done == total and "\n" or "")
  end,
})
local complete = true
for i = 1, hashes.n do
  if hashes[i] then
    print(hashes[i] .. "  " .. paths[i])
  else
    io.stderr:write("cannot read ", paths[i], "\n")
    complete = false
  end
end
os.exit(complete)
