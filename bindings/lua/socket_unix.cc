// SPDX-License-Identifier: MIT
// The module socket.unix: streams and datagrams between programs of one machine.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_datagram.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/socket_options.h"
#include "bindings/lua/socket_stream.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Direction;

namespace {

constexpr char kTooLong[] = "path too long";

// The address of the path that is argument `arg`; false if it is too long. A name whose first byte
// is zero stands in no folder.
bool CheckPath(lua_State* L, int arg, sockaddr_un* address, socklen_t* size) {
  std::size_t length = 0;
  const char* const path = luaL_checklstring(L, arg, &length);
  if (length == 0 || path[0] != '\0') length = std::strlen(path);
  if (length >= sizeof(address->sun_path)) return false;
  *address = {};
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path, path, length);
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return true;
}

void PushPath(lua_State* L, const sockaddr_un& address, socklen_t size) {
  const std::size_t before = offsetof(sockaddr_un, sun_path);
  const std::size_t length = size > before ? size - before : 0;
  if (length > 0 && address.sun_path[0] == '\0') {
    lua_pushlstring(L, address.sun_path, length);
  } else {
    lua_pushlstring(L, address.sun_path, strnlen(address.sun_path, length));
  }
}

int PushDone(lua_State* L) {
  lua_pushinteger(L, 1);
  return 1;
}

int BindUnix(lua_State* L, Socket& socket) {
  sockaddr_un address{};
  socklen_t size = 0;
  if (!CheckPath(L, 2, &address, &size)) return PushSocketError(L, kTooLong);
  if (bind(socket.fd, reinterpret_cast<sockaddr*>(&address), size) == 0) return PushDone(L);
  const int error = errno;
  CloseSocket(socket);
  return PushSocketError(L, SocketError(error));
}

int GetUnixName(lua_State* L, Socket& socket) {
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return PushSocketError(L, SocketError(errno));
  }
  PushPath(L, address, size);
  return 1;
}

// --- connect

// How long to wait for a server whose queue is full: the system does not tell when it is no longer.
constexpr auto kRetryTime = std::chrono::milliseconds(5);

int ConnectStreamOn(lua_State* L, Socket& socket);

int ConnectStreamWaited(lua_State* L, int, lua_KContext) {
  static_cast<void>(core::EndWait(L));
  return ConnectStreamOn(L, SocketAt1(L));
}

int ConnectStreamOn(lua_State* L, Socket& socket) {
  sockaddr_un address{};
  socklen_t size = 0;
  if (!CheckPath(L, 2, &address, &size)) return PushSocketError(L, kTooLong);
  if (socket.fd == kNoDescriptor) return PushSocketError(L, kClosedWord);
  int error = 0;
  do {
    error = connect(socket.fd, reinterpret_cast<sockaddr*>(&address), size) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) {
    SetSocketClass(L, 1, socket, kUnixStreamClasses[kClient]);
    return PushDone(L);
  }
  if (error == EAGAIN && MayWait(socket)) {
    const core::TimePoint now = core::Process::Of(L).machine().clock.Now();
    const core::TimePoint deadline = CallDeadline(L, socket, Direction::kWrite);
    if (now < deadline) {
      core::BeginWait(L, core::WaitReason::kConnect, nullptr);
      core::ArmDeadline(L, std::min<core::TimePoint>(deadline, now + kRetryTime));
      return core::Suspend(L, 0, ConnectStreamWaited);
    }
  }
  CloseSocket(socket);
  return PushSocketError(L, error == EAGAIN ? kTimeoutWord : SocketError(error));
}

int ConnectStreamAgain(lua_State* L, int, lua_KContext);

int ConnectStream(lua_State* L, Socket& socket) {
  luaL_checkstring(L, 2);
  if (core::BeforeWait(L)) return core::YieldTurn(L, ConnectStreamAgain);
  BeginCall(L, socket, Direction::kWrite);
  return ConnectStreamOn(L, socket);
}

int ConnectStreamAgain(lua_State* L, int, lua_KContext) { return ConnectStream(L, SocketAt1(L)); }

int ConnectDatagram(lua_State* L, Socket& socket) {
  sockaddr_un address{};
  socklen_t size = 0;
  if (!CheckPath(L, 2, &address, &size)) return PushSocketError(L, kTooLong);
  if (connect(socket.fd, reinterpret_cast<sockaddr*>(&address), size) != 0) {
    const int error = errno;
    CloseSocket(socket);
    return PushSocketError(L, SocketError(error));
  }
  SetSocketClass(L, 1, socket, kUnixDatagramClasses[kConnected]);
  return PushDone(L);
}

// --- Datagrams

int TrySendToPeer(lua_State* L, Socket& socket) { return TrySend(L, socket, nullptr, 0); }

int TrySendToPath(lua_State* L, Socket& socket) {
  sockaddr_un address{};
  socklen_t size = 0;
  luaL_checkstring(L, 2);
  if (!CheckPath(L, 3, &address, &size)) return PushSocketError(L, kTooLong);
  return TrySend(L, socket, reinterpret_cast<sockaddr*>(&address), size);
}

int TryReceiveFromAny(lua_State* L, Socket& socket) {
  if (socket.fd == kNoDescriptor) {
    lua_pushliteral(L, "");
    return 1;
  }
  return TryReceive(L, socket, nullptr, nullptr);
}

int TryReceiveFromPath(lua_State* L, Socket& socket) {
  if (socket.fd == kNoDescriptor) return PushSocketError(L, kClosedWord);
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  const int count = TryReceive(L, socket, reinterpret_cast<sockaddr*>(&address), &size);
  if (count != 1) return count;
  PushPath(L, address, size);
  return 2;
}

