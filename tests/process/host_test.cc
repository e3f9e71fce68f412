// SPDX-License-Identifier: MIT
// The process of a host. More of it, with the stock interpreter, is in tests/module.
#include <catch2/catch.hpp>
#include <chrono>
#include <lua.hpp>
#include <string>

#include "bindings/lua/shoal_library.h"
#include "runtime/base/clock.h"
#include "runtime/lua/host_states.h"
#include "runtime/process/process.h"
#include "runtime/runtime.h"
#include "tests/support/script_runner.h"

using namespace shoal;
using core::Status;

namespace {

// A state of a stranger, with a runtime.
class HostFixture final : private core::HostExit {
 public:
  HostFixture() {
    luaL_openlibs(L_);
    REQUIRE(runtime_.StartWithHost(L_) == Status::kOk);
    REQUIRE(core::HostStates::Add(L_, entry_, host().record()));
    luaL_requiref(L_, "shoal", bindings::LoadShoal, 1);
    lua_settop(L_, 0);
  }
  ~HostFixture() {
    if (!ended_) End();
    REQUIRE(runtime_.Shutdown(std::chrono::seconds(10)));
    // Handles give their references back meanwhile.
    lua_close(L_);
    core::HostStates::Remove(entry_);
  }
  HostFixture(const HostFixture&) = delete;
  HostFixture& operator=(const HostFixture&) = delete;

  [[nodiscard]] core::Process& host() { return runtime_.host(); }
  // Returns what the source returns, or the error, as text.
  std::string Run(const std::string& source) {
    luaL_loadstring(L_, source.c_str());
    lua_pcall(L_, 0, 1, 0);
    std::string result = luaL_tolstring(L_, -1, nullptr);
    lua_settop(L_, 0);
    return result;
  }
  void End() {
    ended_ = true;
    host().FinishHost();
  }
  core::Runtime& runtime() { return runtime_; }
  std::string log() { return log_.text(); }

 private:
  void OnExitRequested() override {}

  test::CollectedLog log_;
  const core::SteadyClock clock_;
  const bindings::ShoalLibrary library_;
  core::Runtime runtime_{
      {.workers = 2, .clock = clock_, .log = log_, .library = library_, .host_exit = this}};
  lua_State* const L_ = luaL_newstate();
  core::HostStates::Entry entry_;
  bool ended_ = false;
};

}  // namespace

TEST_CASE("a host is process 0 and is not waited for") {
  HostFixture host;
  REQUIRE(host.host().id() == 0);
  REQUIRE(host.host().is_host());
  REQUIRE_FALSE(host.host().awaited());
  REQUIRE(host.Run("return shoal.self().id") == "0");
  REQUIRE(host.Run("return shoal.wait()") == "true");
}

TEST_CASE("a host that waits runs its tasks, and a deadlock is raised in it") {
  HostFixture host;
  REQUIRE(host.Run("return shoal.task(function() shoal.sleep(0.001) return 7 end):result()") ==
          "7");
  REQUIRE(host.Run("shoal.channel():receive('k')").find("deadlock") != std::string::npos);
}

TEST_CASE("a host that returns to its own code is no part of a rest") {
  HostFixture host;
  // Were it taken for one that waits, the process would be cancelled as in a deadlock.
  REQUIRE(
      host.Run(
          "local c = shoal.channel() local p = shoal.spawn(function() return c:receive('k') end)"
          "while p:status() ~= 'waiting' do end "
          "for _ = 1, 1e6 do end "
          "c:send('k', 7) return p:result()") == "7");
}

TEST_CASE("the end of a host drops its tasks wherever they are") {
  HostFixture host;
  REQUIRE(host.Run("local c = shoal.channel()"
                   "shoal.task(function() c:receive('k') end)"
                   "shoal.task(function() shoal.sleep(60) end)"
                   "shoal.sleep(0.001)"
                   "shoal.task(function() error('has not begun') end)") == "nil");
  host.End();
  REQUIRE(host.runtime().WaitForEnd() == 0);
  REQUIRE(host.log().empty());
}

TEST_CASE("the end of a host is waited for as that of a process") {
  HostFixture host;
  REQUIRE(host.Run("shoal.spawn({ name = 'joins' }, function(h) assert(h:join()) end, "
                   "shoal.self())") != "nil ");
  host.End();
  REQUIRE(host.runtime().WaitForEnd() == 0);
  REQUIRE(host.log().empty());
}

TEST_CASE("the program goes on while a process of an ended host can run") {
  // A thread that stands still may look too late.
  bool goes_on = false;
  for (int attempt = 0; attempt < 20 && !goes_on; ++attempt) {
    HostFixture host;
    REQUIRE(host.Run("shoal.spawn(function() require('shoal').sleep(0.05) end) return 1") == "1");
    host.End();
    goes_on = !host.runtime().WaitForEnd(core::Duration::zero());
    REQUIRE(host.runtime().WaitForEnd() == 0);
  }
  REQUIRE(goes_on);
}
