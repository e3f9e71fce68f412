// SPDX-License-Identifier: MIT
// Memory outside of a state that its values keep: the bytes of buffers. It counts as the state's
// own, for its limit and for what others see of it; and the collector, which knows nothing of it,
// is called when it has grown as a heap would have.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <lua.hpp>

namespace shoal::core {

// A value keeps `bytes` from now on, until DropOutsideMemory. Collects garbage in good time, so any
// finalizer may run. Raises "not enough memory" beyond the limit of the state; then they are not
// counted. [-0, +0, m]
void AddOutsideMemory(lua_State* L, std::size_t bytes);

// In the finalizer of such a value, too. [-0, +0, -]
void DropOutsideMemory(lua_State* L, std::size_t bytes);

}  // namespace shoal::core
