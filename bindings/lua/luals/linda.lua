-- SPDX-License-Identifier: MIT
---@meta _
-- Lindas, with the results of Lanes 4. See lanes.linda.
-- luacheck: no unused

--- What queues of a linda go by. A number as the first key of a call needs a timeout before it.
---@alias lanes.key string|number|boolean|lightuserdata|lanes.linda

--- How full a key is, against its limit.
---@alias lanes.fill "under"|"exact"|"over"

--- Why nothing was sent. Nil: it was.
---@alias lanes.reason "timeout"|lanes.cancel_error|nil

---@alias lanes.restriction "none"|"set/get"|"send/receive"

---@class lanes.linda_options
---@field name? string "auto": the file and line.
--- Called where the scope of a `<close>` variable is left, in the process that made the linda.
---@field close_handler? fun(linda: lanes.linda, err: any)
---@field group? integer Without effect.
---@field wake_period? number|"never" Without effect.

---@class lanes.slot
---@field count integer
---@field first integer
---@field limit integer|"unlimited" In 3.x, -1: unlimited.
---@field restrict lanes.restriction Not in 3.x.
---@field fifo any[] The values, the oldest first.

--- A set of queues of values, one for each key. It may be sent, and be a key. While it is
--- cancelled, calls return `nil, lanes.cancel_error`.
---@class lanes.linda
---@field status "active"|"cancelled" Not in 3.x.
---@field null lightuserdata Arrives as nil. In 3.x alone.
---@field batched lightuserdata The mark of a batch for `receive`. In 3.x alone.
local Linda = {}

--- Puts values under the key: all of them, in one piece, or none. Waits as long as the limit has
--- no room for them.
---@overload fun(self: lanes.linda, key: lanes.key, ...: any): true|nil, lanes.reason
---@param timeout number|nil Seconds; nil waits for ever, 0 does not wait.
---@param key lanes.key
---@param ... any At least one.
---@return true|nil sent In 3.x, false after a timeout.
---@return lanes.reason reason
function Linda:send(timeout, key, ...) end

--- Takes the oldest value under the first key that has one.
---@overload fun(self: lanes.linda, ...: lanes.key): lanes.key|nil, any
---@param timeout number|nil Seconds; nil waits for ever, 0 does not wait.
---@param ... lanes.key At least one.
---@return lanes.key|nil key Nil: there is no value. In 3.x, none after a timeout.
---@return any value Or why there is none: "timeout" or `lanes.cancel_error`.
function Linda:receive(timeout, ...) end

--- Takes from `min` to `max` values under one key: waits for `min`, and takes what there is more.
---@overload fun(self: self, key: lanes.key, min: integer, max?: integer): lanes.key|nil, ...: any
---@param timeout number|nil Seconds; nil waits for ever, 0 does not wait.
---@param key lanes.key
---@param min integer
---@param max? integer Default: `min`.
---@return lanes.key|nil key Nil: there are not so many values.
---@return any ... The values; or "timeout" or `lanes.cancel_error`.
function Linda:receive_batched(timeout, key, min, max) end

--- Replaces all that stands under the key by these values; without values, clears it. Takes no
--- notice of the limit.
---@param key lanes.key
---@param ... any
---@return boolean|nil opened Whether there is room where there was none. In 3.x, true or none.
---@return lanes.fill|lanes.cancel_error fill Not in 3.x.
function Linda:set(key, ...) end

--- The oldest values under the key, which stay there.
---@param key lanes.key
---@param count? integer How many at most. Default: 1.
---@return integer|nil n How many there are. Not in 3.x.
---@return any ... The values; or `lanes.cancel_error`.
function Linda:get(key, count) end

--- The limit of a key; or sets it.
---@overload fun(self: lanes.linda, key: lanes.key): integer|"unlimited"|nil, lanes.fill
---@param key lanes.key
---@param limit integer|"unlimited" Values. In 3.x, less than 0: unlimited.
---@return boolean|nil opened Whether there is room where there was none.
---@return lanes.fill|lanes.cancel_error fill Not in 3.x.
function Linda:limit(key, limit) end

--- What calls a key is for; or sets it. Other calls raise then.
---@param key lanes.key
---@param restriction? lanes.restriction
---@return lanes.restriction|nil before
---@return lanes.cancel_error|nil reason
function Linda:restrict(key, restriction) end

--- How many values stand under a key; nil, if it was never used. Without keys, or with several,
--- a table of the keys that are known.
---@overload fun(self: lanes.linda, key: lanes.key): integer|nil
---@param ... lanes.key
---@return table<lanes.key, integer>|nil
function Linda:count(...) end

--- All that stands in it, for debugging.
---@return table<lanes.key, lanes.slot>|nil
function Linda:dump() end

--- Cancels it, and ends the waits of that kind; "none" takes that back.
---@param waits? "read"|"write"|"both"|"none" Default: "both".
function Linda:cancel(waits) end

--- Has nothing to do: nobody sleeps through what he waits for.
---@param waits? "read"|"write"|"both"
function Linda:wake(waits) end

--- Equal for equal lindas.
---@return lightuserdata
function Linda:deep() end

--- Without effect.
function Linda:collectgarbage() end
