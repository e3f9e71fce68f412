// SPDX-License-Identifier: MIT
// Sending and receiving on connected streams: TCP and unix.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "bindings/lua/socket_object.h"

namespace shoal::bindings {

// client:receive([pattern [, prefix]])
int Receive(lua_State* L, Socket& socket);
// client:send(data [, first [, last]])
int Send(lua_State* L, Socket& socket);
// client:shutdown([how])
int Shutdown(lua_State* L, Socket& socket);

// server:accept(): a client of the class `kind`. In socket_accept.cc.
int Accept(lua_State* L, Socket& server, const SocketClass& kind);
template <const auto& kClasses>
int AcceptAs(lua_State* L, Socket& server) {
  return Accept(L, server, kClasses[kClient]);
}
// master:listen([backlog]): it becomes one of the class `kind`.
int Listen(lua_State* L, Socket& socket, const SocketClass& kind);
template <const auto& kClasses>
int ListenAs(lua_State* L, Socket& socket) {
  return Listen(L, socket, kClasses[kServer]);
}

}  // namespace shoal::bindings
