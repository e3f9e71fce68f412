// SPDX-License-Identifier: MIT
// States of the program that take part in a runtime.
#include <shoal/host.h>
#include <shoal/shoal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <lua.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/cpp/lua_runner.h"
#include "tests/support/eventually.h"

namespace {

using shoal::Module;
using shoal::OpenHost;
using shoal::Runtime;
using shoal::Status;
using shoal::core::Times;
using shoal::test::RunLua;

class State {
 public:
  State() : L_(luaL_newstate()) { luaL_openlibs(L_); }
  ~State() { Close(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void Close() {
    if (L_ != nullptr) lua_close(std::exchange(L_, nullptr));
  }
  lua_State* get() { return L_; }

  // Its first result, or the error, as text.
  std::string Run(const std::string& source) {
    lua_settop(L_, 0);
    if (luaL_loadstring(L_, source.c_str()) == LUA_OK) lua_pcall(L_, 0, 1, 0);
    return luaL_tolstring(L_, -1, nullptr);
  }

 private:
  lua_State* L_;
};

TEST_CASE("a state of the program takes part: channels, processes, tasks, modules, globals") {
  Runtime runtime({.workers = 2});
  REQUIRE(runtime.AddLuaModule("m", "return 'of the program'"));
  REQUIRE(runtime.SetGlobal("double", [](double x) { return 2 * x; }));
  const auto channel = runtime.OpenChannel("c");
  State state;
  REQUIRE(OpenHost(state.get(), runtime));
  REQUIRE(channel.Send("from C++", 5));
  CHECK(state.Run(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel("c")
    assert(ch:receive("from C++") == 5)
    local p = shoal.spawn(function(ch) ch:send("from a process", 6) return 7 end, ch)
    assert(ch:receive("from a process") == 6 and p:result() == 7)
    local t = shoal.task(function() shoal.sleep(0.001) return 8 end)
    assert(select(2, t:join()) == 8)
    assert(require "m" == "of the program" and double(4) == 8)
    ch:send("to C++", 9)
    return "done")lua") == "done");
  const auto received = channel.Receive("to C++", std::chrono::seconds(60));
  REQUIRE(received);
  CHECK(received->get<int>(0) == 9);
  CHECK(OpenHost(state.get(), runtime) == Status::kExists);
  Runtime other({.workers = 1});
  CHECK(OpenHost(state.get(), other) == Status::kExists);
}

TEST_CASE("several states take part on threads of their own") {
  Runtime runtime({.workers = 2});
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < Times(50); ++round) {
        State state;
        if (!OpenHost(state.get(), runtime)) return;
        const std::string result = state.Run(R"lua(
          local shoal = require "shoal"
          local ch = shoal.channel()
          local p = shoal.spawn(function(ch) for x in ch:each("k") do ch:send("back", x) end end, ch)
          for x = 1, 5 do ch:send("k", x) assert(ch:receive("back") == x) end
          ch:close("k")
          assert(p:join())
          return "done")lua");
        if (result == "done") done.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(done.load() == 4 * Times(50));
}

TEST_CASE("a state that is closed leaves the runtime, with its waits and tasks") {
  Runtime runtime({.workers = 1});
  State state;
  REQUIRE(OpenHost(state.get(), runtime));
  CHECK(state.Run(R"lua(
    local shoal = require "shoal"
    shoal.task(function() shoal.channel("c"):receive("never") end)
    shoal.yield()
    ch = shoal.channel("c")
    return "done")lua") == "done");
  state.Close();
  // The rest goes on.
  CHECK(RunLua(runtime, "return 'on'") == "on");
}

TEST_CASE("a state that is closed after the Runtime ends it all then") {
  State state;
  std::weak_ptr<int> kept;
  {
    const auto token = std::make_shared<int>(1);
    kept = token;
    Runtime runtime({.workers = 1});
    REQUIRE(runtime.AddModule(Module("m").Add("f", [token] { return *token; })));
    REQUIRE(OpenHost(state.get(), runtime));
    CHECK(state.Run("ch = require('shoal').channel('c') return ch:send('k', require('m').f())") ==
          "true");
  }
  // It still works.
  CHECK(state.Run("return ch:receive('k')") == "1");
  CHECK_FALSE(kept.expired());
  state.Close();
  CHECK(kept.expired());
}

int OpenHostInProcess(lua_State* L) {
  auto& runtime = *static_cast<Runtime*>(lua_touserdata(L, lua_upvalueindex(1)));
  const auto result = OpenHost(L, runtime);
  lua_pushboolean(L, result == Status::kMisuse ? 1 : 0);
  return 1;
}

TEST_CASE("a state of a process cannot take part, nor in a runtime that has not started") {
  Runtime runtime({.workers = 1});
  static Runtime* shared = nullptr;
  shared = &runtime;
  REQUIRE(runtime.AddModule("m", [](lua_State* L) {
    lua_pushlightuserdata(L, shared);
    lua_pushcclosure(L, OpenHostInProcess, 1);
    return 1;
  }));
  CHECK(RunLua(runtime, "return tostring(require('m')())") == "true");
  Runtime not_started({.workers = 5000});
  State state;
  CHECK(OpenHost(state.get(), not_started) == Status::kMisuse);
}

#if !defined(__SANITIZE_THREAD__) && !defined(SHOAL_THREAD_SANITIZER)
TEST_CASE("in a child of a fork, what uses Shoal in the state raises, and it can be closed") {
  Runtime runtime({.workers = 1});
  State state;
  REQUIRE(OpenHost(state.get(), runtime));
  CHECK(state.Run("ch = require('shoal').channel() return 'made'") == "made");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string text = state.Run("return ch:send('k', 1)");
    const bool raised = text.find("the program has forked") != std::string::npos;
    state.Close();
    _exit(raised ? 7 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
#endif

}  // namespace
