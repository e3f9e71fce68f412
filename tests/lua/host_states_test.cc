// SPDX-License-Identifier: MIT
// A program of its own: once there has been a host, states on threads that are not the runtime's
// are looked for among the hosts.
#include "runtime/lua/host_states.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "runtime/lua/state_record.h"

using shoal::core::HostStates;
using shoal::core::MarkSuspendedChain;
using shoal::core::OnSuspendedChain;
using shoal::core::RecordOf;
using shoal::core::StateRecord;

namespace {

// As a stranger makes it, with something of his own in the extra space.
class Stranger {
 public:
  Stranger() { *static_cast<void**>(lua_getextraspace(L_)) = this; }
  ~Stranger() { lua_close(L_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  [[nodiscard]] lua_State* L() const { return L_; }

 private:
  lua_State* const L_ = luaL_newstate();
};

int AskForHost(lua_State* L) {
  shoal::core::HostOf(L);
  return 0;
}

}  // namespace

TEST_CASE("each host state has the record that was added for it, in all its coroutines") {
  const Stranger one;
  const Stranger other;
  StateRecord records[2];
  HostStates::Entry entries[2];
  REQUIRE(HostStates::Add(one.L(), entries[0], records[0]));
  REQUIRE(HostStates::Add(other.L(), entries[1], records[1]));
  REQUIRE(&RecordOf(one.L()) == &records[0]);
  REQUIRE(&RecordOf(other.L()) == &records[1]);
  REQUIRE(&RecordOf(lua_newthread(one.L())) == &records[0]);
  StateRecord next;
  HostStates::Change(entries[0], next);
  REQUIRE(&RecordOf(one.L()) == &next);
  HostStates::Remove(entries[0]);
  REQUIRE(RecordOf(one.L()).host == nullptr);
  REQUIRE(&RecordOf(one.L()) != &next);
  REQUIRE(&RecordOf(other.L()) == &records[1]);
  HostStates::Remove(entries[1]);
}

TEST_CASE("another thread finds the record, too") {
  const Stranger host;
  StateRecord record;
  HostStates::Entry entry;
  REQUIRE(HostStates::Add(host.L(), entry, record));
  StateRecord* found = nullptr;
  std::thread([&] { found = &RecordOf(host.L()); }).join();
  HostStates::Remove(entry);
  REQUIRE(found == &record);
}

TEST_CASE("the coroutines of a host are not marked") {
  const Stranger host;
  StateRecord record;
  HostStates::Entry entry;
  REQUIRE(HostStates::Add(host.L(), entry, record));
  lua_State* const co = lua_newthread(host.L());
  MarkSuspendedChain(co, true);
  REQUIRE_FALSE(OnSuspendedChain(co));
  REQUIRE(*static_cast<const void* const*>(lua_getextraspace(co)) == &host);
  HostStates::Remove(entry);
}

TEST_CASE("who asks for a host where there is none any more gets an error") {
  const Stranger host;
  StateRecord record;
  HostStates::Entry entry;
  REQUIRE(HostStates::Add(host.L(), entry, record));
  HostStates::Remove(entry);
  lua_pushcfunction(host.L(), AskForHost);
  REQUIRE(lua_pcall(host.L(), 0, 0, 0) == LUA_ERRRUN);
  REQUIRE(std::string(lua_tostring(host.L(), -1)).find("any more") != std::string::npos);
}

TEST_CASE("in a child that was forked, no host is known") {
  const Stranger host;
  StateRecord record;
  HostStates::Entry entry;
  REQUIRE(HostStates::Add(host.L(), entry, record));
  REQUIRE(&RecordOf(host.L()) == &record);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(&RecordOf(host.L()) == &record ? 1 : 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(&RecordOf(host.L()) == &record);
  HostStates::Remove(entry);
}
