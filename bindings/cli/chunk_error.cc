// SPDX-License-Identifier: MIT
#include "bindings/cli/chunk_error.h"

#include <cstddef>

#include "runtime/lua/state_record.h"

namespace shoal::cli {

int DescribeError(lua_State* L) {
  if (core::RecordOf(L).unwinding) return 1;
  const char* message = lua_tostring(L, 1);
  if (message == nullptr) {
    // What __tostring says is all that is printed, without a traceback.
    if (luaL_callmeta(L, 1, "__tostring") != 0 && lua_type(L, -1) == LUA_TSTRING) return 1;
    message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, message, 1);
  return 1;
}

bool Failed(lua_State* L, int status) {
  if (status == LUA_OK || status == LUA_YIELD) return false;
  if (core::RecordOf(L).unwinding) lua_error(L);
  return true;
}

std::string_view ErrorText(lua_State* L) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, -1, &size);
  return text != nullptr ? std::string_view(text, size) : "(null)";
}

}  // namespace shoal::cli
