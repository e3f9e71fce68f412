-- SPDX-License-Identifier: MIT
---@meta lanes
-- Lanes on processes and channels of Shoal, with the results of Lanes 4. It answers to
-- "shoal.lanes" as well. Times are seconds. What is for the interface of 3.x alone, see
-- lanes.configure, says so.
-- luacheck: no unused
-- luacheck: globals cancel_test set_finalizer lane_threadname
-- luacheck: globals set_debug_threadname set_error_reporting

--- What is returned in the place of results by who was cancelled.
---@class lanes.cancel_error

---@class lanes.about
---@field author string
---@field description string
---@field license string
---@field version string

---@class lanes
---@field cancel_error lanes.cancel_error
---@field null lightuserdata Arrives as nil. Not in 3.x.
---@field ABOUT lanes.about
local lanes = {}

--- Settings that are not here are about keepers, allocators and conversions: they are checked,
--- and have no effect.
---@class lanes.settings
---@field api? 3|4 Whose results calls return. Default: 4; or 3, if SHOAL_LANES_API is "3".
---@field shutdown_timeout? number Seconds that lanes have to end at the end (default 0.25).
---@field track_lanes? boolean `lanes.threads` may be called.
---@field with_timers? boolean `lanes.timer` may be called. Default: false; in 3.x true.
---@field verbose_errors? boolean Errors say where the value stands that cannot be sent.
---@field on_state_create? fun(kind: "lane") Called in each lane before its body.
---@field allocator? any
---@field convert_fallback? any
---@field convert_max_attempts? integer
---@field demote_full_userdata? boolean
---@field internal_allocator? "allocator"|"libc"
---@field keepers_gc_threshold? number
---@field linda_wake_period? number|"never"
---@field nb_keepers? integer
---@field nb_user_keepers? integer
---@field protect_allocator? boolean
---@field shutdown_mode? any
---@field strip_functions? boolean

--- The first call counts; before any other use. Raises for settings that are unknown or wrong.
---@param given? lanes.settings
---@return lanes
function lanes.configure(given) end

-- Lanes -------------------------------------------------------------------------------------------

---@class lanes.gen_options
---@field name? string "auto": its file and line.
---@field globals? table Globals of the lane, which are copied.
---@field required? string[] Modules that it requires first.
---@field public package? table Fields of its `package`.
--- Called when the handle has been collected, with the name of the lane.
---@field gc_cb? fun(name: string, status: "closed"|"selfdestruct")
---@field error_trace_level? "minimal"|"basic"|"extended" Default: "minimal", no trace.
---@field priority? integer From -3 to 3. Without effect.
---@field native_priority? integer Without effect.

--- Makes a function that starts lanes: each call runs the body in a new one, with the arguments
--- of the call. Libraries are names such as "base,table,io?", or "*": all; without them there
--- are none. The body is a function or source, and comes last. Raises for what is wrong or
--- cannot be sent.
---@overload fun(body: function|string): fun(...: any): lanes.lane
---@overload fun(libraries: string, body: function|string): fun(...: any): lanes.lane
---@overload fun(options: lanes.gen_options, body: function|string): fun(...: any): lanes.lane
---@param libraries string
---@param options lanes.gen_options
---@param body function|string
---@return fun(...: any): lanes.lane
function lanes.gen(libraries, options, body) end

---@alias lanes.status
---| "pending"
---| "running"
---| "waiting"
---| "done"
---| "error"
---| "cancelled"

--- `h[n]` waits for the end and returns the n-th result; it raises the error of the lane. `h[0]`
--- is how many results there are, `h[-1]` the error. It cannot be sent; a `<close>` waits for
--- the end.
---@class lanes.lane
---@field [integer] any
---@field status lanes.status
---@field error_trace_level "minimal"|"basic"|"extended" Not in 3.x.
local Lane = {}

--- Waits for the end. Raises if the results cannot be sent.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended Nil: by an error or a cancel, or the time is over. Not in 3.x.
---@return any ... The results; the error, and its trace; `lanes.cancel_error`; or "timeout".
function Lane:join(timeout) end

