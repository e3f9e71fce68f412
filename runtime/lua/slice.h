// SPDX-License-Identifier: MIT
// How Lua code is made to give way at the end of its slice: by a count hook, which suspends the
// task with the token kSlice, through all coroutines of the user in which it is (see
// state_record.h).
//
// An armed count hook makes tight loops half as fast, whatever the count. So it is armed only when
// others wait: by a signal handler on the thread that runs the code (never by another thread: Lua
// walks the list of calls), for the next instruction; and is gone again when it has been called. A
// host without signals, and the simulator, keep it armed with a count.
//
// If the user has set a hook with debug.sethook, that one does the same (debug_hook.h). A coroutine
// with a hook of a C module is left alone.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

#include "runtime/lua/state_record.h"

namespace shoal::core {

// The slice is over: arms the hook on the coroutine that runs, unless that has a hook. In signal
// handlers too: takes no lock and no memory. A coroutine that is resumed before the hook has been
// called has to be armed as well.
void EndSlice(StateRecord& record);

// From now on the hook stays armed, in `L` and the coroutines that come from it, for every `period`
// instructions.
void KeepSliceHook(lua_State* L, int period);

// `L` gets the hook that it has when the user has set none. Pins the thread.
void ResetHook(lua_State* L);

// Whether `hook` is this one.
bool IsSliceHook(lua_Hook hook);

// For hooks on count and line events that may raise before CheckSlice: has what is asked of the
// process done if the slice is over. It may raise, but does not yield. [-0, +0, e]
void CheckRequests(lua_State* L);

// For hooks that will raise before CheckSlice: if the slice is over, the thread waits until others
// have had their turn. It may raise, but does not yield. [-0, +0, e]
void GiveWayAtSliceEnd(lua_State* L);

// For hooks on count and line events: does what is due if the slice is over. It may raise, or have
// yielded when it returns: the hook then returns at once. [-0, +0, e]
void CheckSlice(lua_State* L);

}  // namespace shoal::core
