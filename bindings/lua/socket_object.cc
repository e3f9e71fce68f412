// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_object.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "bindings/lua/socket_parcel.h"
#include "bindings/lua/socket_wait.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Duration;
using core::Process;

namespace {

template <std::size_t kCount>
bool IsIn(const SocketClass (&classes)[kCount], const SocketClass* kind) {
  return kind >= classes && kind < classes + kCount;
}

// The userdata at `index` if it is as large as a socket, else nullptr.
Socket* ToSocketSized(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(Socket)) return nullptr;
  return static_cast<Socket*>(lua_touserdata(L, index));
}

int Collect(lua_State* L) {
  Socket* const socket = ToSocket(L, 1);
  if (socket == nullptr) return 0;
  CloseSocket(*socket);
  socket->buffer.Free(L);
  if (socket->parcel != nullptr) std::exchange(socket->parcel, nullptr)->Release();
  return 0;
}

int PushText(lua_State* L) {
  const Socket* const socket = ToSocket(L, 1);
  if (socket == nullptr) return luaL_argerror(L, 1, "socket expected");
  lua_pushfstring(L, "%s: %p", socket->kind->name, static_cast<const void*>(socket));
  return 1;
}

}  // namespace

// --- Classes

void MakeSocketClasses(lua_State* L, const SocketClass* classes, std::size_t count) {
  static const luaL_Reg kEvents[] = {
      {"__gc", Collect}, {"__close", Collect}, {"__tostring", PushText}, {nullptr, nullptr}};
  for (const SocketClass* kind = classes; kind < classes + count; ++kind) {
    if (luaL_newmetatable(L, kind->name) != 0) {
      luaL_setfuncs(L, kEvents, 0);
      lua_pushboolean(L, 1);
      lua_setfield(L, -2, kind->group);
      luaL_newmetatable(L, kind->name);
      lua_newtable(L);
      luaL_setfuncs(L, kind->methods, 0);
      lua_pushstring(L, kind->name);
      lua_setfield(L, -2, "class");
      lua_setfield(L, -2, "__index");
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

Socket& PushSocket(lua_State* L, const SocketClass& kind, int family) {
  auto& socket = *static_cast<Socket*>(lua_newuserdatauv(L, sizeof(Socket), 0));
  socket = Socket{};
  socket.kind = &kind;
  socket.fd = kNoDescriptor;
  socket.family = socket.wanted = family;
  socket.block = socket.total = -1;
  socket.birthday = WallTime(L);
  luaL_setmetatable(L, kind.name);
  return socket;
}

void SetSocketClass(lua_State* L, int index, Socket& socket, const SocketClass& kind) {
  if (socket.kind == &kind) return;
  lua_pushvalue(L, index);
  luaL_setmetatable(L, kind.name);
  lua_pop(L, 1);
  socket.kind = &kind;
}

Socket* ToSocket(lua_State* L, int index) {
  Socket* const socket = ToSocketSized(L, index);
  if (socket == nullptr) return nullptr;
  const SocketClass* const kind = socket->kind;
  const bool is_one = IsIn(kTcpClasses, kind) || IsIn(kUdpClasses, kind) ||
                      IsIn(kUnixStreamClasses, kind) || IsIn(kUnixDatagramClasses, kind);
  return is_one ? socket : nullptr;
}

Socket& CheckSocket(lua_State* L, const SocketClass& kind) {
  Socket* const socket = ToSocketSized(L, 1);
  if (socket == nullptr || socket->kind != &kind) {
    luaL_argerror(L, 1, lua_pushfstring(L, "%s expected", kind.name));
  }
  if (socket->parcel != nullptr) TakeBackSocket(L, *socket);
  return *socket;
}

Socket& CheckSocketOf(lua_State* L, const SocketClass* classes, std::size_t count) {
  Socket* const socket = ToSocketSized(L, 1);
  if (socket == nullptr || socket->kind < classes || socket->kind >= classes + count) {
    luaL_argerror(L, 1, lua_pushfstring(L, "%s expected", classes->group));
  }
  if (socket->parcel != nullptr) TakeBackSocket(L, *socket);
  return *socket;
}

// --- Descriptors

int OpenSocket(Socket& socket, int family, int type) {
  const int fd = ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  if (family == AF_INET6) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
  }
  SetDescriptor(socket, fd);
  return 0;
}

void CloseSocket(Socket& socket) {
  if (socket.fd == kNoDescriptor) return;
  if (socket.descriptor != nullptr) {
    DropDescriptor(socket, Fate::kClose);
  } else {
    close(socket.fd);
  }
  socket.fd = kNoDescriptor;
}

void SetDescriptor(Socket& socket, int fd) {
  if (socket.descriptor != nullptr) DropDescriptor(socket, Fate::kKeep);
  socket.fd = fd;
}

int Close(lua_State* L, Socket& socket) {
  CloseSocket(socket);
  lua_pushinteger(L, 1);
  return 1;
}

int GetFd(lua_State* L, Socket& socket) {
  lua_pushinteger(L, socket.fd);
  return 1;
}

int SetFd(lua_State* L, Socket& socket) {
  const auto fd = static_cast<int>(luaL_checknumber(L, 2));
  SetDescriptor(socket, fd < 0 ? kNoDescriptor : fd);
  // Whatever it is: our calls must not block.
  const int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL, 0);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  return 0;
}

// --- Timeouts and statistics

int IsDirty(lua_State* L, Socket& socket) {
  lua_pushboolean(L, socket.buffer.empty() ? 0 : 1);
  return 1;
}

int SetTimeout(lua_State* L, Socket& socket) {
  const double time = luaL_optnumber(L, 2, -1);
  switch (*luaL_optstring(L, 3, "b")) {
    case 'b':
      socket.block = time;
      break;
    case 'r':
    case 't':
      socket.total = time;
      break;
    default:
      return luaL_argerror(L, 3, "invalid timeout mode");
  }
  lua_pushinteger(L, 1);
  return 1;
}

namespace {

// As an integer, where it is one: programs that print it see no ".0".
void PushSeconds(lua_State* L, double seconds) {
  lua_Integer integer = 0;
  if (lua_numbertointeger(seconds, &integer) && static_cast<double>(integer) == seconds) {
    lua_pushinteger(L, integer);
  } else {
    lua_pushnumber(L, seconds);
  }
}

}  // namespace

int GetTimeout(lua_State* L, Socket& socket) {
  PushSeconds(L, socket.block);
  PushSeconds(L, socket.total);
  return 2;
}

int GetStats(lua_State* L, Socket& socket) {
  PushSeconds(L, socket.received);
  PushSeconds(L, socket.sent);
  lua_pushnumber(L, WallTime(L) - socket.birthday);
  return 3;
}

int SetStats(lua_State* L, Socket& socket) {
  socket.received = std::trunc(luaL_optnumber(L, 2, socket.received));
  socket.sent = std::trunc(luaL_optnumber(L, 3, socket.sent));
  if (lua_isnumber(L, 4) != 0) socket.birthday = WallTime(L) - lua_tonumber(L, 4);
  lua_pushinteger(L, 1);
  return 1;
}

// --- Time

double WallTime(lua_State* L) {
  const core::Machine& machine = Process::Of(L).machine();
  if (machine.simulated()) {
    // The simulator stands behind `time`; its clock has the rest of the second.
    const std::chrono::duration<double> now = machine.clock.Now().time_since_epoch();
    return static_cast<double>(std::time(nullptr)) + std::fmod(now.count(), 1.0);
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count();
}

Duration ToDuration(double seconds) {
  constexpr double kMostSeconds = 9.2e9;  // that a Duration holds
  if (!(seconds < kMostSeconds)) return Duration::max();
  return Duration(static_cast<Duration::rep>(seconds * 1e9));
}

}  // namespace shoal::bindings
