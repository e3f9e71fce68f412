// SPDX-License-Identifier: MIT
// What a value by name is in this state: found in the loaded modules, or a stand-in.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>
#include <string_view>

#include "runtime/lua/wire_bytes.h"

namespace shoal::core {

// Reads the name behind a kModule and pushes its value; false if the name is malformed.
// [-0, +1, m]
bool PushModuleValue(lua_State* L, WireReader& reader);

// True if `module` is loaded, or is known to fail. [-0, +0, m]
bool IsModuleSettled(lua_State* L, std::string_view module);

// Remembers that `module` failed, with the error value on top of the stack as the reason, until
// ForgetModuleFailures. [-1, +0, m]
void RememberModuleFailure(lua_State* L, std::string_view module);
// [-0, +0, -]
void ForgetModuleFailures(lua_State* L);

// Calls the function below its `arguments` on top of the stack; its result takes their places. It
// may not wait. If it raises, the result is a stand-in with the reason, which starts with `what`;
// but lack of memory and a cancellation are passed on. [-(arguments + 1), +1, m]
void CallForValue(lua_State* L, int arguments, std::string_view wire, const char* what);

}  // namespace shoal::core
