// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_core.h"

#include <cmath>

#include "bindings/lua/arguments.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/task_library.h"

namespace shoal::bindings {

namespace {

int GetTime(lua_State* L) {
  lua_pushnumber(L, WallTime(L));
  return 1;
}

// socket.sleep(seconds): as shoal.sleep, but takes any number.
int SleepAnyTime(lua_State* L) {
  const double seconds = luaL_checknumber(L, 1);
  lua_settop(L, 0);
  lua_pushnumber(L, seconds > 0 ? seconds : 0);
  return Sleep(L);
}

// socket.skip(n, ...)
int Skip(lua_State* L) {
  const lua_Number count = luaL_checknumber(L, 1);
  const int rest = lua_gettop(L) - 1;
  if (!(count < rest)) return 0;
  return rest - static_cast<int>(std::fmax(count, -1));
}

int Unload(lua_State*) { return 0; }

}  // namespace

void MakeAllSocketClasses(lua_State* L) {
  MakeSocketClasses(L, kTcpClasses, std::size(kTcpClasses));
  MakeSocketClasses(L, kUdpClasses, std::size(kUdpClasses));
  MakeSocketClasses(L, kUnixStreamClasses, std::size(kUnixStreamClasses));
  MakeSocketClasses(L, kUnixDatagramClasses, std::size(kUnixDatagramClasses));
}

int LoadSocketCore(lua_State* L) {
  static const luaL_Reg kFunctions[] = {{"gettime", GetTime},
                                        {"sleep", SleepAnyTime},
                                        {"skip", Skip},
                                        {"__unload", Unload},
                                        {nullptr, nullptr}};
  luaL_newlib(L, kFunctions);
  // What programs look at is the beginning; others see that it is not LuaSocket's own.
  lua_pushliteral(L, "LuaSocket 3.1.0 (Shoal)");
  lua_setfield(L, -2, "_VERSION");
  OpenTry(L);
  OpenTcp(L);
  OpenUdp(L);
  OpenDns(L);
  OpenSelect(L);
  return 1;
}

}  // namespace shoal::bindings
