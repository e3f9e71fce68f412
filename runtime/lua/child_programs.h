// SPDX-License-Identifier: MIT
// `os.execute` and `io.popen` of our states. The threads of the runtime block signals, and a child
// inherits what its parent blocks: without this, `yes | head` would never end.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>

namespace shoal::core {

// Replaces `execute` in the table `os` on top of the stack. [-0, +0, m]
void OpenExecute(lua_State* L);

// Replaces `popen` in the table `io` on top of the stack. [-0, +0, m]
void OpenPopen(lua_State* L);

}  // namespace shoal::core
