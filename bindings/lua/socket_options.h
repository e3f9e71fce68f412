// SPDX-License-Identifier: MIT
// socket:getoption(name) and socket:setoption(name, value).
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "bindings/lua/socket_object.h"

namespace shoal::bindings {

int GetTcpOption(lua_State* L, Socket& socket);
int SetTcpOption(lua_State* L, Socket& socket);
int GetUdpOption(lua_State* L, Socket& socket);
int SetUdpOption(lua_State* L, Socket& socket);
int SetUnixOption(lua_State* L, Socket& socket);

}  // namespace shoal::bindings
