// SPDX-License-Identifier: MIT
// The values `shoal.cancelled` and `shoal.timeout`: unique in each state, and the same in all for
// those who compare. They travel as fields of the module.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

void PushCancelled(lua_State* L);  // [-0, +1, m]
void PushTimeout(lua_State* L);    // [-0, +1, m]

}  // namespace shoal::bindings
