// SPDX-License-Identifier: MIT
// shoal.after and shoal.every: messages that are sent later.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// (seconds, channel, key, ...) → a handle with cancel()
int After(lua_State* L);
int Every(lua_State* L);

}  // namespace shoal::bindings
