// SPDX-License-Identifier: MIT
// The modules `socket.core` and `socket.unix`: what the package lua-socket has in C. Its files in
// Lua (socket.lua, socket/http.lua, …) run on them as they are.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// The loaders of `require "socket.core"` and `require "socket.unix"`.
int LoadSocketCore(lua_State* L);
int LoadSocketUnix(lua_State* L);

// The metatables of all sockets, for one that comes in a message. [-0, +0, m]
void MakeAllSocketClasses(lua_State* L);

// The parts of socket.core: each sets its functions in the table on the top. [-0, +0, m]
void OpenTcp(lua_State* L);     // socket_tcp.cc
void OpenUdp(lua_State* L);     // socket_udp.cc
void OpenDns(lua_State* L);     // socket_dns.cc
void OpenSelect(lua_State* L);  // socket_select.cc
void OpenTry(lua_State* L);     // socket_try.cc

}  // namespace shoal::bindings
