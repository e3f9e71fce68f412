// SPDX-License-Identifier: MIT
// master:listen([backlog]), server:accept().
#include <sys/socket.h>

#include <cerrno>

#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_stream.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Direction;
using core::Status;
using core::WaitReason;

namespace {

int AcceptOn(lua_State* L, Socket& server, const SocketClass& kind);

const SocketClass& ClassOf(lua_KContext context) {
  return *reinterpret_cast<const SocketClass*>(context);
}

int AcceptAgain(lua_State* L, int, lua_KContext context) {
  return Accept(L, SocketAt1(L), ClassOf(context));
}

int AcceptDone(lua_State* L, int, lua_KContext context) {
  Socket& server = SocketAt1(L);
  const Status status = EndSocketWait(L, server, Direction::kRead);
  if (status == Status::kOk) return AcceptOn(L, server, ClassOf(context));
  return PushSocketError(L, status == Status::kTimeout ? kTimeoutWord : kClosedWord);
}

int AcceptOn(lua_State* L, Socket& server, const SocketClass& kind) {
  if (server.fd == kNoDescriptor) return PushSocketError(L, kClosedWord);
  // Made first: an error for lack of memory must not lose a connection.
  Socket& client = PushSocket(L, kind, server.family);
  for (;;) {
    const int fd = accept4(server.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      client.fd = fd;
      return 1;
    }
    // Connections that have been given up meanwhile are passed over.
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN) return PushSocketError(L, SocketError(errno));
    if (!MayWait(server)) return PushSocketError(L, kTimeoutWord);
    lua_settop(L, 1);
    return WaitForSocket(L, server, WaitReason::kAccept, reinterpret_cast<lua_KContext>(&kind),
                         AcceptDone);
  }
}

}  // namespace

int Accept(lua_State* L, Socket& server, const SocketClass& kind) {
  if (IsBusy(server, Direction::kRead)) return PushSocketError(L, BusyWord(Direction::kRead));
  if (core::BeforeWait(L)) {
    return core::YieldTurn(L, reinterpret_cast<lua_KContext>(&kind), AcceptAgain);
  }
  lua_settop(L, 1);
  BeginCall(L, server, Direction::kRead);
  return AcceptOn(L, server, kind);
}

int Listen(lua_State* L, Socket& socket, const SocketClass& kind) {
  const auto backlog = static_cast<int>(luaL_optnumber(L, 2, 32));
  if (listen(socket.fd, backlog) != 0) return PushSocketError(L, SocketError(errno));
  SetSocketClass(L, 1, socket, kind);
  lua_pushinteger(L, 1);
  return 1;
}

}  // namespace shoal::bindings