int IsNeverDirty(lua_State* L, Socket&) {
  lua_pushboolean(L, 0);
  return 1;
}

// --- The module

const luaL_Reg kStreamMethods[] = {
    {"accept", OfClass<kUnixStreamClasses, kServer, AcceptAs<kUnixStreamClasses>>},
    {"bind", OfClass<kUnixStreamClasses, kMaster, BindUnix>},
    {"close", OfAny<kUnixStreamClasses, Close>},
    {"connect", OfClass<kUnixStreamClasses, kMaster, ConnectStream>},
    {"dirty", OfAny<kUnixStreamClasses, IsDirty>},
    {"getfd", OfAny<kUnixStreamClasses, GetFd>},
    {"getsockname", OfAny<kUnixStreamClasses, GetUnixName>},
    {"getstats", OfClass<kUnixStreamClasses, kClient, GetStats>},
    {"listen", OfClass<kUnixStreamClasses, kMaster, ListenAs<kUnixStreamClasses>>},
    {"receive", OfClass<kUnixStreamClasses, kClient, Receive>},
    {"send", OfClass<kUnixStreamClasses, kClient, Send>},
    {"setfd", OfAny<kUnixStreamClasses, SetFd>},
    {"setoption", OfAny<kUnixStreamClasses, SetUnixOption>},
    {"setpeername", OfClass<kUnixStreamClasses, kMaster, ConnectStream>},
    {"setsockname", OfClass<kUnixStreamClasses, kMaster, BindUnix>},
    {"setstats", OfClass<kUnixStreamClasses, kClient, SetStats>},
    {"settimeout", OfAny<kUnixStreamClasses, SetTimeout>},
    {"shutdown", OfClass<kUnixStreamClasses, kClient, Shutdown>},
    {nullptr, nullptr}};

const luaL_Reg kDatagramMethods[] = {
    {"bind", OfClass<kUnixDatagramClasses, kUnconnected, BindUnix>},
    {"close", OfAny<kUnixDatagramClasses, Close>},
    {"connect", OfAny<kUnixDatagramClasses, ConnectDatagram>},
    {"dirty", OfAny<kUnixDatagramClasses, IsNeverDirty>},
    {"getfd", OfAny<kUnixDatagramClasses, GetFd>},
    {"getsockname", OfAny<kUnixDatagramClasses, GetUnixName>},
    {"gettimeout", OfAny<kUnixDatagramClasses, GetTimeout>},
    {"receive", OfAny<kUnixDatagramClasses, DatagramCall<Direction::kRead, TryReceiveFromAny>>},
    {"receivefrom", OfClass<kUnixDatagramClasses, kUnconnected,
                            DatagramCall<Direction::kRead, TryReceiveFromPath>>},
    {"send",
     OfClass<kUnixDatagramClasses, kConnected, DatagramCall<Direction::kWrite, TrySendToPeer>>},
    {"sendto",
     OfClass<kUnixDatagramClasses, kUnconnected, DatagramCall<Direction::kWrite, TrySendToPath>>},
    {"setfd", OfAny<kUnixDatagramClasses, SetFd>},
    {"setoption", OfAny<kUnixDatagramClasses, SetUnixOption>},
    {"setpeername", OfAny<kUnixDatagramClasses, ConnectDatagram>},
    {"setsockname", OfClass<kUnixDatagramClasses, kUnconnected, BindUnix>},
    {"settimeout", OfAny<kUnixDatagramClasses, SetTimeout>},
    {nullptr, nullptr}};

template <const auto& kClasses, int kAt, int kType>
int NewUnix(lua_State* L) {
  Socket& socket = PushSocket(L, kClasses[kAt], AF_UNIX);
  const int error = OpenSocket(socket, AF_UNIX, kType);
  return error == 0 ? 1 : PushSocketError(L, SocketError(error));
}

// The module itself can be called, as in old versions.
int CallModule(lua_State* L) {
  lua_getfield(L, 1, "stream");
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

}  // namespace

const SocketClass kUnixStreamClasses[3] = {
    {"unixstream{master}", "unixstream{any}", kStreamMethods},
    {"unixstream{client}", "unixstream{any}", kStreamMethods},
    {"unixstream{server}", "unixstream{any}", kStreamMethods}};
const SocketClass kUnixDatagramClasses[2] = {
    {"unixdgram{unconnected}", "unixdgram{any}", kDatagramMethods},
    {"unixdgram{connected}", "unixdgram{any}", kDatagramMethods}};

int LoadSocketUnix(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"stream", NewUnix<kUnixStreamClasses, kMaster, SOCK_STREAM>},
      {"tcp", NewUnix<kUnixStreamClasses, kMaster, SOCK_STREAM>},
      {"dgram", NewUnix<kUnixDatagramClasses, kUnconnected, SOCK_DGRAM>},
      {"udp", NewUnix<kUnixDatagramClasses, kUnconnected, SOCK_DGRAM>},
      {"__call", CallModule},
      {nullptr, nullptr}};
  MakeSocketClasses(L, kUnixStreamClasses, std::size(kUnixStreamClasses));
  MakeSocketClasses(L, kUnixDatagramClasses, std::size(kUnixDatagramClasses));
  luaL_newlib(L, kFunctions);
  lua_pushvalue(L, -1);
  lua_setmetatable(L, -2);
  return 1;
}

}  // namespace shoal::bindings
