// SPDX-License-Identifier: MIT
// client:send(data [, first [, last]]), client:shutdown([how]).
#include <sys/socket.h>

#include <algorithm>
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

constexpr int kBytes = 2;
constexpr int kFirst = 3;
constexpr int kLast = 4;

// What is to be sent: made anew from the arguments whenever the call goes on.
struct Slice {
  const char* bytes;
  lua_Integer before;  // how many bytes of the string stand before it
  std::size_t size;
};

Slice CheckSlice(lua_State* L) {
  std::size_t length = 0;
  const char* const data = luaL_checklstring(L, kBytes, &length);
  const auto size = static_cast<lua_Integer>(length);
  const auto bound = [](double index) {
    constexpr double kMost = 1LL << 53;
    return index == index ? static_cast<lua_Integer>(std::clamp(index, -kMost, kMost)) : 0;
  };
  lua_Integer first = bound(luaL_optnumber(L, kFirst, 1));
  lua_Integer last = bound(luaL_optnumber(L, kLast, -1));
  if (first < 0) first = size + first + 1;
  if (last < 0) last = size + last + 1;
  first = std::max<lua_Integer>(first, 1);
  last = std::min(last, size);
  const std::size_t count = first <= last ? static_cast<std::size_t>(last - first + 1) : 0;
  return {data + (count > 0 ? first - 1 : 0), first - 1, count};
}

int PushSent(lua_State* L, const Slice& slice, std::size_t sent) {
  lua_pushinteger(L, slice.before + static_cast<lua_Integer>(sent));
  lua_pushnil(L);
  lua_pushnil(L);
  return 3;
}

int PushUnsent(lua_State* L, const Slice& slice, std::size_t sent, const char* word) {
  lua_pushnil(L);
  lua_pushstring(L, word);
  lua_pushinteger(L, slice.before + static_cast<lua_Integer>(sent));
  return 3;
}

int SendOn(lua_State* L, Socket& socket, std::size_t sent);

int SendAgain(lua_State* L, int, lua_KContext) { return Send(L, SocketAt1(L)); }

int SendDone(lua_State* L, int, lua_KContext context) {
  Socket& socket = SocketAt1(L);
  const auto sent = static_cast<std::size_t>(context);
  const Status status = EndSocketWait(L, socket, Direction::kWrite);
  if (status == Status::kOk) return SendOn(L, socket, sent);
  return PushUnsent(L, CheckSlice(L), sent,
                    status == Status::kTimeout ? kTimeoutWord : kClosedWord);
}

// Goes on with the call, in which so many bytes have been sent.
int SendOn(lua_State* L, Socket& socket, std::size_t sent) {
  const Slice slice = CheckSlice(L);
  while (sent < slice.size) {
    if (socket.fd == kNoDescriptor) return PushUnsent(L, slice, sent, kClosedWord);
    const ssize_t count =
        send(socket.fd, slice.bytes + sent, slice.size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
      socket.sent += static_cast<double>(count);
      if (sent < slice.size && core::BeforeWait(L)) {
        return YieldInCall(L, socket, Direction::kWrite, static_cast<lua_KContext>(sent), SendDone);
      }
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return PushUnsent(L, slice, sent, SocketError(errno));
    if (!MayWait(socket)) return PushUnsent(L, slice, sent, kTimeoutWord);
    return WaitForSocket(L, socket, WaitReason::kWritable, static_cast<lua_KContext>(sent),
                         SendDone);
  }
  return PushSent(L, slice, sent);
}

}  // namespace

int Send(lua_State* L, Socket& socket) {
  const Slice slice = CheckSlice(L);
  lua_settop(L, kLast);
  if (slice.size == 0) return PushSent(L, slice, 0);
  if (IsBusy(socket, Direction::kWrite)) {
    return PushUnsent(L, slice, 0, BusyWord(Direction::kWrite));
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, SendAgain);
  BeginCall(L, socket, Direction::kWrite);
  return SendOn(L, socket, 0);
}

int Shutdown(lua_State* L, Socket& socket) {
  static const char* const kNames[] = {"receive", "send", "both", nullptr};
  static constexpr int kHow[] = {SHUT_RD, SHUT_WR, SHUT_RDWR};
  const int how = kHow[luaL_checkoption(L, 2, "both", kNames)];
  if (socket.fd != kNoDescriptor) shutdown(socket.fd, how);
  lua_pushinteger(L, 1);
  return 1;
}

}  // namespace shoal::bindings
