// SPDX-License-Identifier: MIT
// What string.unpack does, for bytes that are no Lua string.
//
// Threads: the owner of the state.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace shoal::bindings {

// Called with a format at index 2 and, maybe, a position at index 3: pushes the values that `bytes`
// hold there, and the position behind them. Formats, results and errors are those of string.unpack.
// [-0, +n, v]
int Unpack(lua_State* L, std::string_view bytes);

}  // namespace shoal::bindings
