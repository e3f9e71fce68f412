// SPDX-License-Identifier: MIT
// What the program does with an error that leaves a chunk: the same as the stock interpreter.
//
// Threads: the owner of the process.
//
//   lua_pushcfunction(L, DescribeError);
//   …the chunk…
//   ChunkDone(L, lua_pcallk(L, 0, 0, -2, context, ChunkDone), context);
//
//   int ChunkDone(lua_State* L, int status, lua_KContext context) {
//     if (Failed(L, status)) …ErrorText(L)…
#pragma once

#include <lua.hpp>
#include <string_view>

namespace shoal::cli {

// The message handler: makes the text that is printed of the error value. [-0, +1, e]
int DescribeError(lua_State* L);

// Whether a protected call has ended with that error, which is on top of the stack. Passes it on if
// it ends the process because that is being cancelled. [-0, +0, v]
[[nodiscard]] bool Failed(lua_State* L, int status);

// The text on top of the stack; valid as long as it stands there. [-0, +0, -]
[[nodiscard]] std::string_view ErrorText(lua_State* L);

}  // namespace shoal::cli
