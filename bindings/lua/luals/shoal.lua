-- SPDX-License-Identifier: MIT
---@meta shoal
-- The module. Times are seconds: a timeout of nil waits for ever, 0 does not wait. Misuse raises
-- an error that names the argument; outcomes are returned. The reference is bindings/README.md.
-- luacheck: no unused

--- What is thrown by a cancel, or by a `result` whose time is over. Equal to itself alone.
---@class shoal.outcome

---@class shoal
---@field cancelled shoal.outcome
---@field timeout shoal.outcome
---@field _VERSION string
local shoal = {}

-- Processes ---------------------------------------------------------------------------------------

--- Starts a process that runs `body(...)`, and returns at once. Raises, and starts nothing, if
--- an option is wrong, the source has a syntax error, or the body or an argument cannot be sent.
---@overload fun(body: shoal.body, ...: any): shoal.process
---@param options shoal.spawn_options
---@param body shoal.body
---@param ... any The arguments of the body, which are copied.
---@return shoal.process
function shoal.spawn(options, body, ...) end

--- The same with the Lua source in a file. Raises if it cannot be read or has a syntax error.
---@overload fun(path: string, ...: any): shoal.process
---@param options shoal.spawn_options
---@param path string
---@param ... any The arguments of the body, which are copied.
---@return shoal.process
function shoal.spawn_file(options, path, ...) end

--- The process that calls.
---@return shoal.process
function shoal.self() end

--- A process that has not ended.
---@param id integer|string Its id, or its name.
---@return shoal.process|nil
function shoal.process(id) end

--- All processes that have not ended. With a list of libraries, a process sees only itself and
--- its descendants.
---@return shoal.process[]
function shoal.processes() end

--- Waits until all other processes that are no daemons have ended, or nothing can run any more.
--- In the first process or a host; in others it raises.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended
---@return "timeout"|nil reason
function shoal.wait(timeout) end

--- A scope for processes and tasks that belong together, to be held by a `<close>` variable.
---@return shoal.group
function shoal.group() end

-- Channels ----------------------------------------------------------------------------------------

--- A new channel; with a name, the one that has this name in the program, if there is one.
--- Raises if its limits differ from those that are given.
---@param options? string|shoal.channel_options A name, or options.
---@return shoal.channel
function shoal.channel(options) end

--- One of what a select chooses from. Those of a channel need a key; one with `send` sends it,
--- which is a list of values, as of `table.pack`. Those of a socket need "read" or "write".
---@class shoal.case
---@field [1] shoal.channel|shoal.process|shoal.task|shoal.future|table|userdata
---@field [2]? shoal.key|"read"|"write"
---@field send? any[]

---@class shoal.cases
---@field [integer] shoal.case
---@field timeout? number Seconds. A list without cases needs one.

--- Makes exactly one of several cases happen: the first that is ready, or becomes ready. A
--- process, a task or a future is ready when it has ended; a socket, when it can be read or
--- written. A mistake in a case raises an error that names it.
---@param cases shoal.cases
---@return integer|nil i Which case. Nil: none.
---@return any ... What its own call returns; or "timeout".
function shoal.select(cases) end

--- Sends a message when the time has come. The send takes no notice of limits.
---@param seconds number
---@param channel shoal.channel
---@param key shoal.key
---@param value any The first value, which is not nil.
---@param ... any
---@return shoal.timer
function shoal.after(seconds, channel, key, value, ...) end

--- Sends it again and again, for the first time after `seconds`. A beat is left out while the
--- message of the last one has not been received.
---@param seconds number Larger than 0.
---@param channel shoal.channel
---@param key shoal.key
---@param value any The first value, which is not nil.
---@param ... any
---@return shoal.timer
function shoal.every(seconds, channel, key, value, ...) end

-- Tasks -------------------------------------------------------------------------------------------

--- Starts a task of this process, which runs `f(...)`. Returns before `f` runs.
---@param f fun(...: any): ...: any
---@param ... any The arguments of `f`, which are not copied.
---@return shoal.task
function shoal.task(f, ...) end

--- Waits for a time.
---@param seconds number 0: the same as `yield`.
function shoal.sleep(seconds) end

--- Lets others run first: the other tasks of the process that are ready, and other processes.
function shoal.yield() end

--- Calls `f(...)`, in which no cancel is raised.
---@param f fun(...: any): ...: any
---@param ... any The arguments of `f`.
---@return any ... The results.
function shoal.shield(f, ...) end

--- Calls `f(...)`, in which C code blocks its thread: another thread takes its place at work.
--- The other tasks of this process stand still.
---@param f fun(...: any): ...: any
---@param ... any The arguments of `f`.
---@return any ... The results.
function shoal.blocking(f, ...) end

--- A clock that only goes forward. Its zero means nothing.
---@return number seconds
function shoal.now() end

-- Offloading --------------------------------------------------------------------------------------

--- Calls `f(item, index)` for each item, in several processes. Results come in the order of the
--- items; nil is one. The first error by index is raised, as "item 17: …"; the rest is
--- cancelled.
---@generic T, R
---@param f fun(item: T, index: integer): R Sent once to each process, with its upvalues.
---@param list T[]|fun(): T? A list, with `n` or without; or an iterator, which ends with nil.
---@param options? shoal.map_options
---@return { n: integer, [integer]: R } results
function shoal.map(f, list, options) end

--- The same for inputs that are larger than memory: `for index, result in shoal.imap(f, items)
--- do`. An error is raised in its turn. Leaving the loop cancels what still runs.
---@generic T, R
---@param f fun(item: T, index: integer): R Sent once to each process, with its upvalues.
---@param list T[]|fun(): T? A list, with `n` or without; or an iterator, which ends with nil.
---@param options? shoal.map_options
---@return fun(): integer?, R? receive
function shoal.imap(f, list, options) end

--- Processes that load a script once, and are called again and again. With a name, the pool that
--- has this name, if there is one. Raises if an option is wrong, or the script has a syntax
--- error.
---@param options shoal.pool_options
---@return shoal.pool
function shoal.pool(options) end

-- Buffers -----------------------------------------------------------------------------------------

--- Immutable bytes that processes share: in a message they are not copied.
---@param bytes string|shoal.buffer|(string|shoal.buffer)[] Of a list, all its bytes in one piece.
---@return shoal.buffer
function shoal.buffer(bytes) end

-- The rest ----------------------------------------------------------------------------------------

--- What kind of handle it is.
---@param value any
---@return "process"|"channel"|"task"|"pool"|"future"|"buffer"|nil kind Nil: none.
---@return string? type Its Lua type, if it is none.
function shoal.type(value) end

--- How many workers there are.
---@return integer
function shoal.workers() end

-- Hosts -------------------------------------------------------------------------------------------

---@class shoal.settings
---@field workers? integer From 1 to 1024. Default: one for each processor that the program may use.
---@field limit? integer|number Of channels that are made without one. Default: `math.huge`.
---@field queue_memory? integer Bytes of all messages that stand in channels.
---@field log? "off"|"error"|"warning"|"notice" What is reported on stderr. Default: "warning".
---@field shutdown_timeout? number Seconds that who is cancelled at the end has (default 2).
---@field signal? integer|false The number of the signal that suspends processes. False: none.

--- In a host, such as the stock interpreter: what the options of the program are there. Raises
--- after the first use of Shoal, and in the program.
---@param settings shoal.settings
function shoal.configure(settings) end

--- In a host: these modules answer to their plain names from now on, as they do elsewhere in any
--- case. Raises if another one of that name has been loaded.
---@param ... "lanes"|"luaproc"|"socket"
function shoal.compat(...) end

return shoal
