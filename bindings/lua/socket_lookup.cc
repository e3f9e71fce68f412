// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "bindings/lua/shoal_library.h"
#include "bindings/lua/socket_error.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Process;
using core::Ref;
using core::Status;
using core::TimePoint;

// --- The question

Lookup::Lookup(const LookupQuestion& question)
    : kind_(question.kind),
      has_host_(question.host != nullptr),
      has_port_(question.port != nullptr),
      host_(has_host_ ? question.host : ""),
      port_(has_port_ ? question.port : ""),
      family_(question.family),
      type_(question.type),
      flags_(question.flags) {}

void Lookup::Run() {
  answer_.error = nullptr;
  try {
    switch (kind_) {
      case LookupQuestion::Kind::kAddresses:
        FindAddresses(0);
        break;
      case LookupQuestion::Kind::kNames:
        FindAddresses(0);
        FindNames();
        break;
      case LookupQuestion::Kind::kHost:
        FindHost();
        break;
    }
  } catch (const std::bad_alloc&) {
    answer_.error = LookupError(EAI_MEMORY, 0);
  }
  is_over_.store(true, std::memory_order_release);
}

bool Lookup::AnswerNumbers() {
  if (kind_ != LookupQuestion::Kind::kAddresses) return false;
  answer_.error = nullptr;
  FindAddresses(AI_NUMERICHOST);
  if (answer_.error != nullptr) return false;
  is_over_.store(true, std::memory_order_release);
  return true;
}

// --- The answer

void Lookup::FindAddresses(int more_flags) {
  addrinfo hints{};
  hints.ai_family = family_;
  hints.ai_socktype = type_;
  hints.ai_flags = flags_ | more_flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(has_host_ ? host_.c_str() : nullptr,
                               has_port_ ? port_.c_str() : nullptr, &hints, &found);
  if (code != 0) {
    answer_.error = LookupError(code, errno);
    return;
  }
  try {
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
      if (at->ai_addrlen > sizeof(sockaddr_in6)) continue;
      Address address{};
      std::memcpy(&address.any, at->ai_addr, at->ai_addrlen);
      address.size = at->ai_addrlen;
      answer_.addresses.push_back(address);
    }
  } catch (const std::bad_alloc&) {
    answer_.error = LookupError(EAI_MEMORY, 0);
  }
  freeaddrinfo(found);
}

void Lookup::FindNames() {
  if (answer_.error != nullptr) return;
  for (const Address& address : answer_.addresses) {
    char host[NI_MAXHOST] = "";
    char port[NI_MAXSERV] = "";
    getnameinfo(&address.any, address.size, host, has_host_ ? sizeof(host) : 0, port,
                has_port_ ? sizeof(port) : 0, 0);
    answer_.names.emplace_back(host);
    answer_.name = port;
  }
}

void Lookup::FindHost() {
  in_addr number{};
  const bool is_number = inet_aton(host_.c_str(), &number) != 0;
  hostent entry{};
  hostent* found = nullptr;
  int code = 0;
  std::string scratch(1024, '\0');
  int error = 0;
  for (;;) {
    error = is_number ? gethostbyaddr_r(&number, sizeof(number), AF_INET, &entry, scratch.data(),
                                        scratch.size(), &found, &code)
                      : gethostbyname_r(host_.c_str(), &entry, scratch.data(), scratch.size(),
                                        &found, &code);
    if (error != ERANGE) break;
    scratch.resize(scratch.size() * 2);
  }
  if (found == nullptr) {
    answer_.error = HostError(code);
    return;
  }
  answer_.name = found->h_name;
  for (char** alias = found->h_aliases; *alias != nullptr; ++alias) {
    answer_.names.emplace_back(*alias);
  }
  for (char** bytes = found->h_addr_list; *bytes != nullptr; ++bytes) {
    Address address{};
    address.inet.sin_family = AF_INET;
    std::memcpy(&address.inet.sin_addr, *bytes, sizeof(in_addr));
    address.size = sizeof(sockaddr_in);
    answer_.addresses.push_back(address);
  }
}

// --- Equal ones

Ref<Lookup> Lookups::Find(const LookupQuestion& question, bool* is_new) {
  // No character of a name is a zero byte.
  std::string key(question.host == nullptr ? "\1" : question.host);
  key += '\0';
  key += question.port == nullptr ? "\1" : question.port;
  for (const int part :
       {static_cast<int>(question.kind), question.family, question.type, question.flags}) {
    key += '\0';
    key += std::to_string(part);
  }
  const core::MutexLock lock(mu_);
  std::erase_if(running_, [](const auto& entry) { return entry.second->is_over(); });
  Ref<Lookup>& lookup = running_[key];
  *is_new = !lookup;
  if (*is_new) lookup = Ref<Lookup>::Adopt(new Lookup(question));
  return lookup;
}

// --- Calls

namespace {

constexpr char kBox[] = "shoal.lookup";

int CollectBox(lua_State* L) {
  auto** const lookup = static_cast<Lookup**>(lua_touserdata(L, 1));
  if (*lookup != nullptr) std::exchange(*lookup, nullptr)->Release();
  return 0;
}

Lookups& LookupsOf(lua_State* L) {
  const auto& library = static_cast<const ShoalLibrary&>(Process::Of(L).machine().library);
  return library.lookups();
}

// A lookup that has been answered, or one of those that run. Nothing in here raises; nullptr:
// memory is short.
Lookup* FindLookup(lua_State* L, const LookupQuestion& question) {
  try {
    Ref<Lookup> lookup = Ref<Lookup>::Adopt(new Lookup(question));
    if (!lookup->AnswerNumbers()) {
      bool is_new = false;
      lookup = LookupsOf(L).Find(question, &is_new);
      if (is_new && core::StartJob(L, *lookup) != Status::kOk) lookup->GiveUp();
    }
    lookup->AddRef();
    return lookup.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Describe(lua_State*, std::string& text) { text += " that looks up a name"; }

}  // namespace

Lookup& PushLookup(lua_State* L, const LookupQuestion& question) {
  auto** const box = static_cast<Lookup**>(lua_newuserdatauv(L, sizeof(Lookup*), 0));
  *box = nullptr;
  if (luaL_newmetatable(L, kBox) != 0) {
    lua_pushcfunction(L, CollectBox);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  *box = FindLookup(L, question);
  if (*box == nullptr) luaL_error(L, "not enough memory");
  return **box;
}

int WaitForLookup(lua_State* L, Lookup& lookup, TimePoint deadline, lua_KContext context,
                  lua_KFunction k) {
  if (lookup.is_over()) return k(L, LUA_OK, context);
  const Status status = core::AwaitJob(L, lookup, deadline, Describe);
  if (status == Status::kPending) return core::Suspend(L, context, k);
  if (status != Status::kOk) lookup.GiveUp();
  return k(L, LUA_OK, context);
}

const char* EndLookup(lua_State* L, Lookup& lookup, int status) {
  if (status == LUA_YIELD) {
    const Status outcome = core::EndWait(L);
    if (outcome == Status::kTimeout) return kTimeoutWord;
    if (outcome != Status::kOk) lookup.GiveUp();
  }
  return lookup.answer().error;
}

}  // namespace shoal::bindings
