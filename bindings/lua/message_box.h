// SPDX-License-Identifier: MIT
// A message box is a userdata that owns messages while Lua calls run that may raise.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/message/message.h"

namespace shoal::bindings {

// Pushes an empty box. Its list lives as long as the userdata. [-0, +1, m]
core::MessageList& PushMessageBox(lua_State* L);

}  // namespace shoal::bindings
