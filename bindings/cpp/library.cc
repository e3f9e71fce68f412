// SPDX-License-Identifier: MIT
#include "bindings/cpp/library.h"

namespace shoal::embed {

namespace {

// os.exit: the program is not the script's to end.
int RefuseExit(lua_State* L) {
  return luaL_error(L, "os.exit: this process is part of a program that it cannot end");
}

}  // namespace

void Library::Open(lua_State* L, core::LibrarySet libraries) const {
  ShoalLibrary::Open(L, libraries);
  if ((libraries & core::kLibOs) != 0) {
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_pushcfunction(L, RefuseExit);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
  }
}

void Library::Add(lua_State* L) const { modules_.Open(L); }

}  // namespace shoal::embed
