// SPDX-License-Identifier: MIT
#include "bindings/lua/outcome.h"

namespace shoal::bindings {

namespace {

// Their addresses name the values in the registry.
const char kCancelledKey = 0;
const char kTimeoutKey = 0;

// Upvalue: the text.
int ToString(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

void PushValue(lua_State* L, const char* key, const char* text) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL) return;
  lua_pop(L, 1);
  lua_newuserdatauv(L, 0, 0);
  lua_createtable(L, 0, 2);
  lua_pushstring(L, text);
  lua_pushcclosure(L, ToString, 1);
  lua_setfield(L, -2, "__tostring");
  lua_pushstring(L, text);
  lua_setfield(L, -2, "__name");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

}  // namespace

void PushCancelled(lua_State* L) { PushValue(L, &kCancelledKey, "cancelled"); }
void PushTimeout(lua_State* L) { PushValue(L, &kTimeoutKey, "timeout"); }

}  // namespace shoal::bindings
