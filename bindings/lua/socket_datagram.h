// SPDX-License-Identifier: MIT
// Calls of datagram sockets: each is one system call that is made again until it does not block.
//
// Threads: the owner of the process.
#pragma once

#include <sys/socket.h>

#include <lua.hpp>

#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

// The number of results of the call on the stack, or kWouldBlock.
using DatagramTry = int (*)(lua_State* L, Socket& socket);
inline constexpr int kWouldBlock = -1;

// Sends the string at index 2 to an address (nullptr: the peer). Pushes the number of bytes, or nil
// and the error.
int TrySend(lua_State* L, Socket& socket, const sockaddr* address, socklen_t size);
// Receives a datagram of at most as many bytes as argument 2 says, and pushes it; *address says
// from whom, unless it is nullptr. Or pushes nil and the error; or kWouldBlock.
int TryReceive(lua_State* L, Socket& socket, sockaddr* address, socklen_t* size);
// Pushes nil and the error of the system.
int PushDatagramError(lua_State* L, int error);

template <core::Direction kDirection, DatagramTry kTry>
int GoOnWithDatagram(lua_State* L, Socket& socket);

template <core::Direction kDirection, DatagramTry kTry>
int DatagramWaited(lua_State* L, int, lua_KContext) {
  Socket& socket = SocketAt1(L);
  const core::Status status = EndSocketWait(L, socket, kDirection);
  if (status == core::Status::kOk) return GoOnWithDatagram<kDirection, kTry>(L, socket);
  return PushSocketError(L, status == core::Status::kTimeout ? kTimeoutWord : kClosedWord);
}

template <core::Direction kDirection, DatagramTry kTry>
int GoOnWithDatagram(lua_State* L, Socket& socket) {
  const int count = kTry(L, socket);
  if (count != kWouldBlock) return count;
  if (!MayWait(socket)) return PushSocketError(L, kTimeoutWord);
  constexpr core::WaitReason kReason = kDirection == core::Direction::kRead
                                           ? core::WaitReason::kReadable
                                           : core::WaitReason::kWritable;
  return WaitForSocket(L, socket, kReason, 0, DatagramWaited<kDirection, kTry>);
}

template <core::Direction kDirection, DatagramTry kTry>
int DatagramCall(lua_State* L, Socket& socket);

template <core::Direction kDirection, DatagramTry kTry>
int DatagramAgain(lua_State* L, int, lua_KContext) {
  return DatagramCall<kDirection, kTry>(L, SocketAt1(L));
}

// A method.
template <core::Direction kDirection, DatagramTry kTry>
int DatagramCall(lua_State* L, Socket& socket) {
  if (IsBusy(socket, kDirection)) return PushSocketError(L, BusyWord(kDirection));
  if (core::BeforeWait(L)) return core::YieldTurn(L, DatagramAgain<kDirection, kTry>);
  BeginCall(L, socket, kDirection);
  return GoOnWithDatagram<kDirection, kTry>(L, socket);
}

}  // namespace shoal::bindings
