// SPDX-License-Identifier: MIT
// socket.udp, udp4 and udp6, and the methods of what they make.
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "bindings/lua/socket_address.h"
#include "bindings/lua/socket_connect.h"
#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_datagram.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/socket_options.h"

namespace shoal::bindings {

using core::Direction;

namespace {

int TrySendToPeer(lua_State* L, Socket& socket) { return TrySend(L, socket, nullptr, 0); }

// The address of numbers. 0, or an error of getaddrinfo.
int ReadAddress(const char* host, const char* port, int family, Address* address) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host, port, &hints, &found);
  if (code != 0) return code;
  std::memcpy(&address->any, found->ai_addr, found->ai_addrlen);
  address->size = found->ai_addrlen;
  freeaddrinfo(found);
  return 0;
}

// udp:sendto(data, ip, port)
int TrySendTo(lua_State* L, Socket& socket) {
  luaL_checkstring(L, 2);
  const char* const host = luaL_checkstring(L, 3);
  const char* const port = luaL_checkstring(L, 4);
  Address address{};
  const int code = ReadAddress(host, port, socket.wanted, &address);
  if (code != 0) return PushSocketError(L, gai_strerror(code));
  if (socket.fd == kNoDescriptor && socket.wanted == AF_UNSPEC) {
    const int error = OpenSocket(socket, address.family(), SOCK_DGRAM);
    if (error != 0) return PushSocketError(L, SocketError(error));
    socket.family = socket.wanted = address.family();
  }
  return TrySend(L, socket, &address.any, address.size);
}

// udp:receive([size])
int TryReceiveFromAny(lua_State* L, Socket& socket) {
  if (socket.fd == kNoDescriptor) {
    // Not an error: LuaSocket cannot tell it from an empty datagram.
    lua_pushliteral(L, "");
    return 1;
  }
  return TryReceive(L, socket, nullptr, nullptr);
}

// udp:receivefrom([size]) → data, ip, port
int TryReceiveFrom(lua_State* L, Socket& socket) {
  if (socket.fd == kNoDescriptor) return PushSocketError(L, kClosedWord);
  Address address{};
  address.size = sizeof(sockaddr_in6);
  const int count = TryReceive(L, socket, &address.any, &address.size);
  if (count != 1) return count;
  PushHost(L, address);
  lua_pushinteger(L, PortOf(address));
  return 3;
}

int IsNeverDirty(lua_State* L, Socket&) {
  lua_pushboolean(L, 0);
  return 1;
}

const luaL_Reg kMethods[] = {
    {"close", OfAny<kUdpClasses, Close>},
    {"dirty", OfAny<kUdpClasses, IsNeverDirty>},
    {"getfamily", OfAny<kUdpClasses, GetFamily>},
    {"getfd", OfAny<kUdpClasses, GetFd>},
    {"getoption", OfAny<kUdpClasses, GetUdpOption>},
    {"getpeername", OfClass<kUdpClasses, kConnected, GetPeerName>},
    {"getsockname", OfAny<kUdpClasses, GetSockName>},
    {"gettimeout", OfAny<kUdpClasses, GetTimeout>},
    {"receive", OfAny<kUdpClasses, DatagramCall<Direction::kRead, TryReceiveFromAny>>},
    {"receivefrom",
     OfClass<kUdpClasses, kUnconnected, DatagramCall<Direction::kRead, TryReceiveFrom>>},
    {"send", OfClass<kUdpClasses, kConnected, DatagramCall<Direction::kWrite, TrySendToPeer>>},
    {"sendto", OfClass<kUdpClasses, kUnconnected, DatagramCall<Direction::kWrite, TrySendTo>>},
    {"setfd", OfAny<kUdpClasses, SetFd>},
    {"setoption", OfAny<kUdpClasses, SetUdpOption>},
    {"setpeername", OfAny<kUdpClasses, SetUdpPeer>},
    {"setsockname", OfClass<kUdpClasses, kUnconnected, BindAs<SOCK_DGRAM>>},
    {"settimeout", OfAny<kUdpClasses, SetTimeout>},
    {nullptr, nullptr}};

template <int kFamily>
int NewUdp(lua_State* L) {
  Socket& socket = PushSocket(L, kUdpClasses[kUnconnected], kFamily);
  if (kFamily == AF_UNSPEC) return 1;  // it gets a descriptor when its family is known
  const int error = OpenSocket(socket, kFamily, SOCK_DGRAM);
  return error == 0 ? 1 : PushSocketError(L, SocketError(error));
}

}  // namespace

const SocketClass kUdpClasses[2] = {{"udp{unconnected}", "udp{any}", kMethods},
                                    {"udp{connected}", "udp{any}", kMethods}};

void OpenUdp(lua_State* L) {
  static const luaL_Reg kFunctions[] = {{"udp", NewUdp<AF_UNSPEC>},
                                        {"udp4", NewUdp<AF_INET>},
                                        {"udp6", NewUdp<AF_INET6>},
                                        {nullptr, nullptr}};
  MakeSocketClasses(L, kUdpClasses, std::size(kUdpClasses));
  for (const SocketClass& kind : kUdpClasses) {
    luaL_getmetatable(L, kind.name);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "select{able}");
    lua_pop(L, 1);
  }
  luaL_setfuncs(L, kFunctions, 0);
  lua_pushinteger(L, 8192);
  lua_setfield(L, -2, "_DATAGRAMSIZE");
}

}  // namespace shoal::bindings
