-- SPDX-License-Identifier: MIT
---@meta shoal.supervisor
-- A process that starts others, and starts them again when they end.
-- luacheck: no unused

---@class shoal.supervisor.module
local supervisor = {}

---@class shoal.supervisor_options
---@field children shoal.child[] In the order of their start; they are stopped in reverse.
--- "one_for_one", the default: who ends is started again; "one_for_all": all are stopped and
--- started.
---@field strategy? "one_for_one"|"one_for_all"
---@field max_restarts? integer More than these (default 3) within the time end the supervisor.
---@field within? number Seconds (default 5).
---@field name? string Of its process.
---@field daemon? boolean Of its process.

---@class shoal.child
---@field name string For reports; each child has its own.
---@field start (fun(...: any): ...: any)|{ file: string }
---@field args? any[] Arguments; with `n`, nil may be among them.
--- "permanent", the default: it is started again whenever it ends; "transient": when it ends by
--- an error; "temporary": never.
---@field restart? "permanent"|"transient"|"temporary"
---@field shutdown? number Seconds that it may take to end when it is stopped (default 5).
---@field opts? shoal.spawn_options

---@class shoal.child_state
---@field name string
---@field process shoal.process? Nil: it has ended.
---@field status string As `p:status()`.
---@field restarts integer

--- Starts a supervisor with its children. Raises for options that are wrong or cannot be sent.
---@param options shoal.supervisor_options
---@return shoal.supervisor
function supervisor.start(options) end

--- It may be sent; a `<close>` stops it.
---@class shoal.supervisor
---@field process shoal.process Its process. Its end, also by a cancel, stops the children.
local Supervisor = {}

--- The children, in the order in which they are started.
---@return shoal.child_state[]|nil children
---@return "closed"|nil reason
function Supervisor:which_children() end

--- Stops the children and the supervisor.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil stopped
---@return "timeout"|nil reason
function Supervisor:stop(timeout) end

--- Waits for its end. As `p:join`.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended Nil: by an error or a cancel, or the time is over.
---@return any ... The results; the error and its traceback; `shoal.cancelled`; or "timeout".
function Supervisor:join(timeout) end

return supervisor
