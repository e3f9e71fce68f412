// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_options.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "bindings/lua/socket_error.h"

namespace shoal::bindings {

namespace {

struct Option {
  const char* name;
  int level;
  int number;
  int (*run)(lua_State* L, const Socket& socket, const Option& option);
};

constexpr int kValue = 3;

int SetValue(lua_State* L, const Socket& socket, const Option& option, const void* value,
             socklen_t size) {
  if (setsockopt(socket.fd, option.level, option.number, value, size) != 0) {
    return PushSocketError(L, "setsockopt failed");
  }
  lua_pushinteger(L, 1);
  return 1;
}

bool GetValue(const Socket& socket, const Option& option, void* value, socklen_t size) {
  return getsockopt(socket.fd, option.level, option.number, value, &size) == 0;
}

int PushUnknown(lua_State* L) { return PushSocketError(L, "getsockopt failed"); }

int TypeError(lua_State* L, const char* expected) {
  return luaL_argerror(
      L, kValue, lua_pushfstring(L, "%s expected, got %s", expected, luaL_typename(L, kValue)));
}

// --- Kinds of values

int GetBoolean(lua_State* L, const Socket& socket, const Option& option) {
  int value = 0;
  if (!GetValue(socket, option, &value, sizeof(value))) return PushUnknown(L);
  lua_pushboolean(L, value);
  return 1;
}

int SetBoolean(lua_State* L, const Socket& socket, const Option& option) {
  if (lua_type(L, kValue) != LUA_TBOOLEAN) TypeError(L, "boolean");
  const int value = lua_toboolean(L, kValue);
  return SetValue(L, socket, option, &value, sizeof(value));
}

int GetInteger(lua_State* L, const Socket& socket, const Option& option) {
  int value = 0;
  if (!GetValue(socket, option, &value, sizeof(value))) return PushUnknown(L);
  lua_pushinteger(L, value);
  return 1;
}

int SetInteger(lua_State* L, const Socket& socket, const Option& option) {
  const auto value = static_cast<int>(lua_tonumber(L, kValue));
  return SetValue(L, socket, option, &value, sizeof(value));
}

int GetError(lua_State* L, const Socket& socket, const Option& option) {
  int value = 0;
  if (!GetValue(socket, option, &value, sizeof(value))) return PushUnknown(L);
  if (value == 0) {
    lua_pushnil(L);
  } else {
    lua_pushstring(L, SocketError(value));
  }
  return 1;
}

// Pushes the field of the table that is the value, as its string; raises if it is none.
const char* CheckTextField(lua_State* L, const char* name) {
  lua_getfield(L, kValue, name);
  if (lua_isstring(L, -1) == 0) {
    luaL_argerror(L, kValue, lua_pushfstring(L, "string '%s' field expected", name));
  }
  return lua_tostring(L, -1);
}

int GetLinger(lua_State* L, const Socket& socket, const Option& option) {
  linger value{};
  if (!GetValue(socket, option, &value, sizeof(value))) return PushUnknown(L);
  lua_createtable(L, 0, 2);
  lua_pushboolean(L, value.l_onoff);
  lua_setfield(L, -2, "on");
  lua_pushinteger(L, value.l_linger);
  lua_setfield(L, -2, "timeout");
  return 1;
}

int SetLinger(lua_State* L, const Socket& socket, const Option& option) {
  if (lua_type(L, kValue) != LUA_TTABLE) TypeError(L, "table");
  lua_getfield(L, kValue, "on");
  luaL_argcheck(L, lua_isboolean(L, -1), kValue, "boolean 'on' field expected");
  lua_getfield(L, kValue, "timeout");
  luaL_argcheck(L, lua_isnumber(L, -1), kValue, "number 'timeout' field expected");
  linger value{};
  value.l_onoff = lua_toboolean(L, -2);
  value.l_linger = static_cast<std::uint16_t>(lua_tonumber(L, -1));
  return SetValue(L, socket, option, &value, sizeof(value));
}

int GetInterface(lua_State* L, const Socket& socket, const Option& option) {
  in_addr value{};
  if (!GetValue(socket, option, &value, sizeof(value))) return PushUnknown(L);
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &value, text, sizeof(text));
  lua_pushstring(L, text);
  return 1;
}

int SetInterface(lua_State* L, const Socket& socket, const Option& option) {
  const char* const address = luaL_checkstring(L, kValue);
  in_addr value{};
  if (std::strcmp(address, "*") != 0 && inet_aton(address, &value) == 0) {
    return luaL_argerror(L, kValue, "ip expected");
  }
  return SetValue(L, socket, option, &value, sizeof(value));
}

int SetMembership(lua_State* L, const Socket& socket, const Option& option) {
  if (lua_type(L, kValue) != LUA_TTABLE) TypeError(L, "table");
  ip_mreq value{};
  if (inet_aton(CheckTextField(L, "multiaddr"), &value.imr_multiaddr) == 0) {
    return luaL_argerror(L, kValue, "invalid 'multiaddr' ip address");
  }
  const char* const interface = CheckTextField(L, "interface");
  if (std::strcmp(interface, "*") != 0 && inet_aton(interface, &value.imr_interface) == 0) {
    return luaL_argerror(L, kValue, "invalid 'interface' ip address");
  }
  return SetValue(L, socket, option, &value, sizeof(value));
}

int SetMembership6(lua_State* L, const Socket& socket, const Option& option) {
  if (lua_type(L, kValue) != LUA_TTABLE) TypeError(L, "table");
  ipv6_mreq value{};
  if (inet_pton(AF_INET6, CheckTextField(L, "multiaddr"), &value.ipv6mr_multiaddr) != 1) {
    return luaL_argerror(L, kValue, "invalid 'multiaddr' ip address");
  }
  if (lua_getfield(L, kValue, "interface") != LUA_TNIL) {
    luaL_argcheck(L, lua_isnumber(L, -1), kValue, "number 'interface' field expected");
    value.ipv6mr_interface = static_cast<unsigned int>(lua_tonumber(L, -1));
  }
  return SetValue(L, socket, option, &value, sizeof(value));
}

// --- The options

constexpr Option kGetTcp[] = {{"keepalive", SOL_SOCKET, SO_KEEPALIVE, GetBoolean},
                              {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, GetBoolean},
                              {"reuseport", SOL_SOCKET, SO_REUSEPORT, GetBoolean},
                              {"tcp-nodelay", IPPROTO_TCP, TCP_NODELAY, GetBoolean},
                              {"tcp-keepidle", IPPROTO_TCP, TCP_KEEPIDLE, GetInteger},
                              {"tcp-keepcnt", IPPROTO_TCP, TCP_KEEPCNT, GetInteger},
                              {"tcp-keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, GetInteger},
                              {"linger", SOL_SOCKET, SO_LINGER, GetLinger},
                              {"error", SOL_SOCKET, SO_ERROR, GetError},
                              {"recv-buffer-size", SOL_SOCKET, SO_RCVBUF, GetInteger},
                              {"send-buffer-size", SOL_SOCKET, SO_SNDBUF, GetInteger},
                              {nullptr, 0, 0, nullptr}};

constexpr Option kSetTcp[] = {
    {"keepalive", SOL_SOCKET, SO_KEEPALIVE, SetBoolean},
    {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, SetBoolean},
    {"reuseport", SOL_SOCKET, SO_REUSEPORT, SetBoolean},
    {"tcp-nodelay", IPPROTO_TCP, TCP_NODELAY, SetBoolean},
    {"tcp-keepidle", IPPROTO_TCP, TCP_KEEPIDLE, SetInteger},
    {"tcp-keepcnt", IPPROTO_TCP, TCP_KEEPCNT, SetInteger},
    {"tcp-keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, SetInteger},
    {"ipv6-v6only", IPPROTO_IPV6, IPV6_V6ONLY, SetBoolean},
    {"linger", SOL_SOCKET, SO_LINGER, SetLinger},
    {"recv-buffer-size", SOL_SOCKET, SO_RCVBUF, SetInteger},
    {"send-buffer-size", SOL_SOCKET, SO_SNDBUF, SetInteger},
    {"tcp-defer-accept", IPPROTO_TCP, TCP_DEFER_ACCEPT, SetInteger},
    {"tcp-fastopen", IPPROTO_TCP, TCP_FASTOPEN, SetInteger},
    {"tcp-fastopen-connect", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, SetInteger},
    {nullptr, 0, 0, nullptr}};

constexpr Option kGetUdp[] = {
    {"dontroute", SOL_SOCKET, SO_DONTROUTE, GetBoolean},
    {"broadcast", SOL_SOCKET, SO_BROADCAST, GetBoolean},
    {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, GetBoolean},
    {"reuseport", SOL_SOCKET, SO_REUSEPORT, GetBoolean},
    {"ip-multicast-if", IPPROTO_IP, IP_MULTICAST_IF, GetInterface},
    {"ip-multicast-loop", IPPROTO_IP, IP_MULTICAST_LOOP, GetBoolean},
    {"error", SOL_SOCKET, SO_ERROR, GetError},
    {"ipv6-unicast-hops", IPPROTO_IPV6, IPV6_UNICAST_HOPS, GetInteger},
    {"ipv6-multicast-hops", IPPROTO_IPV6, IPV6_MULTICAST_HOPS, GetInteger},
    {"ipv6-multicast-loop", IPPROTO_IPV6, IPV6_MULTICAST_LOOP, GetBoolean},
    {"ipv6-v6only", IPPROTO_IPV6, IPV6_V6ONLY, GetBoolean},
    {"recv-buffer-size", SOL_SOCKET, SO_RCVBUF, GetInteger},
    {"send-buffer-size", SOL_SOCKET, SO_SNDBUF, GetInteger},
    {nullptr, 0, 0, nullptr}};

constexpr Option kSetUdp[] = {
    {"dontroute", SOL_SOCKET, SO_DONTROUTE, SetBoolean},
    {"broadcast", SOL_SOCKET, SO_BROADCAST, SetBoolean},
    {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, SetBoolean},
    {"reuseport", SOL_SOCKET, SO_REUSEPORT, SetBoolean},
    {"ip-multicast-if", IPPROTO_IP, IP_MULTICAST_IF, SetInterface},
    {"ip-multicast-ttl", IPPROTO_IP, IP_MULTICAST_TTL, SetInteger},
    {"ip-multicast-loop", IPPROTO_IP, IP_MULTICAST_LOOP, SetBoolean},
    {"ip-add-membership", IPPROTO_IP, IP_ADD_MEMBERSHIP, SetMembership},
    {"ip-drop-membership", IPPROTO_IP, IP_DROP_MEMBERSHIP, SetMembership},
    {"ipv6-unicast-hops", IPPROTO_IPV6, IPV6_UNICAST_HOPS, SetInteger},
    {"ipv6-multicast-hops", IPPROTO_IPV6, IPV6_MULTICAST_HOPS, SetInteger},
    {"ipv6-multicast-loop", IPPROTO_IPV6, IPV6_MULTICAST_LOOP, SetBoolean},
    {"ipv6-add-membership", IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, SetMembership6},
    {"ipv6-drop-membership", IPPROTO_IPV6, IPV6_DROP_MEMBERSHIP, SetMembership6},
    {"ipv6-v6only", IPPROTO_IPV6, IPV6_V6ONLY, SetBoolean},
    {"recv-buffer-size", SOL_SOCKET, SO_RCVBUF, SetInteger},
    {"send-buffer-size", SOL_SOCKET, SO_SNDBUF, SetInteger},
    {nullptr, 0, 0, nullptr}};

constexpr Option kSetUnix[] = {{"keepalive", SOL_SOCKET, SO_KEEPALIVE, SetBoolean},
                               {"reuseaddr", SOL_SOCKET, SO_REUSEADDR, SetBoolean},
                               {"linger", SOL_SOCKET, SO_LINGER, SetLinger},
                               {nullptr, 0, 0, nullptr}};

int Run(lua_State* L, const Socket& socket, const Option* option) {
  const char* const name = luaL_checkstring(L, 2);
  while (option->name != nullptr && std::strcmp(option->name, name) != 0) ++option;
  if (option->name == nullptr) {
    char text[64];
    std::snprintf(text, sizeof(text), "unsupported option `%.35s'", name);
    return luaL_argerror(L, 2, text);
  }
  return option->run(L, socket, *option);
}

}  // namespace

int GetTcpOption(lua_State* L, Socket& socket) { return Run(L, socket, kGetTcp); }
int SetTcpOption(lua_State* L, Socket& socket) { return Run(L, socket, kSetTcp); }
int GetUdpOption(lua_State* L, Socket& socket) { return Run(L, socket, kGetUdp); }
int SetUdpOption(lua_State* L, Socket& socket) { return Run(L, socket, kSetUdp); }
int SetUnixOption(lua_State* L, Socket& socket) { return Run(L, socket, kSetUnix); }

}  // namespace shoal::bindings
