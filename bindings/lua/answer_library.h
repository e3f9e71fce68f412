// SPDX-License-Identifier: MIT
// Calls of one process by another in Lua, as the one that is called sees them: answers. An answer
// is a userdata, for the Lua files that are built in alone:
//
//   answer:begin() → what is called, arguments… (nothing, if the call has been cancelled)
//   answer:finish(results...) → true · nil, why they cannot travel (then it is not answered)
//   answer:fail(error [, traceback])
//   answer:close()     as if it had never been taken: "closed"
//   <close>            if it has not been answered: a cancelled call ends; another one goes the way
//                      of its process
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/process/call.h"

namespace shoal::bindings {

// Pushes an answer that has come to this process. [-0, +1, m]
void PushAnswer(lua_State* L, core::Answer& answer);

// For the Lua files that are built in:
// () → a message handler for xpcall, and a function that returns the traceback it has taken
int NewTracer(lua_State* L);
// (value, name): raises if it cannot travel.
int CheckTravels(lua_State* L);

}  // namespace shoal::bindings
