// SPDX-License-Identifier: MIT
// Calls of one process by another in Lua, as the caller sees them: futures. A future is a handle,
// with join, result, cancel and status. The other side is in answer_library.h.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "bindings/lua/ending.h"
#include "runtime/process/call.h"

namespace shoal::bindings {

// Pushes the future of a new call, whose arguments are the values from `first` to the top. [-0, +1,
// e]
void PushNewCall(lua_State* L, int first);
// (channel, timeout, key, future): sends the answer of the call there, as send_for does.
int SendCall(lua_State* L);
// Waits for the end of the call whose future is at index 1, until the deadline in nanoseconds at
// index 2; what `want` makes of that. The call is cancelled if it is not waited for to its end.
// Used as `return AwaitCall(…)`.
int AwaitCall(lua_State* L, Want want);

// What select returns, as PushEndOfProcess does.
int PushEndOfCall(lua_State* L);

// For the Lua files that are built in:
// (f, ...) → a future
int NewCall(lua_State* L);
// (future, channel, key, number): when it ends, the number is sent there.
int WatchCall(lua_State* L);

}  // namespace shoal::bindings
