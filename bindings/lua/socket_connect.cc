// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_connect.h"

#include <netdb.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "bindings/lua/socket_address.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_lookup.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Direction;
using core::Status;
using core::WaitReason;

namespace {

// The socket is at index 1, the host and the port behind it; the box of the lookup on the top.
constexpr int kHost = 2;
constexpr int kPort = 3;

// A descriptor for an address of that family, if the socket has none. The word of the error.
const char* OpenFor(Socket& socket, const Address& address, int type) {
  const bool is_tried = socket.wanted == AF_UNSPEC;  // neither bound nor made for a family
  if (socket.fd != kNoDescriptor && socket.family == address.family() && !is_tried) return nullptr;
  CloseSocket(socket);
  const int error = OpenSocket(socket, address.family(), type);
  if (error != 0) return SocketError(error);
  socket.family = address.family();
  return nullptr;
}

// --- bind

int PushDone(lua_State* L, const char* word) {
  if (word != nullptr) return PushSocketError(L, word);
  lua_pushinteger(L, 1);
  return 1;
}

const char* BindTo(Socket& socket, const LookupAnswer& answer, int type) {
  const char* word = nullptr;
  for (const Address& address : answer.addresses) {
    word = OpenFor(socket, address, type);
    if (word != nullptr) continue;
    if (bind(socket.fd, &address.any, address.size) == 0) {
      socket.wanted = socket.family;
      return nullptr;
    }
    word = SocketError(errno);
  }
  return word;
}

Lookup& PushBindLookup(lua_State* L, int host, int port, int family, int type) {
  LookupQuestion question;
  question.host = lua_tostring(L, host);
  if (std::strcmp(question.host, "*") == 0) question.host = nullptr;
  question.port = lua_tostring(L, port);
  question.family = family;
  question.type = type;
  question.flags = AI_PASSIVE;
  return PushLookup(L, question);
}

int BindAgain(lua_State* L, int, lua_KContext type) {
  return Bind(L, SocketAt1(L), static_cast<int>(type));
}

int BindFound(lua_State* L, int status, lua_KContext type) {
  Lookup& lookup = LookupOnTop(L);
  const char* word = EndLookup(L, lookup, status);
  if (word == nullptr) word = BindTo(SocketAt1(L), lookup.answer(), static_cast<int>(type));
  return PushDone(L, word);
}

}  // namespace

int Bind(lua_State* L, Socket& socket, int type) {
  luaL_checkstring(L, kHost);
  luaL_checkstring(L, kPort);
  if (core::BeforeWait(L)) return core::YieldTurn(L, type, BindAgain);
  Lookup& lookup = PushBindLookup(L, kHost, kPort, socket.wanted, type);
  return WaitForLookup(L, lookup, core::kNever, type, BindFound);
}

// --- connect

namespace {

// What the continuations of a connect know: which address is tried, and for whom.
enum class Caller { kMethod, kFunction };

lua_KContext ContextOf(std::size_t index, Caller caller) {
  return static_cast<lua_KContext>(index << 1) | (caller == Caller::kFunction ? 1 : 0);
}
Caller CallerOf(lua_KContext context) {
  return (context & 1) != 0 ? Caller::kFunction : Caller::kMethod;
}
std::size_t IndexOf(lua_KContext context) { return static_cast<std::size_t>(context) >> 1; }

// The end of it, with the word of the error or nullptr.
int PushConnected(lua_State* L, Socket& socket, Caller caller, const char* word) {
  if (word == nullptr || !MayWait(socket)) socket.wanted = socket.family;
  if (caller == Caller::kMethod) {
    // Also if it failed: it may be under way.
    SetSocketClass(L, 1, socket, kTcpClasses[kClient]);
    return PushDone(L, word);
  }
  if (word != nullptr) {
    CloseSocket(socket);
    return PushSocketError(L, word);
  }
  SetSocketClass(L, 1, socket, kTcpClasses[kClient]);
  lua_pushvalue(L, 1);
  return 1;
}

// Whether the connection is made, or has failed: then *word says why.
bool IsDecided(const Socket& socket, const char** word) {
  // Readiness may be older than this attempt.
  pollfd look{socket.fd, POLLOUT, 0};
  if (poll(&look, 1, 0) == 0) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  *word = error == 0 ? nullptr : SocketError(error);
  return true;
}

int ConnectDone(lua_State* L, int, lua_KContext context);

// Tries the addresses from that one on.
int ConnectOn(lua_State* L, Socket& socket, std::size_t index, Caller caller, const char* word) {
  const LookupAnswer& answer = LookupOnTop(L).answer();
  for (; index < answer.addresses.size(); ++index) {
    const Address& address = answer.addresses[index];
    word = OpenFor(socket, address, SOCK_STREAM);
    if (word != nullptr) continue;
    if (connect(socket.fd, &address.any, address.size) == 0) {
      return PushConnected(L, socket, caller, nullptr);
    }
    // Interrupted, it goes on by itself.
    if (errno == EINPROGRESS || errno == EINTR) {
      if (!MayWait(socket)) return PushConnected(L, socket, caller, kTimeoutWord);
      return WaitForSocket(L, socket, WaitReason::kConnect, ContextOf(index, caller), ConnectDone);
    }
    word = SocketError(errno);
    if (!MayWait(socket)) break;
  }
  return PushConnected(L, socket, caller, word);
}

int ConnectDone(lua_State* L, int, lua_KContext context) {
  Socket& socket = SocketAt1(L);
  const Caller caller = CallerOf(context);
  const Status status = EndSocketWait(L, socket, Direction::kWrite);
  if (status == Status::kTimeout) return PushConnected(L, socket, caller, kTimeoutWord);
  if (status == Status::kClosed || socket.fd == kNoDescriptor) {
    return PushConnected(L, socket, caller, kClosedWord);
  }
  const char* word = nullptr;
  if (!IsDecided(socket, &word)) {
    return WaitForSocket(L, socket, WaitReason::kConnect, context, ConnectDone);
  }
  if (word == nullptr) return PushConnected(L, socket, caller, nullptr);
  return ConnectOn(L, socket, IndexOf(context) + 1, caller, word);
}

int ConnectFound(lua_State* L, int status, lua_KContext context) {
  Socket& socket = SocketAt1(L);
  const Caller caller = CallerOf(context);
  const char* const word = EndLookup(L, LookupOnTop(L), status);
  if (word != nullptr) return PushConnected(L, socket, caller, word);
  return ConnectOn(L, socket, 0, caller, nullptr);
}

// Looks up the host and goes on.
int FindAndConnect(lua_State* L, Socket& socket, int family, Caller caller) {
  BeginCall(L, socket, Direction::kWrite);
  LookupQuestion question;
  question.host = lua_tostring(L, kHost);
  question.port = lua_tostring(L, kPort);
  question.family = family;
  question.type = SOCK_STREAM;
  Lookup& lookup = PushLookup(L, question);
  // Who does not want to wait for the connection has to wait for the name all the same.
  const core::TimePoint deadline =
      MayWait(socket) ? CallDeadline(L, socket, Direction::kWrite) : core::kNever;
  return WaitForLookup(L, lookup, deadline, ContextOf(0, caller), ConnectFound);
}

int ConnectTcpAgain(lua_State* L, int, lua_KContext) { return ConnectTcp(L, SocketAt1(L)); }

constexpr int kLocalHost = 4;
constexpr int kLocalPort = 5;
constexpr int kFamily = 6;

int ConnectNewAgain(lua_State* L, int, lua_KContext) { return ConnectNew(L); }

int ConnectNewBound(lua_State* L, int status, lua_KContext) {
  Lookup& lookup = LookupOnTop(L);
  Socket& socket = SocketAt1(L);
  const char* word = EndLookup(L, lookup, status);
  if (word == nullptr) word = BindTo(socket, lookup.answer(), SOCK_STREAM);
  if (word != nullptr) return PushConnected(L, socket, Caller::kFunction, word);
  lua_settop(L, kFamily);
  return FindAndConnect(L, socket, socket.wanted, Caller::kFunction);
}

}  // namespace

