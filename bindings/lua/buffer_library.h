// SPDX-License-Identifier: MIT
// shoal.buffer, and the methods of buffers: immutable bytes that processes share. A buffer in a
// message is a reference; who receives it has the same bytes.
//
// Their bytes count as memory of each state that has a handle (runtime/lua/outside_memory.h). A
// slice that is made in a state keeps the handle of the whole there, and counts for nothing.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/message/buffer.h"

namespace shoal::bindings {

// shoal.buffer(string | buffer | list of strings and buffers)
int NewBuffer(lua_State* L);

// The buffer of the handle at `index`, or nullptr. Not counted.
core::Buffer* ToBuffer(lua_State* L, int index);
// Pushes the handle of a buffer, the same value while there is one in the state. Raises beyond the
// memory limit. [-0, +1, m]
void PushBuffer(lua_State* L, core::Buffer& buffer);

}  // namespace shoal::bindings
