// SPDX-License-Identifier: MIT
// `pcall` and `xpcall` of our states: as stock, but while the running task is being cancelled they
// pass every error on, so that no script can swallow its cancellation.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Sets pcall and xpcall in the table on top of the stack. [-0, +0, m]
void OpenProtectedCall(lua_State* L);

// Raises unless the argument can be called: a function, or what has `__call`. [-0, +0, v]
void CheckCallable(lua_State* L, int arg);

}  // namespace shoal::core
