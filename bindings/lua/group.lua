-- SPDX-License-Identifier: MIT
-- shoal.group: processes and tasks that end together.
--
-- Each member has a number. When one ends, its number is sent to the group's channel `ended`, so a
-- group knows in which order they do, and forgets them without looking at all of them. A member
-- that is not in `members` any more may still have its number there.
local shoal = ...

local Group = {}
Group.__index = Group
Group.__name = "shoal.group"

-- A member has been seen to end.
local function remove(self, number)
  local member = self.members[number]
  self.members[number] = nil
  if member and not self.failed and member:status() == "error" then
    self.failed = member -- the first one
  end
end

local function remove_ended(self)
  for number in shoal.take, self.ended do
    remove(self, number)
  end
end

-- What a method returns, or its error; with the place from which the method was called instead of
-- one in here. To be called as `return pass(pcall(…))`, so that the method's own frame is gone.
local function pass(ok, ...)
  if ok then
    return ...
  end
  local err, places = ..., 0
  if type(err) == "string" then
    err, places = err:gsub("^%[shoal%.group%]:%d+: ", "")
  end
  error(err, places == 0 and 0 or 2)
end

local function start(self, spawn, ...)
  if self.closed then
    error("the group has been left")
  end
  remove_ended(self)
  local member = spawn(...)
  self.last = self.last + 1
  self.members[self.last] = member
  local ok, err = pcall(shoal.watch, member, self.ended, self.last)
  if not ok then -- memory is short
    self.members[self.last] = nil
    member:cancel()
    error(err)
  end
  return member
end

-- In a shield: a member is never started without being one.
function Group:spawn(...)
  return pass(pcall(shoal.shield, start, self, shoal.spawn, ...))
end

function Group:task(...)
  return pass(pcall(shoal.shield, start, self, shoal.task, ...))
end

-- Ends all members, and waits until they have.
local function stop(self)
  for _, member in pairs(self.members) do
    member:cancel()
  end
  -- While it waits, other tasks may change the table: so always the first one.
  local number, member = next(self.members)
  while number do
    member:cancel()
    member:join()
    remove(self, number)
    number, member = next(self.members)
  end
end

-- Raises what is wrong with the arguments of join, for who called that.
local function check_join(self, timeout)
  if timeout ~= nil and type(timeout) ~= "number" then
    error("bad argument #1 to 'join' (timeout in seconds expected, got " .. type(timeout) .. ")", 3)
  elseif timeout and timeout ~= timeout then
    error("bad argument #1 to 'join' (timeout in seconds expected, got NaN)", 3)
  elseif timeout and timeout < 0 then
    error("bad argument #1 to 'join' (timeout must not be negative)", 3)
  elseif self.joined_by then
    error("another task joins this group", 3)
  end
end

local Joining = {}
function Joining:__close()
  self.group.joined_by = nil
end

local function join(self, timeout)
  local joining <close> = setmetatable({ group = self }, Joining)
  self.joined_by = joining
  local deadline = timeout and shoal.now() + timeout
  while true do
    remove_ended(self)
    if self.failed then
      stop(self)
      local failed = self.failed
      self.failed = nil
      return failed:result() -- raises
    end
    if next(self.members) == nil then
      return true
    end
    local number = self.ended:receive(1, deadline and math.max(deadline - shoal.now(), 0))
    if not number then
      return nil, "timeout"
    end
    remove(self, number)
  end
end

function Group:join(timeout)
  check_join(self, timeout)
  return pass(pcall(join, self, timeout))
end

-- Leaving the scope: an error of a member is raised, unless there is one already.
function Group:__close(err)
  self.closed = true
  remove_ended(self)
  stop(self)
  if self.failed and err == nil then
    self.failed:result()
  end
end

return function()
  return setmetatable({ members = {}, last = 0, ended = shoal.channel() }, Group)
end
