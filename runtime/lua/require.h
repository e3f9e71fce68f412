// SPDX-License-Identifier: MIT
// `require` of our states: as stock to user code, but the body of a module (and a searcher) may
// wait, and a task that requires what another task of the process is loading waits for it. Files
// that another process has loaded come from the CodeCache.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Sets the global `require`; the table `package` is on top of the stack. [-0, +0, m]
void OpenRequire(lua_State* L);

// Sets the global `require` for states without `package`: it finds what is loaded and what stands
// in the registry's preload table (LUA_PRELOAD_TABLE). [-0, +0, m]
void OpenRequireOfPreloaded(lua_State* L);

// True if a call of `require` in the coroutine `co` runs a searcher or a module. User code cannot
// yield there in stock Lua.
bool IsLoadingModule(lua_State* co);

// A coroutine has died by an error: loads in it will never end. Wakes those who wait for them.
void LoadsMayHaveFailed(lua_State* L);

}  // namespace shoal::core
