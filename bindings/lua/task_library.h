// SPDX-License-Identifier: MIT
// Tasks in Lua: coroutines of the runtime inside a process.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// shoal.task, shoal.shield, shoal.sleep, shoal.yield, shoal.now
int NewTask(lua_State* L);
int Shield(lua_State* L);
int Sleep(lua_State* L);
int Yield(lua_State* L);
int Now(lua_State* L);

// As PushEndOfProcess, for the task at index 1.
int PushEndOfTask(lua_State* L);

}  // namespace shoal::bindings
