-- SPDX-License-Identifier: MIT
---@meta _
-- Tasks, and groups of tasks and processes. See shoal.task, shoal.group.
-- luacheck: no unused

--- A coroutine of its process that may wait. It cannot be sent; a `<close>` cancels it and waits
--- for its end.
---@class shoal.task
local Task = {}

--- Waits for the end. The values are not copied.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended Nil: by an error or a cancel, or the time is over.
---@return any ... The results; the error and its traceback; `shoal.cancelled`; or "timeout".
function Task:join(timeout) end

--- As `join`, but raises what is not a result: the error of the task (a string with its
--- traceback behind it, other values as they are), `shoal.timeout` or `shoal.cancelled`.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return any ... The results.
function Task:result(timeout) end

--- Asks the task to end. Without a timeout it returns at once; with one it waits for the end.
---@param timeout? number Seconds, also for its cleanup, which has 5 without one.
---@return true|nil asked
---@return "timeout"|nil reason
function Task:cancel(timeout) end

--- How it is.
---@return "ready"|"running"|"waiting"|"done"|"error"|"cancelled"
function Task:status() end

--- A scope for processes and tasks that belong together. Where the scope of a `<close>` variable
--- is left, the members that are left are cancelled, and their end waited for; the error of one
--- is raised.
---@class shoal.group
local Group = {}

--- Starts a process that is a member. As `shoal.spawn`.
---@overload fun(self: shoal.group, body: shoal.body, ...: any): shoal.process
---@param options shoal.spawn_options
---@param body shoal.body
---@param ... any The arguments of the body.
---@return shoal.process
function Group:spawn(options, body, ...) end

--- Starts a task that is a member. As `shoal.task`.
---@param f fun(...: any): ...: any
---@param ... any The arguments of `f`.
---@return shoal.task
function Group:task(f, ...) end

--- Waits until all members have ended. The first error of one cancels the others; when they have
--- ended, it is raised. One task at a time may join.
---@param timeout? number Seconds; nil waits for ever, 0 does not wait.
---@return true|nil ended
---@return "timeout"|nil reason
function Group:join(timeout) end
