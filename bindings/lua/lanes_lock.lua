-- SPDX-License-Identifier: MIT
-- lanes.genlock and lanes.genatomic: locks and counters that stand under a key of a linda.
local core = require("shoal.lanes.core")

local locks = {}

local function check_linda(linda, key, what)
  if type(linda) ~= "userdata" or not core.is_linda(linda) then
    error(("bad argument #1 to '%s' (Linda expected, got %s)"):format(what, type(linda)), 3)
  end
  local ok, err = pcall(linda.count, linda, key)
  if not ok then
    error(err, 3) -- it is no key
  end
end

local function is_v4()
  return core.settings().api == 4
end

-- The mark that stands under the key for each of the M that are taken.
local function marks(m)
  local list = {}
  for i = 1, m do
    list[i] = true
  end
  return table.unpack(list)
end

local function release(linda, key, m)
  local taken
  if is_v4() then
    taken = linda:receive_batched(0, key, m)
  else
    taken = linda:receive(0, linda.batched, key, m)
  end
  return taken == key
end

-- genlock(linda, key [, n]) → lock(m [, "try"]): takes m of the n for m > 0, gives them back for
-- m < 0.
function locks.genlock(linda, key, n)
  check_linda(linda, key, "genlock")
  n = n or 1
  if math.type(n) ~= "integer" or n < 1 then
    error("bad argument #3 to 'genlock' (a positive integer expected)", 2)
  end
  linda:limit(key, n)
  return function(m, mode)
    if math.type(m) ~= "integer" or m == 0 then
      error("bad argument #1 to lock (an integer other than 0 expected)", 2)
    elseif mode ~= nil and mode ~= "try" then
      error("bad argument #2 to lock ('try' expected, got " .. tostring(mode) .. ")", 2)
    elseif m < 0 then
      return release(linda, key, -m)
    elseif m > n then
      error(("bad argument #1 to lock (%d is more than the %d of the lock)"):format(m, n), 2)
    end
    local timeout = mode == "try" and 0 or nil
    if n == 1 then
      return linda:send(timeout, key, true) == true
    end
    return linda:send(timeout, key, marks(m))
  end
end

-- genatomic(linda, key [, init]) → add([diff]): the new value. A second value under the key is the
-- lock.
function locks.genatomic(linda, key, init)
  check_linda(linda, key, "genatomic")
  if init ~= nil and type(init) ~= "number" then
    error("bad argument #3 to 'genatomic' (number expected, got " .. type(init) .. ")", 2)
  end
  linda:limit(key, 2)
  linda:set(key, init or 0.0)
  return function(diff)
    if diff ~= nil and type(diff) ~= "number" then
      error("bad argument #1 to atomic (number expected, got " .. type(diff) .. ")", 2)
    end
    local locked, reason = linda:send(nil, key, true)
    if locked ~= true then
      return locked, reason -- the linda is cancelled
    end
    local first, second = linda:get(key)
    local value = (is_v4() and second or first) + (diff or 1.0)
    linda:set(key, value)
    return value
  end
end

return locks
