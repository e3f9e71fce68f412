-- SPDX-License-Identifier: MIT
---@meta _
-- Processes. See shoal.spawn.
-- luacheck: no unused

--- What a process runs: a function, which is copied with its upvalues, or Lua source.
---@alias shoal.body (fun(...: any): ...: any)|string

---@alias shoal.library
---| "package"
---| "coroutine"
---| "table"
---| "io"
---| "os"
---| "string"
---| "math"
---| "utf8"
---| "debug"
---| "shoal"
---| "socket"

--- Limits, libraries and channels are bounds for all descendants as well.
---@class shoal.spawn_options
---@field name? string For messages and `shoal.process`. Need not be unique.
---@field daemon? boolean True: the program does not wait for its end.
---@field link? boolean True: an error in it or in the one that spawns it ends the other.
---@field env? table Globals, which are copied. `_G` copies all that a fresh process lacks.
---@field libs? "*"|shoal.library[] The libraries that it gets. Default: "*", all.
---@field channels? string[] The only names under which it can open channels.
---@field memory_limit? integer|string Bytes, or a text such as "64M" (K, M, G: powers of 1024).
---@field cpu_limit? number Seconds that its turns may take.
---@field message_limit? integer|string Bytes of each message that it sends, as `memory_limit`.
---@field seed? integer Of `math.random`. Without it, a random one.

--- What a process has used so far.
---@class shoal.process_stats
---@field memory integer Bytes of its Lua state now; 0 when it has ended.
---@field cpu number Seconds that its turns have taken.
---@field slices integer How many turns it has had on a worker.
---@field sent integer Messages.
---@field received integer Messages, not those looked at by `get`.
---@field waiting_on string? What its body waits for, with place. Nil: it does not wait.

--- It may be sent, and be a key; a `<close>` cancels it and waits for its end.
---@class shoal.process
---@field id integer 1 for the script, 0 for a host. It is not used again.
---@field name string? Nil: it has none.
local Process = {}

--- Waits for the end. As many may join as like, as often as they like; each gets its own copy.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended Nil: by an error or a cancel, or the time is over.
---@return any ... The results; the error and its traceback; `shoal.cancelled`; or "timeout".
function Process:join(timeout) end

--- As `join`, but raises what is not a result: the error of the process (a string with its
--- traceback behind it, other values as they are), `shoal.timeout` or `shoal.cancelled`.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return any ... The results.
function Process:result(timeout) end

--- Asks the process to end. Without a timeout it returns at once; with one it waits for the end.
---@param timeout? number Seconds, also for its cleanup, which has 5 without one.
---@return true|nil asked
---@return "timeout"|nil reason
function Process:cancel(timeout) end

--- When the process ends, sends `id, status` to the channel, and for an error its value as the
--- third. The send takes no notice of limits.
---@param channel shoal.channel
---@param key shoal.key
---@return shoal.monitor
function Process:monitor(channel, key) end

--- How it is. The answer of a process that has not ended may be out of date when it is read.
---@return "ready"|"running"|"waiting"|"done"|"error"|"cancelled"
function Process:status() end

--- What it has used so far. Also while it runs, and when it has ended.
---@return shoal.process_stats
function Process:stats() end

--- What `p:monitor` returns. A `<close>` cancels it.
---@class shoal.monitor
local Monitor = {}

--- Takes the monitor back.
---@return boolean cancelled False: the message has been sent.
function Monitor:cancel() end
