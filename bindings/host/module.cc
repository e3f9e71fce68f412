// SPDX-License-Identifier: MIT
// shoal.so, the module for the stock interpreter and other programs with Lua: no Lua is linked in.
//
// It has no static destructors, and is never unloaded (-z nodelete): threads may be in its code
// when the interpreter closes the state.
#include <cstring>
#include <lua.hpp>

#include "bindings/host/configure.h"
#include "bindings/host/host.h"
#include "bindings/lua/shoal_library.h"

namespace shoal::bindings {

namespace {

// os.exit. Upvalue: the one that was there before.
int Exit(lua_State* L) {
  Host::PrepareExit(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// The only global that is replaced. [-0, +0, m]
void ReplaceExit(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, LUA_OSLIBNAME) == LUA_TTABLE &&
      lua_getfield(L, -1, "exit") == LUA_TFUNCTION) {
    if (lua_tocfunction(L, -1) != Exit) {
      lua_pushcclosure(L, Exit, 1);
      lua_setfield(L, -2, "exit");
    } else {
      lua_pop(L, 1);
    }
  }
  lua_settop(L, lua_gettop(L) - 2);
}

constexpr int kPreload = 1;
constexpr int kLoaded = 2;

// Pushes the loader of the module. [-0, +1, m]
void PushLoader(lua_State* L, const PlainModule& module) {
  if (module.load != nullptr) return lua_pushcfunction(L, module.load);
  lua_pushfstring(L, "shoal.%s", module.name);
  lua_gettable(L, kPreload);
}

// Raises if the name means something else already. The loader is on the top.
void CheckNotLoaded(lua_State* L, const PlainModule& module) {
  lua_getfield(L, kPreload, module.name);
  const bool is_ours = lua_rawequal(L, -1, -2) != 0;
  if (!is_ours && lua_getfield(L, kLoaded, module.name) != LUA_TNIL) {
    luaL_error(L, "shoal.compat: the module '%s' has been loaded already; call this before",
               module.name);
  }
  lua_pop(L, is_ours ? 1 : 2);
}

// shoal.compat(name, ...)
int Compat(lua_State* L) {
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) CheckDropIn(L, i);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_insert(L, kPreload);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_insert(L, kLoaded);
  for (int i = kLoaded + 1; i <= kLoaded + count; ++i) {
    for (const PlainModule& module : kPlainModules) {
      if (std::strcmp(module.drop_in, lua_tostring(L, i)) != 0) continue;
      PushLoader(L, module);
      CheckNotLoaded(L, module);
      lua_setfield(L, kPreload, module.name);
    }
  }
  return 0;
}

int Open(lua_State* L) {
  luaL_checkversion(L);
  Host::Of(L);
  ReplaceExit(L);
  PreloadModules(L, PlainNames::kNo);
  LoadShoal(L);
  lua_pushcfunction(L, Configure);
  lua_setfield(L, -2, "configure");
  lua_pushcfunction(L, Compat);
  lua_setfield(L, -2, "compat");
  return 1;
}

// The module of that name, which goes with "shoal".
int OpenPart(lua_State* L, const char* name) {
  luaL_requiref(L, "shoal", Open, 0);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_getfield(L, -1, name);
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  return 1;
}

}  // namespace

}  // namespace shoal::bindings

#define SHOAL_EXPORT extern "C" __attribute__((visibility("default")))

SHOAL_EXPORT int luaopen_shoal(lua_State* L) { return shoal::bindings::Open(L); }

// `require` of these finds them when nobody has required "shoal" before.
SHOAL_EXPORT int luaopen_shoal_supervisor(lua_State* L) {
  return shoal::bindings::OpenPart(L, "shoal.supervisor");
}
SHOAL_EXPORT int luaopen_shoal_lanes(lua_State* L) {
  return shoal::bindings::OpenPart(L, "shoal.lanes");
}
SHOAL_EXPORT int luaopen_shoal_luaproc(lua_State* L) {
  return shoal::bindings::OpenPart(L, "shoal.luaproc");
}
