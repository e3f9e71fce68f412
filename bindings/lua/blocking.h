// SPDX-License-Identifier: MIT
// shoal.blocking: C code that blocks its thread, without a seat.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// (f, ...) → what f(...) returns. Errors pass. A cancel comes when f has returned.
int Blocking(lua_State* L);

}  // namespace shoal::bindings
