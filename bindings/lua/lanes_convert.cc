// SPDX-License-Identifier: MIT
#include "bindings/lua/lanes_convert.h"

#include <string_view>

#include "bindings/lua/lanes_core.h"

namespace shoal::bindings {

namespace {

constexpr char kConvert[] = "__lanesconvert";
constexpr char kClone[] = "__lanesclone";

// The addresses name these strings in the registry: there they need no memory.
const char kConvertKey = 0;
const char kCloneKey = 0;

// Pushes the field of argument 1's metatable. [-0, +1, m]
int PushField(lua_State* L, const char* name) {
  if (lua_getmetatable(L, 1) == 0) return luaL_error(L, "the metatable has been taken away");
  lua_pushstring(L, name);
  const int type = lua_rawget(L, -2);
  lua_remove(L, -2);
  return type;
}

// Raises if the value on the top would be converted, too. [-0, +0, e]
void CheckConverted(lua_State* L) {
  if (lua_type(L, -1) != LUA_TTABLE || lua_getmetatable(L, -1) == 0) return;
  lua_pushstring(L, kConvert);
  if (lua_rawget(L, -2) != LUA_TNIL) {
    luaL_error(L, "%s returned a table that is itself to be converted", kConvert);
  }
  lua_pop(L, 2);
}

// As a __transfer: (table) → value, loader.
int Convert(lua_State* L) {
  const int type = PushField(L, kConvert);
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 1);
    lua_pushliteral(L, "regular");
    lua_call(L, 2, 1);
    CheckConverted(L);
  } else if (type == LUA_TSTRING && std::string_view(lua_tostring(L, -1)) == "decay") {
    lua_pushlightuserdata(L, const_cast<void*>(lua_topointer(L, 1)));
  } else if (type != LUA_TLIGHTUSERDATA) {
    return luaL_error(L, "%s must be a function, lanes.null or 'decay', not a %s", kConvert,
                      luaL_typename(L, -1));
  }
  if (lua_touserdata(L, -1) == LanesNull()) lua_pushnil(L);
  lua_pushliteral(L, "shoal.lanes.core:same");
  return 2;
}

int Clone(lua_State* L) {
  if (PushField(L, kClone) != LUA_TFUNCTION) {
    return luaL_error(L, "%s must be a function, not a %s", kClone, luaL_typename(L, -1));
  }
  lua_createtable(L, 2, 0);
  lua_insert(L, -2);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -4, 1);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 0);
  lua_getmetatable(L, 1);
  lua_rawseti(L, -2, 2);
  lua_pushliteral(L, "shoal.lanes.core:adopt");
  return 2;
}

// The metatable is on the top: whether it has the field whose name stands under `key`.
bool HasField(lua_State* L, const char* key) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL) lua_rawget(L, -2);
  const bool has = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return has;
}

}  // namespace

void EnableConversion(lua_State* L) {
  lua_pushstring(L, kConvert);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kConvertKey);
  lua_pushstring(L, kClone);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kCloneKey);
}

bool PushConversion(lua_State* L) {
  lua_CFunction conversion = nullptr;
  if (HasField(L, &kConvertKey)) {
    conversion = Convert;
  } else if (HasField(L, &kCloneKey)) {
    conversion = Clone;
  }
  if (conversion == nullptr) return false;
  lua_pushcfunction(L, conversion);
  return true;
}

int Same(lua_State* L) {
  lua_settop(L, 1);
  return 1;
}

int Adopt(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_rawgeti(L, 1, 1);
  lua_rawgeti(L, 1, 2);
  luaL_checktype(L, -2, LUA_TTABLE);
  luaL_checktype(L, -1, LUA_TTABLE);
  lua_setmetatable(L, -2);
  return 1;
}

}  // namespace shoal::bindings
