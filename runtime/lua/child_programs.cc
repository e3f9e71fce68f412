// SPDX-License-Identifier: MIT
#include "runtime/lua/child_programs.h"

#include <csignal>
#include <cstring>

namespace shoal::core {

namespace {

constexpr int kStock = lua_upvalueindex(1);

// Calls the stock function with all arguments while this thread blocks no signal.
int CallUnblocked(lua_State* L) {
  lua_pushvalue(L, kStock);
  lua_insert(L, 1);
  sigset_t none;
  sigset_t before;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &before);
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

// The arguments are checked here: an error in the stock function could not name ours.
int Execute(lua_State* L) {
  luaL_optstring(L, 1, nullptr);
  return CallUnblocked(L);
}

int Popen(lua_State* L) {
  luaL_checkstring(L, 1);
  const char* mode = luaL_optstring(L, 2, "r");
  luaL_argcheck(L, std::strcmp(mode, "r") == 0 || std::strcmp(mode, "w") == 0, 2, "invalid mode");
  return CallUnblocked(L);
}

void Wrap(lua_State* L, const char* name, lua_CFunction wrapper) {
  if (lua_getfield(L, -1, name) == LUA_TFUNCTION) {
    lua_pushcclosure(L, wrapper, 1);
    lua_setfield(L, -2, name);
  } else {
    lua_pop(L, 1);
  }
}

}  // namespace

void OpenExecute(lua_State* L) { Wrap(L, "execute", Execute); }
void OpenPopen(lua_State* L) { Wrap(L, "popen", Popen); }

}  // namespace shoal::core
