// SPDX-License-Identifier: MIT
// shoal.select: waits for the first of several things.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// ({case…, timeout = seconds}) → the number of the case that happened, and what its own call
// returns; nil, "timeout". A case is {channel, key}, {channel, key, send = {…}}, {process},
// {task} or {future}.
int Select(lua_State* L);

}  // namespace shoal::bindings
