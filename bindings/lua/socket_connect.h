// SPDX-License-Identifier: MIT
// Giving addresses to sockets of the internet: bind and connect, which may look up names.
//
// Threads: the owner of the process.
#pragma once

#include <sys/socket.h>

#include <lua.hpp>

#include "bindings/lua/socket_object.h"

namespace shoal::bindings {

// socket:bind(host, port): sockets of the type SOCK_STREAM or SOCK_DGRAM.
int Bind(lua_State* L, Socket& socket, int type);
template <int kType>
int BindAs(lua_State* L, Socket& socket) {
  return Bind(L, socket, kType);
}

// tcp:connect(host, port)
int ConnectTcp(lua_State* L, Socket& socket);
// socket.connect(host, port [, local host [, local port [, family]]])
int ConnectNew(lua_State* L);
// udp:setpeername(host, port), udp:setpeername("*")
int SetUdpPeer(lua_State* L, Socket& socket);

}  // namespace shoal::bindings