int ConnectTcp(lua_State* L, Socket& socket) {
  luaL_checkstring(L, kHost);
  luaL_checkstring(L, kPort);
  if (IsBusy(socket, Direction::kWrite)) return PushSocketError(L, BusyWord(Direction::kWrite));
  if (core::BeforeWait(L)) return core::YieldTurn(L, ConnectTcpAgain);
  return FindAndConnect(L, socket, socket.wanted, Caller::kMethod);
}

int ConnectNew(lua_State* L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_optstring(L, 3, nullptr);
  luaL_optstring(L, 4, nullptr);
  const int family = CheckFamily(L, 5);
  if (core::BeforeWait(L)) return core::YieldTurn(L, ConnectNewAgain);
  lua_settop(L, kFamily - 1);
  Socket& socket = PushSocket(L, kTcpClasses[kMaster], AF_UNSPEC);
  lua_insert(L, 1);
  if (lua_isnil(L, kLocalHost)) return FindAndConnect(L, socket, family, Caller::kFunction);
  if (lua_isnil(L, kLocalPort)) {
    lua_pushliteral(L, "0");
    lua_replace(L, kLocalPort);
  }
  Lookup& lookup = PushBindLookup(L, kLocalHost, kLocalPort, family, SOCK_STREAM);
  return WaitForLookup(L, lookup, core::kNever, 0, ConnectNewBound);
}

// --- Peers of datagram sockets

namespace {

int SetUdpPeerAgain(lua_State* L, int, lua_KContext) { return SetUdpPeer(L, SocketAt1(L)); }

int SetUdpPeerFound(lua_State* L, int status, lua_KContext) {
  Lookup& lookup = LookupOnTop(L);
  Socket& socket = SocketAt1(L);
  const char* word = EndLookup(L, lookup, status);
  if (word != nullptr) return PushSocketError(L, word);
  for (const Address& address : lookup.answer().addresses) {
    word = OpenFor(socket, address, SOCK_DGRAM);
    if (word == nullptr && connect(socket.fd, &address.any, address.size) != 0) {
      word = SocketError(errno);
    }
    if (word == nullptr) break;
  }
  if (word != nullptr) return PushSocketError(L, word);
  socket.wanted = socket.family;
  SetSocketClass(L, 1, socket, kUdpClasses[kConnected]);
  lua_pushinteger(L, 1);
  return 1;
}

}  // namespace

int SetUdpPeer(lua_State* L, Socket& socket) {
  if (std::strcmp(luaL_checkstring(L, kHost), "*") == 0) {
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    // An error means that there was no peer.
    static_cast<void>(connect(socket.fd, &nobody, sizeof(nobody)));
    SetSocketClass(L, 1, socket, kUdpClasses[kUnconnected]);
    lua_pushinteger(L, 1);
    return 1;
  }
  luaL_checkstring(L, kPort);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SetUdpPeerAgain);
  LookupQuestion question;
  question.host = lua_tostring(L, kHost);
  question.port = lua_tostring(L, kPort);
  question.family = socket.wanted;
  question.type = SOCK_DGRAM;
  Lookup& lookup = PushLookup(L, question);
  return WaitForLookup(L, lookup, core::kNever, 0, SetUdpPeerFound);
}

}  // namespace shoal::bindings
