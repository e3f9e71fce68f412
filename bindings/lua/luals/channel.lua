-- SPDX-License-Identifier: MIT
---@meta _
-- Channels, and what sends to them by the clock: timers. See shoal.channel, shoal.after,
-- shoal.every.
-- luacheck: no unused

--- What queues of a channel go by. Floats are no keys.
---@alias shoal.key
---| string
---| integer
---| boolean
---| lightuserdata
---| shoal.process
---| shoal.channel
---| shoal.pool

---@class shoal.channel_options
---@field name? string There is one channel of a name in the program: it is got, or made.
--- How many messages may stand under each key. 0: a send waits until it is received;
--- `math.huge`, the default: any number.
---@field limit? integer|number
---@field bytes? integer How many bytes may stand in the channel as a whole.

--- A set of queues, one for each key. A message is one or more values, the first of which is not
--- nil. It may be sent, and be a key; a `<close>` closes it.
---@class shoal.channel
---@field id integer
---@field name string? Nil: it has none.
local Channel = {}

--- Puts a message under the key. Waits as long as the key is at its limit.
---@param key shoal.key
---@param value any The first value, which is not nil.
---@param ... any
---@return true|nil sent
---@return "closed"|nil reason
function Channel:send(key, value, ...) end

--- The same with a timeout. A send that fails has changed nothing.
---@param timeout number|nil Seconds; nil waits for ever, 0 does not wait.
---@param key shoal.key
---@param value any The first value, which is not nil.
---@param ... any
---@return true|nil sent
---@return "timeout"|"closed"|nil reason
function Channel:send_for(timeout, key, value, ...) end

--- Sends each element of the list as a message of one value: all of them, in one piece, or none.
--- Raises if the list is longer than the limit of the key.
---@param key shoal.key
---@param list any[]
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil sent
---@return "timeout"|"closed"|nil reason
function Channel:send_batch(key, list, timeout) end

--- Takes the oldest message under the key. "closed" means that nothing is left.
---@param key shoal.key
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return any value The first value of the message. Nil: there is none.
---@return any ... Its other values; or "timeout" or "closed".
function Channel:receive(key, timeout) end

--- Takes one message from the first key of the list under which there is one. "closed" means
--- that all of the keys are.
---@param keys shoal.key[]
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return shoal.key|nil key Nil: there is no message.
---@return any ... The values of the message; or "timeout" or "closed".
function Channel:receive_any(keys, timeout) end

--- Takes from 1 to `max` messages: waits for the first, and takes what stands behind it. The
--- list has the first value of each; with "pack", what `table.pack` makes of the message.
---@param key shoal.key
---@param max integer
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@param form? "pack"
---@return { n: integer, [integer]: any }|nil list
---@return "timeout"|"closed"|nil reason
function Channel:receive_batch(key, max, timeout, form) end

--- Receives until the key is closed and empty: `for value, … in ch:each(key) do`.
---@param key shoal.key
---@return fun(): any, ...: any receive
function Channel:each(key) end

--- Replaces all that stands under the key by this message; without values, clears it. Never
--- waits, and takes no notice of the limit.
---@param key shoal.key
---@param ... any
---@return true|nil set
---@return "closed"|nil reason
function Channel:set(key, ...) end

--- The oldest message under the key, which stays there. Never waits.
---@param key shoal.key
---@return any value The first value of the message. Nil: there is none.
---@return any ... Its other values.
function Channel:get(key) end

--- As `set`, if nothing stands under the key. Never waits.
---@param key shoal.key
---@param value any The first value, which is not nil.
---@param ... any
---@return true|nil set
---@return "exists"|"closed"|nil reason
function Channel:add(key, value, ...) end

--- Adds to the number under the key, at once and in one piece. Nothing there counts as 0. Raises
--- if something else than one number stands there.
---@param key shoal.key
---@param by? number Default: 1.
---@param ttl? number Seconds to live, for a number that is new.
---@return number|nil sum
---@return "closed"|nil reason
function Channel:incr(key, by, ttl) end

--- What stands under the key goes away after this time. `set` takes that back, `send` and `incr`
--- do not.
---@param key shoal.key
---@param seconds number `math.huge`: it stays.
---@return true|nil found
---@return "not found"|nil reason
function Channel:expire(key, seconds) end

--- How long it will be until what stands under the key goes away.
---@param key shoal.key
---@return number|nil seconds Nil: it stays, or nothing stands there.
function Channel:ttl(key) end

--- The limit of one key, which is set if `n` is given.
---@param key shoal.key
---@param n? integer|number Messages; 0: a send waits until it is received; `math.huge`: any number.
---@return integer|number limit What it was.
function Channel:limit(key, n) end

--- How many messages stand under the key.
---@param key shoal.key
---@return integer
function Channel:count(key) end

--- The keys under which there are messages.
---@return shoal.key[]
function Channel:keys() end

--- Closes a key, or all of them, for good. Who waits to send there gets `nil, "closed"`, and so
--- does who waits to receive.
---@param key? shoal.key
function Channel:close(key) end

--- What `shoal.after` and `shoal.every` return. A `<close>` cancels it; a handle that is dropped
--- leaves its timer alone.
---@class shoal.timer
local Timer = {}

--- Stops it.
---@return boolean cancelled Whether it would have sent, and does not any more.
function Timer:cancel() end
