// SPDX-License-Identifier: MIT
// Hooks that the runtime sets for a moment in place of the user's.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

#include "runtime/lua/state_record.h"

namespace shoal::core {

// Makes the coroutine raise "attempt to yield from outside a coroutine" at the next Lua instruction
// that it runs, and then have its own hook again. For a task from which a C module has yielded with
// lua_yield, which stock Lua would have refused on the main thread: pop what it yielded, call this,
// resume. Should the task run no Lua code any more, it ends as if nothing had been. Never raises.
void RaiseAtNextInstruction(lua_State* L);

// Frees what RaiseAtNextInstruction keeps. CloseState calls it.
void FreeSavedHooks(StateRecord& record);

}  // namespace shoal::core
