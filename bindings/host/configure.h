// SPDX-License-Identifier: MIT
// shoal.configure, in a host: what the options of the program are there.
//
// Threads: the host.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// configure{ workers=, limit=, queue_memory=, log=, shutdown_timeout=, signal= }: before the first
// use. If it raises, nothing has been set.
int Configure(lua_State* L);

}  // namespace shoal::bindings
