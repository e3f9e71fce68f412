-- SPDX-License-Identifier: MIT
-- shoal.luaproc: the module `luaproc` on processes and channels of Shoal.
--
-- A message is a tuple behind a mark, so that it may be empty or begin with nil. A channel is one
-- of Shoal with the limit 0: who sends waits for who receives.
local shoal = ...
local core = require("shoal.luaproc.core")

local luaproc = {}

if not core.directory then
  core.directory = shoal.channel("shoal.luaproc")
end

-- Arguments ---------------------------------------------------------------------------------------

local function bad(position, what, expected, got)
  local text = "bad argument #%d to '%s' (%s expected, got %s)"
  error(text:format(position, what, expected, got), 3)
end

local function type_of(count, value)
  return count == 0 and "no value" or type(value)
end

local function is_name(value)
  return type(value) == "string" or type(value) == "number"
end

-- Channels ----------------------------------------------------------------------------------------

local function missing(name)
  return nil, ("channel '%s' does not exist"):format(name)
end

function luaproc.newchannel(...)
  local name = ...
  if not is_name(name) then
    bad(1, "newchannel", "the name of a channel", type_of(select("#", ...), name))
  end
  name = tostring(name)
  if core.directory:add(name, core.new_channel()) then
    return true
  end
  return nil, ("channel '%s' already exists"):format(name)
end

function luaproc.delchannel(...)
  local name = ...
  if not is_name(name) then
    bad(1, "delchannel", "the name of a channel", type_of(select("#", ...), name))
  end
  name = tostring(name)
  local channel = core.directory:receive(name, 0)
  if not channel then
    return missing(name)
  end
  channel:close()
  return true
end

-- Messages ----------------------------------------------------------------------------------------

-- What the codec says of a value that cannot travel, in the words of luaproc and behind them.
-- `skip` is how many values that are not the caller's stand before his.
local function refusal(problem, what, skip)
  problem = tostring(problem):gsub("^%[shoal[^%]]*%]:%d+: ", "")
  local kind = problem:match("cannot send a ([%w]+)")
  kind = ({ coroutine = "thread", C = "function" })[kind] or kind
  local place = problem:gsub("%(at %[(%d+)%]", function(position)
    return ("(at [%d]"):format(tonumber(position) - skip)
  end)
  if not kind then
    return nil, place
  end
  return nil, ("failed to %s value of unsupported type '%s': %s"):format(what, kind, place)
end

-- What a call returns of pcall's results. Always a tail call: so its own caller is at level 2.
local function sent(name, ok, result)
  if not ok then
    if type(result) == "string" and result:find("cannot send", 1, true) then
      return refusal(result, "send", 1)
    end
    error(result, 2) -- a deadlock, say
  elseif not result then
    return nil, ("channel '%s' destroyed while waiting for receiver"):format(name)
  end
  return true
end

-- send(name, ...): to a channel. With one value that is not the name of one: to the parent; from a
-- process that has none, to its children.
function luaproc.send(...)
  local count, name = select("#", ...), ...
  local channel = is_name(name) and core.find(tostring(name))
  if channel then
    return sent(name, pcall(channel.send, channel, "message", true, select(2, ...)))
  elseif count == 1 then
    local outlet = core.outlet()
    return sent("parent", pcall(outlet.send, outlet, "message", true, name))
  elseif not is_name(name) then
    bad(1, "send", "the name of a channel", type_of(count, name))
  end
  return missing(name)
end

local function received(name, ok, mark, ...)
  if not ok then
    error(mark, 2)
  elseif mark then
    return ...
  elseif ... == "timeout" then
    return nil, ("no senders waiting on channel '%s'"):format(name)
  end
  return nil, ("channel '%s' destroyed while waiting for sender"):format(name)
end

-- receive(name [, async]): with async, only from one who waits already. receive(): from the parent;
-- in a process that has none, from its children.
function luaproc.receive(name, async)
  local timeout = async and 0 or nil
  if name == nil then
    local inlet = core.inlet()
    return received("parent", pcall(inlet.receive, inlet, "message", timeout))
  elseif not is_name(name) then
    bad(1, "receive", "the name of a channel", type(name))
  end
  local channel = core.find(tostring(name))
  if not channel then
    return missing(name)
  end
  return received(name, pcall(channel.receive, channel, "message", timeout))
end

-- Processes ---------------------------------------------------------------------------------------

-- newproc(source | bytecode | function, ...): starts a process that runs it with these arguments.
function luaproc.newproc(...)
  local count, body = select("#", ...), ...
  if type(body) == "number" then
    body = tostring(body)
  end
  if type(body) == "string" then
    local problem
    body, problem = load(body, body:sub(1, 1) == "\27" and "=luaproc" or body)
    if not body then
      error(problem, 2)
    end
  elseif type(body) ~= "function" then
    return nil, ("cannot use '%s' to create a new process"):format(type_of(count, body))
  end
  local ok, problem = pcall(shoal.spawn, core.run, core.setup(), body, select(2, ...))
  if ok then
    return true
  elseif not tostring(problem):find("cannot send", 1, true) then
    error(problem, 2)
  end
  local _, text = refusal(problem, "copy", 2)
  return nil, (text:gsub("%(at %[0%]", "(at body", 1))
end

-- wait(): until no process can run any more.
function luaproc.wait()
  local ok, problem = pcall(shoal.wait)
  if not ok and tostring(problem):find("first process", 1, true) then
    error("luaproc.wait is for the main script: a process would wait for itself", 2)
  elseif not ok then
    error(problem, 2)
  end
end

-- setnumworkers(n): only remembered. The program has as many workers as it was started with.
function luaproc.setnumworkers(...)
  local n = ...
  if math.type(n) ~= "integer" and not (math.type(n) == "float" and n % 1 == 0) then
    bad(1, "setnumworkers", "integer", type_of(select("#", ...), n))
  elseif n < 1 then
    error("number of workers must be positive", 2)
  end
  core.directory:set(core.WORKERS, math.tointeger(n))
end

function luaproc.getnumworkers()
  return core.directory:get(core.WORKERS) or require("shoal").workers()
end

-- recycle(n): nothing is to be done. States are not used again, so they are clean.
function luaproc.recycle(...)
  local n = ...
  if math.type(n) ~= "integer" then
    bad(1, "recycle", "integer", type_of(select("#", ...), n))
  elseif n < 0 then
    error("number of states to recycle must not be negative", 2)
  end
end

return luaproc
