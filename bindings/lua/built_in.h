// SPDX-License-Identifier: MIT
// The Lua files of this folder are built into the library: policy on top of what is written in C++.
//
// A chunk gets one argument, the table of what it is made of: the libraries math, string and table,
// which the process may lack (with them, strings have no methods); the functions of `shoal` that it
// calls (as they were made, whatever scripts do to the module), and what is for these files alone:
// see monitor_library.h, call_library.h, pool_library.h. Its name in tracebacks is "[shoal.NAME]".
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

struct BuiltIn {
  const char* name;  // of the file, without ".lua"; nullptr in the last
  const char* source;
};
extern const BuiltIn kBuiltIns[];  // made from the files by BUILD

// A module in the place of another one: it answers to its own name, and to that of the other.
// However often it is loaded, it is one in each state.
struct DropIn {
  const char* name;
  const char* plain_name;  // nullptr: a part of one
  const char* chunk;       // the BuiltIn
};
inline constexpr DropIn kDropIns[] = {{"shoal.lanes", "lanes", "lanes"},
                                      {"shoal.luaproc", "luaproc", "luaproc"},
                                      {"shoal.luaproc.core", nullptr, "luaproc_core"}};
// Sets their loaders in the table on the top: package.preload. In a host, plain names are what
// other libraries have. [-0, +0, m]
enum class PlainNames : bool { kNo, kYes };
void PreloadDropIns(lua_State* L, PlainNames plain);

// shoal.group: runs group.lua at its first call.
int NewGroup(lua_State* L);
// The loader of `require "shoal.supervisor"`.
int LoadSupervisor(lua_State* L);
// Calls a function of the table that a chunk returns, with all that is on the stack, and returns
// its results. The chunk runs at the first such call in the state. The function may wait; in its
// errors level 1 is itself, 2 the C function that called this, 3 the caller. [-n, +m, e]
int CallBuiltIn(lua_State* L, const char* chunk, const char* function);

}  // namespace shoal::bindings
