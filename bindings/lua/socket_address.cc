// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <cerrno>

#include "bindings/lua/socket_error.h"

namespace shoal::bindings {

const char* FamilyName(int family) {
  switch (family) {
    case AF_INET:
      return "inet";
    case AF_INET6:
      return "inet6";
    case AF_UNSPEC:
      return "unspec";
    default:
      return "unknown";
  }
}

int CheckFamily(lua_State* L, int arg) {
  static const char* const kNames[] = {"unspec", "inet", "inet6", nullptr};
  static constexpr int kFamilies[] = {AF_UNSPEC, AF_INET, AF_INET6};
  return kFamilies[luaL_checkoption(L, arg, "unspec", kNames)];
}

namespace {

struct HostText {
  char text[INET6_ADDRSTRLEN] = "";

  explicit HostText(const Address& address) {
    if (address.family() == AF_INET) {
      inet_ntop(AF_INET, &address.inet.sin_addr, text, sizeof(text));
    } else if (address.family() == AF_INET6) {
      inet_ntop(AF_INET6, &address.inet6.sin6_addr, text, sizeof(text));
    }
  }
};

}  // namespace

void PushHost(lua_State* L, const Address& address) {
  const HostText host(address);
  if (address.family() == AF_INET6) {
    char interface[IF_NAMESIZE];
    const std::uint32_t scope = address.inet6.sin6_scope_id;
    if (scope != 0 && IN6_IS_ADDR_LINKLOCAL(&address.inet6.sin6_addr) &&
        if_indextoname(scope, interface) != nullptr) {
      lua_pushfstring(L, "%s%%%s", host.text, interface);
      return;
    }
  }
  lua_pushstring(L, host.text);
}

int PortOf(const Address& address) {
  // At the same place in both families.
  return ntohs(address.inet.sin_port);
}

void AppendAddress(const Socket& socket, std::string& text) {
  Address address{};
  address.size = sizeof(sockaddr_in6);
  if (getpeername(socket.fd, &address.any, &address.size) != 0) {
    address.size = sizeof(sockaddr_in6);
    if (getsockname(socket.fd, &address.any, &address.size) != 0) return;
  }
  const HostText host(address);
  if (host.text[0] == '\0') return;
  const bool is_inet6 = address.family() == AF_INET6;
  text += is_inet6 ? " [" : " ";
  text += host.text;
  text += is_inet6 ? "]:" : ":";
  text += std::to_string(PortOf(address));
}

namespace {

using GetName = int (*)(int, sockaddr*, socklen_t*);

int PushName(lua_State* L, const Socket& socket, GetName get_name) {
  Address address{};
  address.size = sizeof(sockaddr_in6);
  if (get_name(socket.fd, &address.any, &address.size) != 0) {
    return PushSocketError(L, SocketError(errno));
  }
  PushHost(L, address);
  lua_pushinteger(L, PortOf(address));
  lua_pushstring(L, FamilyName(socket.family));
  return 3;
}

}  // namespace

int GetPeerName(lua_State* L, Socket& socket) { return PushName(L, socket, getpeername); }

int GetSockName(lua_State* L, Socket& socket) { return PushName(L, socket, getsockname); }

int GetFamily(lua_State* L, Socket& socket) {
  lua_pushstring(L, socket.family == AF_INET6 ? "inet6" : "inet4");
  return 1;
}

}  // namespace shoal::bindings
