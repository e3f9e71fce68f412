// SPDX-License-Identifier: MIT
// How a C function of a binding waits. Every waiting function has this form:
//
//   int Receive(lua_State* L) {              // also called again after a yield of the turn
//     …arguments…                            // misuse raises
//     if (BeforeWait(L)) return YieldTurn(L, ReceiveAgain);   // cancel; the turn is over
//     if (…it can be had at once…) return results;
//     Task& task = BeginWait(L, WaitReason::kReceive, Describe);
//     …publish task.Nodes(n)…
//     ArmDeadline(task, deadline);
//     return Suspend(L, 0, ReceiveDone);
//   }
//   int ReceiveDone(lua_State* L, int, lua_KContext) {        // the same stack as before
//     switch (EndWait(L)) { … }              // raises when cancelled, or in a deadlock
//   }
//
// Errors and yields of Lua are longjmp: no object with a destructor may be alive in these frames.
//
// Threads: the owner of the process.
#pragma once

#include <cstdint>
#include <lua.hpp>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/process/task.h"
#include "runtime/wait/wait_reason.h"

namespace shoal::core {

// Raises if the task is being cancelled, or interrupted. True if the process has had its turn: then
// the function returns YieldTurn(L, again), and `again` calls it anew with the same arguments. [-0,
// +0, e]
[[nodiscard]] bool BeforeWait(lua_State* L);
// For functions that never wait: the same task goes on after the turn of the others, and a cancel
// is raised only when the turn is over. [-0, +0, e]
[[nodiscard]] bool BeforeCall(lua_State* L);
int YieldTurn(lua_State* L, lua_KFunction again);  // after BeforeWait; also `shoal.yield`
int YieldTurn(lua_State* L, lua_KContext context, lua_KFunction again);
int YieldSlice(lua_State* L, lua_KFunction again);  // after BeforeCall

// Opens the waiter of the running task. `describe` may be nullptr.
Task& BeginWait(lua_State* L, WaitReason reason, DescribeWait describe);
// Ends the wait without a suspension: nothing was published, or all has been withdrawn.
void DropWait(lua_State* L);
// The waiter completes with kTimeout at `deadline` (kNever: does nothing).
void ArmDeadline(lua_State* L, TimePoint deadline);
// Suspends the task until its waiter has completed, then calls k(L, LUA_YIELD, context) with the
// stack as it is. Where Lua cannot yield, the thread gives up its seat and runs the process' other
// tasks meanwhile. Used as `return Suspend(…)`. [-0, +0, e]
int Suspend(lua_State* L, lua_KContext context, lua_KFunction k);
// In the continuation: withdraws what is still published and returns the outcome. Raises
// `shoal.cancelled`, or the report of a deadlock. [-0, +0, e]
Status EndWait(lua_State* L);
// The same without raising: for functions that must clean up first. Then RaiseOutcome.
Status TakeOutcome(lua_State* L);
// Raises if `status` is kCancelled or kDeadlock. [-0, +0, e]
void RaiseOutcome(lua_State* L, Status status);

}  // namespace shoal::core
