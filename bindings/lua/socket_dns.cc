// SPDX-License-Identifier: MIT
// socket.dns: toip, tohostname, getaddrinfo, getnameinfo, gethostname.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "bindings/lua/socket_address.h"
#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_lookup.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

namespace {

// Pushes the answer to a question that has been answered; returns the number of values. The box of
// the lookup keeps it.
using PushAnswer = int (*)(lua_State* L, const LookupAnswer& answer);

int Answered(lua_State* L, int status, lua_KContext context) {
  Lookup& lookup = LookupOnTop(L);
  const char* const word = EndLookup(L, lookup, status);
  if (word != nullptr) return PushSocketError(L, word);
  return reinterpret_cast<PushAnswer>(context)(L, lookup.answer());
}

// The arguments are checked, and the turn is not over.
int Ask(lua_State* L, const LookupQuestion& question, PushAnswer push) {
  Lookup& lookup = PushLookup(L, question);
  return WaitForLookup(L, lookup, core::kNever, reinterpret_cast<lua_KContext>(push), Answered);
}

// --- toip, tohostname

// { name =, ip = { … }, alias = { … } }
void PushHostTable(lua_State* L, const LookupAnswer& answer) {
  lua_createtable(L, 0, 3);
  lua_pushlstring(L, answer.name.data(), answer.name.size());
  lua_setfield(L, -2, "name");
  lua_newtable(L);
  lua_Integer count = 0;
  for (const Address& address : answer.addresses) {
    PushHost(L, address);
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, "ip");
  lua_newtable(L);
  count = 0;
  for (const std::string& name : answer.names) {
    lua_pushlstring(L, name.data(), name.size());
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, "alias");
}

int PushIp(lua_State* L, const LookupAnswer& answer) {
  if (answer.addresses.empty()) return PushSocketError(L, "host not found");
  PushHost(L, answer.addresses.front());
  PushHostTable(L, answer);
  return 2;
}

int PushHostName(lua_State* L, const LookupAnswer& answer) {
  lua_pushlstring(L, answer.name.data(), answer.name.size());
  PushHostTable(L, answer);
  return 2;
}

int AskForHost(lua_State* L, PushAnswer push) {
  LookupQuestion question;
  question.kind = LookupQuestion::Kind::kHost;
  question.host = luaL_checkstring(L, 1);
  return Ask(L, question, push);
}

template <PushAnswer kPush>
int Host(lua_State* L);

template <PushAnswer kPush>
int HostAgain(lua_State* L, int, lua_KContext) {
  return Host<kPush>(L);
}

template <PushAnswer kPush>
int Host(lua_State* L) {
  luaL_checkstring(L, 1);
  if (core::BeforeWait(L)) return core::YieldTurn(L, HostAgain<kPush>);
  return AskForHost(L, kPush);
}

// --- getaddrinfo

int PushAddresses(lua_State* L, const LookupAnswer& answer) {
  lua_createtable(L, static_cast<int>(answer.addresses.size()), 0);
  lua_Integer count = 0;
  for (const Address& address : answer.addresses) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, FamilyName(address.family()));
    lua_setfield(L, -2, "family");
    PushHost(L, address);
    lua_setfield(L, -2, "addr");
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

int GetAddressesAgain(lua_State* L, int, lua_KContext);

int GetAddresses(lua_State* L) {
  luaL_checkstring(L, 1);
  if (core::BeforeWait(L)) return core::YieldTurn(L, GetAddressesAgain);
  LookupQuestion question;
  question.host = lua_tostring(L, 1);
  question.type = SOCK_STREAM;
  return Ask(L, question, PushAddresses);
}

int GetAddressesAgain(lua_State* L, int, lua_KContext) { return GetAddresses(L); }

// --- getnameinfo

// The names of the host, if there is one; and that of the port, if there is one.
int PushNames(lua_State* L, const LookupAnswer& answer) {
  lua_newtable(L);
  if (!lua_isnoneornil(L, 1)) {
    lua_Integer count = 0;
    for (const std::string& name : answer.names) {
      lua_pushlstring(L, name.data(), name.size());
      lua_rawseti(L, -2, ++count);
    }
  }
  if (lua_isnoneornil(L, 2)) return 1;
  lua_pushlstring(L, answer.name.data(), answer.name.size());
  return 2;
}

int GetNamesAgain(lua_State* L, int, lua_KContext);

int GetNames(lua_State* L) {
  lua_settop(L, 2);
  LookupQuestion question;
  question.kind = LookupQuestion::Kind::kNames;
  question.host = luaL_optstring(L, 1, nullptr);
  question.port = luaL_optstring(L, 2, nullptr);
  question.type = SOCK_STREAM;
  if (question.host == nullptr && question.port == nullptr) {
    return luaL_error(L, "host and serv cannot be both nil");
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, GetNamesAgain);
  return Ask(L, question, PushNames);
}

int GetNamesAgain(lua_State* L, int, lua_KContext) { return GetNames(L); }

// --- gethostname

int GetHostName(lua_State* L) {
  char name[257] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return PushSocketError(L, SocketError(errno));
  lua_pushstring(L, name);
  return 1;
}

}  // namespace

void OpenDns(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"toip", Host<PushIp>},    {"tohostname", Host<PushHostName>}, {"getaddrinfo", GetAddresses},
      {"getnameinfo", GetNames}, {"gethostname", GetHostName},       {nullptr, nullptr}};
  luaL_newlib(L, kFunctions);
  lua_setfield(L, -2, "dns");
}

}  // namespace shoal::bindings
