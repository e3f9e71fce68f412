// SPDX-License-Identifier: MIT
// A weak table in the registry, under an address as its key: what a state knows of its own objects,
// without keeping them.
//
// Threads: the owner of the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Pushes the table of `key`, which it makes at the first call. `mode` is as in `__mode`. [-0, +1,
// m]
void PushWeakTable(lua_State* L, const void* key, const char* mode);

}  // namespace shoal::core
