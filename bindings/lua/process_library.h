// SPDX-License-Identifier: MIT
// Processes in Lua: spawning them, and the methods of their handles.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// spawn.cc
int Spawn(lua_State* L);
int SpawnFile(lua_State* L);
// (options): raises what is wrong with them.
int CheckSpawnOptions(lua_State* L);

// p:stats(), in process_stats.cc
int ProcessStats(lua_State* L);

// shoal.self, shoal.process, shoal.processes, shoal.wait
int Self(lua_State* L);
int FindProcess(lua_State* L);
int Processes(lua_State* L);
int WaitForAll(lua_State* L);

// What select returns of a process that has ended, whose handle is at index 1, behind the number on
// the stack's top. May suspend.
int PushEndOfProcess(lua_State* L);

}  // namespace shoal::bindings
