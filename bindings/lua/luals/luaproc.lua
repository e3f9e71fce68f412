-- SPDX-License-Identifier: MIT
---@meta luaproc
-- luaproc on processes and channels of Shoal. It answers to "shoal.luaproc" as well.
-- luacheck: no unused

---@class luaproc
local luaproc = {}

--- Starts a process. Raises if the source has a syntax error.
---@param body (fun(...: any): ...: any)|string A function, source, or bytecode of this program.
---@param ... any The arguments of the body.
---@return true|nil started
---@return string? reason Why not: an upvalue or argument cannot be sent.
function luaproc.newproc(body, ...) end

--- Sends a message, and waits until it is received. With one value that is not the name of a
--- channel, sends it to the process that started this one; in the script, to those that it
--- starts.
---@overload fun(value: any): true|nil, string?
---@param channel string
---@param ... any The message, also an empty one.
---@return true|nil sent
---@return string? reason Why not: there is no such channel, or it has been deleted.
function luaproc.send(channel, ...) end

--- Receives a message. Without a name, from the process that started this one; in the script,
--- from those that it starts.
---@param name? string Of a channel.
---@param async? boolean True: only from one who waits to send already.
---@return any ... The message; or nil and the reason, a string.
function luaproc.receive(name, async) end

--- Makes a channel, of the whole program.
---@param name string
---@return true|nil made
---@return string? reason Why not: it exists.
function luaproc.newchannel(name) end

--- Deletes a channel. Who waits there gets nil and a reason.
---@param name string
---@return true|nil deleted
---@return string? reason Why not: it does not exist.
function luaproc.delchannel(name) end

--- Waits until nothing can run any more. For the main script; in a process it raises.
function luaproc.wait() end

--- Remembers the number, for `getnumworkers`: the program has the workers that it was started
--- with.
---@param n integer At least 1.
function luaproc.setnumworkers(n) end

--- The number that was set; or how many workers there are.
---@return integer
function luaproc.getnumworkers() end

--- Checks its argument, and does nothing: states are not used again.
---@param n integer At least 0.
function luaproc.recycle(n) end

return luaproc
