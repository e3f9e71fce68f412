// SPDX-License-Identifier: MIT
// The message handler under which bodies of processes and tasks run: it leaves the error value as
// it was thrown and puts down the traceback beside it.
//
// Threads: the one that runs the state. The text may go to any thread.
//
//   Traceback traceback;
//   PushTracebackHandler(L, &traceback);
//   lua_insert(L, 1);
//   lua_pcallk(L, count, LUA_MULTRET, 1, context, Continue);
#pragma once

#include <cstddef>
#include <lua.hpp>
#include <string_view>

namespace shoal::core {

// What the handler found out about the latest error: two pieces in one allocation. Plain data, so
// that it may live in the frame of a C function of Lua, or be copied over to another owner.
struct Traceback {
  char* text = nullptr;  // from malloc; nullptr if there was no error, or no memory to tell
  std::size_t message_size = 0;
  std::size_t size = 0;

  // The error as the program `lua` would print it: a string or number as it is, the result of
  // __tostring, or "(error object is a table value)".
  [[nodiscard]] std::string_view message() const { return {text, message_size}; }
  // "stack traceback:\n\t…" without the C entry at its end.
  [[nodiscard]] std::string_view stack() const {
    return text == nullptr ? std::string_view()
                           : std::string_view(text + message_size + 1, size - message_size - 1);
  }
  // Both, with a newline in between.
  [[nodiscard]] std::string_view whole() const { return {text, size}; }
};

// Frees the text.
void ClearTraceback(Traceback& traceback);

// Pushes a message handler that writes to `traceback` (replacing what is there), which stays in
// place as long as the handler may be called. The handler never raises. [-0, +1, m]
void PushTracebackHandler(lua_State* L, Traceback* traceback);

}  // namespace shoal::core
