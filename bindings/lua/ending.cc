// SPDX-License-Identifier: MIT
#include "bindings/lua/ending.h"

#include "runtime/lua/codec.h"

namespace shoal::bindings {

int PushFailure(lua_State* L, Want want, std::string_view traceback) {
  if (want != Want::kResult) {
    lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushlstring(L, traceback.data(), traceback.size());
    return 3 + NumbersBefore(want);
  }
  if (lua_type(L, -1) == LUA_TSTRING && !traceback.empty()) {
    lua_pushliteral(L, "\n");
    lua_pushlstring(L, traceback.data(), traceback.size());
    lua_concat(L, 3);
  }
  return lua_error(L);
}

int PushExitError(lua_State* L, Want want, core::Exit& exit) {
  if (exit.message() == nullptr) {
    lua_pushliteral(L, "not enough memory");
  } else {
    // The id and the status stand before the value.
    core::Decode(L, *exit.message());
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  return PushFailure(L, want, exit.traceback());
}

int PushCancellation(lua_State* L, Want want) {
  if (want != Want::kResult) lua_pushnil(L);
  PushCancelled(L);
  return want == Want::kResult ? lua_error(L) : 2 + NumbersBefore(want);
}

}  // namespace shoal::bindings
