// SPDX-License-Identifier: MIT
// The library `coroutine` of our states: as stock to user code, and waits pass through it.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Replaces resume, wrap, yield, close, status, running and isyieldable in the table `coroutine`
// that stands on the stack's top (create stays stock). [-0, +0, m]
void OpenCoroutine(lua_State* L);

}  // namespace shoal::core
