// SPDX-License-Identifier: MIT
// How the calls of sockets wait. In a call,
//
//   if (IsBusy(socket, Direction::kRead)) return …;  // another task is in such a call
//   if (core::BeforeWait(L)) return core::YieldTurn(L, …);
//   BeginCall(L, socket, Direction::kRead);          // from here on its timeouts count
//   …recv(…) says EAGAIN…
//   if (!MayWait(socket)) return …"timeout";
//   return WaitForSocket(L, socket, WaitReason::kReadable, context, Again);
//   …
//   int Again(…) { const Status status = EndSocketWait(L, socket, Direction::kRead); … }
//
// A task that waits on a socket to read is its only reader, and one that waits to write its only
// writer.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "bindings/lua/socket_object.h"
#include "runtime/base/status.h"
#include "runtime/wait/wait_reason.h"

namespace shoal::bindings {

inline bool IsBusy(const Socket& socket, core::Direction direction) {
  return socket.calls[static_cast<int>(direction)] != CallState::kNone;
}
// "socket busy reading" or "… writing".
const char* BusyWord(core::Direction direction);

// The timeouts of the socket begin.
void BeginCall(lua_State* L, Socket& socket, core::Direction direction);
// When the call that began there has waited long enough.
core::TimePoint CallDeadline(lua_State* L, const Socket& socket, core::Direction direction);
// False: a call that is not done at once is over.
inline bool MayWait(const Socket& socket) { return socket.block != 0; }

// Suspends the task until the socket, at index 1, is ready, or closed, or its time is over; then
// calls `k` with the stack as it is. The direction is that of the reason. [-0, +0, e]
int WaitForSocket(lua_State* L, Socket& socket, core::WaitReason reason, lua_KContext context,
                  lua_KFunction k);
// After BeforeWait in the middle of a call, which goes on in `k` when others have had their turn.
int YieldInCall(lua_State* L, Socket& socket, core::Direction direction, lua_KContext context,
                lua_KFunction k);
// First in `k`, of both: kOk (try again), kTimeout or kClosed. Raises if the task is to end.
// [-0, +0, e]
core::Status EndSocketWait(lua_State* L, Socket& socket, core::Direction direction);

// The descriptor of a socket, for those who wait for several. nullptr: out of files or memory, see
// `errno`. REQUIRES: socket.fd.
core::Descriptor* DescriptorOf(lua_State* L, Socket& socket);

// What becomes of the descriptor of a socket that had waited for it.
enum class Fate { kClose, kKeep };
// REQUIRES: socket.descriptor. Whoever waits is told that it is closed.
void DropDescriptor(Socket& socket, Fate fate);

}  // namespace shoal::bindings
