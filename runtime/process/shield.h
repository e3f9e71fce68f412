// SPDX-License-Identifier: MIT
// A shield is a call within which no cancel is raised: it stays due until the call has ended.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::core {

class Task;

// One such call: a userdata on its stack, to be closed when the call ends in whatever way, and in
// the list of its task meanwhile. A coroutine of the user that yields inside the call is not
// shielded until it is resumed, and if it is dropped, the userdata's finalizer ends the call.
struct Shield {
  Shield* next;
  Task* task;     // nullptr when it is no longer in the list
  lua_State* co;  // the coroutine of the call
};

// Calls the function at index 1 with what stands above it, and returns its results. Errors pass,
// and it may wait. Used as `return CallShielded(L)`. [-n, +m, e]
int CallShielded(lua_State* L);

}  // namespace shoal::core
