-- SPDX-License-Identifier: MIT
---@meta _
-- Pools of processes, their calls (futures), and the options of maps. See shoal.pool, shoal.map.
-- luacheck: no unused

--- What a pool calls: a name, with dots for fields ("string.rep"), or a function, which is
--- copied with each call.
---@alias shoal.callable string|fun(...: any): ...: any

---@class shoal.map_options
---@field size? integer How many processes. Default: `shoal.workers()`.
---@field chunk? integer How many items a message has. Default: work for some milliseconds.
--- Called by the caller of the map when results have come. `total` is nil for iterators.
---@field progress? fun(done: integer, total: integer?)

--- The limits, libraries and so on are for each process, as of `shoal.spawn`.
---@class shoal.pool_options
---@field size? integer How many processes. Default: `shoal.workers()`.
---@field file? string What each process runs first. A table that it returns has what is called.
---@field body? shoal.body The same as a function or source. A file or a body, not both.
---@field name? string There is one pool of a name in the program: it is got, or made.
---@field tasks? integer How many calls a process works at at one time (default 1), in tasks.
---@field limit? integer|number How many calls may wait for a process. Default: `math.huge`.
---@field env? table
---@field libs? "*"|shoal.library[]
---@field channels? string[]
---@field memory_limit? integer|string Bytes, or a text such as "64M".
---@field cpu_limit? number Seconds.
---@field message_limit? integer|string Bytes, or a text such as "64M".
---@field seed? integer The processes have `seed`, `seed + 1`, …

--- Processes that have loaded a script once, and are called again and again. It may be sent, and
--- be a key; a `<close>` cancels what it runs and waits for the end of its processes.
---@class shoal.pool
---@field id integer
---@field name string? Nil: it has none.
local Pool = {}

--- Calls a function in one of the processes. Waits for the results, and at the limit. An error
--- is raised as by `p:result`; so is "the pool is closed".
---@param f shoal.callable
---@param ... any
---@return any ... The results.
function Pool:call(f, ...) end

--- The same with a timeout, which counts from the call on; when it is over, the call is
--- cancelled.
---@param timeout number|nil Seconds; nil waits for ever.
---@param f shoal.callable
---@param ... any
---@return true|nil done Nil: it has failed or been cancelled, or the time is over.
---@return any ... The results; the error and its traceback; "timeout"; or "closed".
function Pool:call_for(timeout, f, ...) end

--- Calls, and does not wait for the results. Raises if the pool is closed.
---@param f shoal.callable
---@param ... any
---@return shoal.future
function Pool:async(f, ...) end

--- As `call`. Calls with equal keys are made in one process, in their order, one at a time.
---@param key shoal.key
---@param f shoal.callable
---@param ... any
---@return any ... The results.
function Pool:call_on(key, f, ...) end

--- As `shoal.map`, in the processes of the pool; `size` is how many of them are kept busy.
---@generic T
---@param f string|fun(item: T, index: integer): any
---@param list T[]|fun(): T?
---@param options? shoal.map_options
---@return { n: integer, [integer]: any } results
function Pool:map(f, list, options) end

--- Takes no more calls, and waits for those that were made. After the timeout they are cancelled.
---@param timeout? number Seconds; nil waits for ever.
---@return true|nil closed
---@return "timeout"|nil reason
function Pool:close(timeout) end

--- The processes run the script anew, each when it has answered the calls that it works at.
--- Raises if the file cannot be read or has a syntax error.
---@return true
function Pool:reload() end

--- A call of a pool. It cannot be sent; a `<close>` cancels it and waits for its end.
---@class shoal.future
local Future = {}

--- Waits for the end.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil done Nil: it has failed or been cancelled, or the time is over.
---@return any ... The results; the error and its traceback; `shoal.cancelled`; or "timeout".
function Future:join(timeout) end

--- As `join`, but raises what is not a result: the error (a string with its traceback behind it,
--- other values as they are), `shoal.timeout` or `shoal.cancelled`.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return any ... The results.
function Future:result(timeout) end

--- Cancels the call: before a process has taken it, it is never made. With a timeout, waits for
--- its end.
---@param timeout? number Seconds.
---@return true|nil asked
---@return "timeout"|nil reason
function Future:cancel(timeout) end

--- How it is. "ready": it waits for a process.
---@return "ready"|"running"|"done"|"error"|"cancelled"
function Future:status() end