--- Asks the lane to end, and waits for that. "soft" is told by `cancel_test`, and with `wake`
--- ends waits of lindas; "hard", the default, is raised in the lane, and nothing catches it.
--- Hooks, with a count or without, are as "hard".
---@overload fun(self: lanes.lane, timeout?: number): boolean, lanes.status|"timeout"
---@overload fun(self: lanes.lane, mode: string, count: integer, timeout?: number, wake?: boolean)
---@param mode? "soft"|"hard"|"call"|"ret"|"line"|"count"|"all"
---@param timeout? number Seconds; nil waits for ever (in 3.x not at all), 0 does not wait.
---@param wake? boolean
---@return boolean ended
---@return lanes.status|"timeout" status
function Lane:cancel(mode, timeout, wake) end

--- The name of the lane.
---@return string
function Lane:get_threadname() end

--- The same, by its name in 3.x.
---@return string
function Lane:get_debug_threadname() end

--- All lanes that live. Raises without the setting `track_lanes`.
---@return { name: string, status: string }[]
function lanes.threads() end

--- `f` is called when the state of who configured lanes is closed, with whether all lanes have
--- ended. For that one alone; others get an error.
---@param f? fun(ended: boolean)
function lanes.finally(f) end

-- In a lane, there are these globals.

--- Whether the lane has been asked to end. A hard cancel is raised here, as everywhere.
---@return false|"soft"
function cancel_test() end

--- `f` is called when the lane ends, the one that was set last first: without arguments, or with
--- the error and its trace.
---@param f fun(err: any, trace: any)
function set_finalizer(f) end

--- The name of the lane, which is set if one is given. Not in 3.x.
---@param name? string
---@return string|nil
function lane_threadname(name) end

--- The same in 3.x.
---@param name? string
---@return string|nil
function set_debug_threadname(name) end

--- In 3.x: checks its argument, and does nothing.
---@param mode "basic"|"extended"
function set_error_reporting(mode) end

-- Lindas ------------------------------------------------------------------------------------------

--- A new linda.
---@param options? string|lanes.linda_options A name, or options.
---@param group? integer Without effect.
---@return lanes.linda
function lanes.linda(options, group) end

-- The clock ---------------------------------------------------------------------------------------

--- Waits for a time.
---@param seconds? number|"indefinitely" Nil: for ever; in 3.x not at all.
---@return nil
---@return "timeout"|lanes.cancel_error reason
function lanes.sleep(seconds) end

--- The time of the system.
---@return number seconds
function lanes.now_secs() end

--- Sets the time under a key of a linda, once or again and again. Without a first beat, or with
--- 0 and no period, clears the timer. Raises without the setting `with_timers`.
---@param linda lanes.linda
---@param key lanes.key
---@param first? number|osdateparam Seconds from now; or a date, as of `os.time`.
---@param period? number Seconds.
function lanes.timer(linda, key, first, period) end

--- All timers: lists of a linda, a key, and a list of the first beat and the period in seconds.
---@return { [1]: lanes.linda, [2]: lanes.key, [3]: number[] }[]
function lanes.timers() end

-- Locks -------------------------------------------------------------------------------------------

--- Makes a lock for `n` at a time, which stands under the key. `lock(m)` waits for m of the n,
--- or returns false with "try" if they are not free; `lock(-m)` gives them back.
---@param linda lanes.linda
---@param key lanes.key
---@param n? integer Default: 1.
---@return fun(m: integer, mode?: "try"): boolean|nil, string? lock
function lanes.genlock(linda, key, n) end

--- Makes a counter, which stands under the key. `add(diff)` adds in one piece (default 1.0), and
--- returns the sum.
---@param linda lanes.linda
---@param key lanes.key
---@param init? number Default: 0.0.
---@return fun(diff?: number): number add
function lanes.genatomic(linda, key, init) end

-- Names -------------------------------------------------------------------------------------------

--- What a value is called, if it is found in the globals.
---@param value any
---@return string type
---@return string? name
function lanes.nameof(value) end

--- The value travels by this name to lanes in which it is registered, too. What a module holds
--- needs none.
---@param name string
---@param value table|function
function lanes.register(name, value) end

--- As `require`.
---@param name string
---@return any
function lanes.require(name) end

-- Without effect ----------------------------------------------------------------------------------

--- Without effect.
function lanes.collectgarbage() end

--- Without effect.
function lanes.set_singlethreaded() end

--- Without effect.
---@param priority integer
---@param kind? "native"
function lanes.set_thread_priority(priority, kind) end

--- Without effect.
---@param mask integer
function lanes.set_thread_affinity(mask) end

--- From -3 to 3.
---@return integer least
---@return integer most
function lanes.thread_priority_range() end

return lanes
