// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_datagram.h"

#include <algorithm>
#include <cerrno>

namespace shoal::bindings {

namespace {

// What is received if the call does not say how much.
constexpr std::size_t kDatagramSize = 8192;
// More than a datagram can have.
constexpr double kLargestDatagram = 1 << 24;

constexpr int kBytes = 2;

}  // namespace

int PushDatagramError(lua_State* L, int error) {
  // The word of LuaSocket for a peer that does not take it.
  return PushSocketError(L, error == EPIPE ? "refused" : SocketError(error));
}

int TrySend(lua_State* L, Socket& socket, const sockaddr* address, socklen_t size) {
  std::size_t length = 0;
  const char* const data = luaL_checklstring(L, kBytes, &length);
  if (socket.fd == kNoDescriptor) return PushSocketError(L, "refused");
  for (;;) {
    const ssize_t sent =
        sendto(socket.fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT, address, size);
    if (sent >= 0) {
      lua_pushinteger(L, sent);
      return 1;
    }
    if (errno == EAGAIN) return kWouldBlock;
    if (errno != EINTR) return PushDatagramError(L, errno);
  }
}

int TryReceive(lua_State* L, Socket& socket, sockaddr* address, socklen_t* size) {
  char small[kDatagramSize];
  char* bytes = small;
  const double asked = luaL_optnumber(L, kBytes, kDatagramSize);
  const auto wanted =
      static_cast<std::size_t>(asked >= 0 && asked < kLargestDatagram ? asked : kLargestDatagram);
  if (wanted > sizeof(small)) {
    lua_settop(L, kBytes);
    bytes = static_cast<char*>(lua_newuserdatauv(L, wanted, 0));
  }
  for (;;) {
    const ssize_t got = recvfrom(socket.fd, bytes, wanted, MSG_DONTWAIT, address, size);
    if (got >= 0) {
      lua_pushlstring(L, bytes, static_cast<std::size_t>(got));
      return 1;
    }
    if (errno == EAGAIN) return kWouldBlock;
    if (errno != EINTR) return PushDatagramError(L, errno);
  }
}

}  // namespace shoal::bindings
