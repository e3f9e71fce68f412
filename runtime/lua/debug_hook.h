// SPDX-License-Identifier: MIT
// debug.sethook and debug.gethook of our states: as stock to user code. While a hook of the user is
// set, it also ends slices: it counts at least every 1,000 instructions, and the user's own count
// is kept besides. The hooks of the runtime itself are not to be seen.
//
// One difference remains: if a hook has lines and a count, a slice ends in a line event, and Lua
// then counts that instruction twice, so the next count event comes an instruction early or, if
// that was the last of a period, a period late.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Sets both in the table `debug` on top of the stack. [-0, +0, m]
void OpenDebugHook(lua_State* L);

}  // namespace shoal::core
