// SPDX-License-Identifier: MIT
// socket.newtry and socket.protect: errors that a protected function returns as nil and a value.
#include "bindings/lua/socket_core.h"
#include "runtime/lua/state_record.h"

namespace shoal::bindings {

namespace {

// The private metatable of what `try` raises: upvalue 1 of all functions here.
constexpr int kMetatable = lua_upvalueindex(1);
constexpr int kFunction = lua_upvalueindex(2);

int RaiseWrapped(lua_State* L, int, lua_KContext) {
  lua_settop(L, 2);
  lua_createtable(L, 1, 0);
  lua_insert(L, 2);
  lua_rawseti(L, 2, 1);
  lua_pushvalue(L, kMetatable);
  lua_setmetatable(L, 2);
  return lua_error(L);
}

// try(...): all its arguments, if the first is true; else calls the finalizer and raises the
// second.
int Try(lua_State* L) {
  if (lua_toboolean(L, 1) != 0) return lua_gettop(L);
  lua_settop(L, 2);
  if (lua_isnil(L, kFunction)) return RaiseWrapped(L, LUA_OK, 0);
  lua_pushvalue(L, kFunction);
  lua_callk(L, 0, 0, 0, RaiseWrapped);
  return RaiseWrapped(L, LUA_OK, 0);
}

// newtry([finalizer])
int NewTry(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, kMetatable);
  lua_insert(L, 1);
  lua_pushcclosure(L, Try, 2);
  return 1;
}

// The context is how often `cancelled` had been raised in the task when the call began: what has
// come since is not caught.
int ProtectedDone(lua_State* L, int status, lua_KContext unwinding) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L);
  const bool is_ending = static_cast<lua_KContext>(core::RecordOf(L).unwinding) != unwinding;
  if (is_ending || lua_type(L, -1) != LUA_TTABLE || lua_getmetatable(L, -1) == 0) {
    return lua_error(L);
  }
  const bool is_wrapped = lua_rawequal(L, -1, kMetatable) != 0;
  lua_pop(L, 1);
  if (!is_wrapped) return lua_error(L);
  lua_pushnil(L);
  lua_rawgeti(L, -2, 1);
  return 2;
}

int Protected(lua_State* L) {
  lua_pushvalue(L, kFunction);
  lua_insert(L, 1);
  const auto unwinding = static_cast<lua_KContext>(core::RecordOf(L).unwinding);
  const int status = lua_pcallk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, unwinding, ProtectedDone);
  return ProtectedDone(L, status, unwinding);
}

// protect(f)
int Protect(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, kMetatable);
  lua_insert(L, 1);
  lua_pushcclosure(L, Protected, 2);
  return 1;
}

}  // namespace

void OpenTry(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"newtry", NewTry}, {"protect", Protect}, {nullptr, nullptr}};
  lua_createtable(L, 0, 1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  luaL_setfuncs(L, kFunctions, 1);
}

}  // namespace shoal::bindings
