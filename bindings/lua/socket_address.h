// SPDX-License-Identifier: MIT
// Addresses of sockets, as the system has them and as Lua sees them.
//
// Threads: any thread; functions with a lua_State, the owner of the process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <lua.hpp>
#include <string>

#include "bindings/lua/socket_object.h"

namespace shoal::bindings {

// An IPv4 or IPv6 address with its port.
struct Address {
  union {
    sockaddr any;
    sockaddr_in inet;
    sockaddr_in6 inet6;
  };
  socklen_t size;

  [[nodiscard]] int family() const { return any.sa_family; }
};

// "inet", "inet6", "unspec" or "unknown".
const char* FamilyName(int family);
// The option of that name as argument `arg`; "unspec" if there is none. [-0, +0, v]
int CheckFamily(lua_State* L, int arg);

// Pushes the number of the address as a string, "127.0.0.1". [-0, +1, m]
void PushHost(lua_State* L, const Address& address);
// The port in the order of the machine.
int PortOf(const Address& address);

// Appends " 127.0.0.1:80", where a socket is connected to, or bound.
void AppendAddress(const Socket& socket, std::string& text);

// Methods of sockets: → ip, port, family · nil, error.
int GetPeerName(lua_State* L, Socket& socket);
int GetSockName(lua_State* L, Socket& socket);
// → "inet4" or "inet6".
int GetFamily(lua_State* L, Socket& socket);

}  // namespace shoal::bindings
