// SPDX-License-Identifier: MIT
// Sockets as Lua sees them: userdata of a class, such as "tcp{client}". Classes of one group have
// the same methods; which class a method is for, it checks itself, as in LuaSocket.
//
// Threads: the owner of the process.
// Ownership: the userdata owns its descriptor, and closes it when it is collected.
#pragma once

#include <cstddef>
#include <iterator>
#include <lua.hpp>

#include "bindings/lua/socket_buffer.h"
#include "runtime/base/clock.h"
#include "runtime/process/descriptor_wait.h"

namespace shoal::bindings {

// Its address stands in each socket. The name is that of its metatable in the registry.
struct SocketClass {
  const char* name;
  const char* group;
  const luaL_Reg* methods;
};
extern const SocketClass kTcpClasses[3];  // socket_tcp.cc
extern const SocketClass kUdpClasses[2];  // socket_udp.cc
extern const SocketClass kUnixStreamClasses[3];
extern const SocketClass kUnixDatagramClasses[2];

// The classes of a stream group and of a datagram group.
enum StreamClass { kMaster, kClient, kServer };
enum DatagramClass { kUnconnected, kConnected };

// Whether a task stands in a call in one direction, suspended: waits, or lets others go first.
enum class CallState { kNone, kWaits, kYields };

inline constexpr int kNoDescriptor = -1;

// In userdata, so without constructor and destructor.
struct Socket {
  const SocketClass* kind;
  int fd;
  int family;    // of the descriptor
  int wanted;    // … of the next one; AF_UNSPEC: that of the address
  double block;  // timeouts in seconds, negative: none
  double total;
  core::TimePoint start[2];      // of the call in each direction …
  CallState calls[2];            // … and its state
  core::Descriptor* awaited[2];  // what it waits for, one reference
  core::Descriptor* descriptor;  // of `fd`, made at the first wait; one reference
  SocketBuffer buffer;
  core::RefCounted* parcel;  // in which it was sent or received; one reference
  lua_Number received;
  lua_Number sent;
  double birthday;  // on the clock of gettime
};

// Pushes a socket without a descriptor. [-0, +1, m]
Socket& PushSocket(lua_State* L, const SocketClass& kind, int family);
// Makes the metatables of a group, once. [-0, +0, m]
void MakeSocketClasses(lua_State* L, const SocketClass* classes, std::size_t count);
// The userdata at `index` becomes one of that class. [-0, +0, m]
void SetSocketClass(lua_State* L, int index, Socket& socket, const SocketClass& kind);

// The socket at `index`, of whatever class, or nullptr. [-0, +0, -]
Socket* ToSocket(lua_State* L, int index);
// The socket that is argument 1; raises if it is not of that class. [-0, +0, v]
Socket& CheckSocket(lua_State* L, const SocketClass& kind);
// … if it is of none of the classes of a group. [-0, +0, v]
Socket& CheckSocketOf(lua_State* L, const SocketClass* classes, std::size_t count);
// Argument 1, in a continuation: it has been checked.
inline Socket& SocketAt1(lua_State* L) { return *static_cast<Socket*>(lua_touserdata(L, 1)); }

// Methods get the socket, which is argument 1. These two make functions of them, for all classes of
// a group and for one of its classes.
using SocketMethod = int (*)(lua_State*, Socket&);
template <const auto& kClasses, SocketMethod kMethod>
int OfAny(lua_State* L) {
  return kMethod(L, CheckSocketOf(L, kClasses, std::size(kClasses)));
}
template <const auto& kClasses, int kAt, SocketMethod kMethod>
int OfClass(lua_State* L) {
  return kMethod(L, CheckSocket(L, kClasses[kAt]));
}

// Opens a descriptor for the socket, which does not block. An `errno`, or 0.
int OpenSocket(Socket& socket, int family, int type);
// Closes the descriptor; whoever waits for it is told "closed".
void CloseSocket(Socket& socket);
// The socket has the descriptor from now on. What it had is not closed. [-0, +0, m]
void SetDescriptor(Socket& socket, int fd);

// Methods of all classes.
int Close(lua_State* L, Socket& socket);
int GetFd(lua_State* L, Socket& socket);
int SetFd(lua_State* L, Socket& socket);
int IsDirty(lua_State* L, Socket& socket);
int SetTimeout(lua_State* L, Socket& socket);
int GetTimeout(lua_State* L, Socket& socket);
int GetStats(lua_State* L, Socket& socket);
int SetStats(lua_State* L, Socket& socket);

// Seconds since 1970. In a simulation, its time.
double WallTime(lua_State* L);
// `seconds` that may be anything but negative, as a time to wait.
core::Duration ToDuration(double seconds);

}  // namespace shoal::bindings
