// SPDX-License-Identifier: MIT
#include "runtime/lua/traceback.h"

#include <cstdlib>
#include <cstring>

namespace shoal::core {
namespace {

// How luaL_traceback shows the C function in which a body or task starts.
constexpr std::string_view kEntry = "\n\t[C]: in ?";

// Pushes the error at `index` as text. [-0, +1, e]
void PushMessage(lua_State* L, int index) {
  if (lua_isstring(L, index) != 0) {
    lua_pushvalue(L, index);
    lua_tolstring(L, -1, nullptr);
    return;
  }
  if (luaL_callmeta(L, index, "__tostring") != 0) {
    if (lua_type(L, -1) == LUA_TSTRING) return;
    lua_pop(L, 1);
  }
  lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, index));
}

// Replaces the text by the two strings on top of the stack.
void Store(lua_State* L, Traceback& traceback) {
  std::size_t message_size = 0;
  std::size_t stack_size = 0;
  const char* const message = lua_tolstring(L, -2, &message_size);
  const char* const stack = lua_tolstring(L, -1, &stack_size);
  const std::string_view shown(stack, stack_size);
  if (shown.size() >= kEntry.size() && shown.substr(shown.size() - kEntry.size()) == kEntry) {
    stack_size -= kEntry.size();
  }
  const std::size_t size = message_size + 1 + stack_size;
  auto* const text = static_cast<char*>(std::malloc(size));
  if (text == nullptr) return;
  std::memcpy(text, message, message_size);
  text[message_size] = '\n';
  std::memcpy(text + message_size + 1, stack, stack_size);
  traceback = {text, message_size, size};
}

// The part that may raise: (traceback, error value).
int Describe(lua_State* L) {
  auto* const traceback = static_cast<Traceback*>(lua_touserdata(L, 1));
  PushMessage(L, 2);
  // Past this function and the handler.
  luaL_traceback(L, L, nullptr, 2);
  Store(L, *traceback);
  return 0;
}

int HandleMessage(lua_State* L) {
  auto* const traceback = static_cast<Traceback*>(lua_touserdata(L, lua_upvalueindex(1)));
  ClearTraceback(*traceback);
  lua_settop(L, 1);
  lua_pushcfunction(L, Describe);
  lua_pushlightuserdata(L, traceback);
  lua_pushvalue(L, 1);
  lua_pcall(L, 2, 0, 0);  // if it fails there is just no text
  lua_settop(L, 1);
  return 1;
}

}  // namespace

void ClearTraceback(Traceback& traceback) {
  std::free(traceback.text);
  traceback = Traceback();
}

void PushTracebackHandler(lua_State* L, Traceback* traceback) {
  lua_pushlightuserdata(L, traceback);
  lua_pushcclosure(L, HandleMessage, 1);
}

}  // namespace shoal::core
