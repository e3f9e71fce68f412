// SPDX-License-Identifier: MIT
// `print` and `io.write` of our states: as stock, but each call goes out in one piece, whatever
// other threads write at the same time.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Sets `print` in the table on top of the stack. [-0, +0, m]
void OpenPrint(lua_State* L);

// Sets `write` in the table `io` on top of the stack. [-0, +0, m]
void OpenWrite(lua_State* L);

}  // namespace shoal::core
