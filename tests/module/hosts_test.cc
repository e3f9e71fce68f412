// SPDX-License-Identifier: MIT
// Several host states in one program, which loads shoal.so as any C module. It runs in the folder
// of its runfiles.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <lua.hpp>
#include <string>
#include <thread>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define SHOAL_LEAK_SANITIZER 1
#endif
#endif

namespace {

// What is made by this thread meanwhile, and all that it keeps, is no leak.
class MayLeak {
 public:
#ifdef SHOAL_LEAK_SANITIZER
  MayLeak() { __lsan_disable(); }
  ~MayLeak() { __lsan_enable(); }
#else
  MayLeak() = default;
#endif
  MayLeak(const MayLeak&) = delete;
  MayLeak& operator=(const MayLeak&) = delete;
};

// A state with the standard libraries, in which shoal.so is found.
class State {
 public:
  State() : L_(luaL_newstate()) {
    luaL_openlibs(L_);
    Run("package.cpath = './bindings/lua/?.so'");
  }
  ~State() { Close(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The error, or what it returns as text.
  std::string Run(const std::string& source) {
    std::string result;
    if (luaL_dostring(L_, source.c_str()) != LUA_OK || lua_gettop(L_) > 0) {
      result = luaL_tolstring(L_, -1, nullptr);
    }
    lua_settop(L_, 0);
    return result;
  }
  void Close() {
    if (L_ != nullptr) lua_close(L_);
    L_ = nullptr;
  }
  lua_State* L() { return L_; }

 private:
  lua_State* L_;
};

// What the sanitizers have time for.
int Scaled(int count) { return std::getenv("SANITIZER_LIBRARY") != nullptr ? count / 20 : count; }

int ThreadsOfProgram() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int threads = 0;
  while (status >> word) {
    if (word == "Threads:") status >> threads;
  }
  return threads;
}

const char kEcho[] = R"lua(
  local shoal = require("shoal")
  local channel = shoal.channel("numbers")
  local echo = shoal.spawn(function()
    for n in require("shoal").channel("numbers"):each("to") do
      require("shoal").channel("numbers"):send("back", n + 1)
    end
  end)
  local sum = 0
  for n = 1, 200 do
    channel:send("to", n)
    sum = sum + channel:receive("back")
  end
  channel:close()
  echo:join()
  return sum
)lua";

}  // namespace

TEST_CASE("two hosts on two threads do not disturb one another") {
  std::vector<std::string> results(2);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i) {
        State state;
        result = state.Run(kEcho);
        if (result != "20300") return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(results[0] == "20300");
  REQUIRE(results[1] == "20300");
}

TEST_CASE("two hosts on one thread have ids, names and deadlocks of their own") {
  State one;
  State other;
  REQUIRE(one.Run("shoal = require('shoal') c = shoal.channel('c') c:send('k', 'one')").empty());
  REQUIRE(other.Run("shoal = require('shoal') c = shoal.channel('c')").empty());
  REQUIRE(other.Run("return c:count('k')") == "0");
  REQUIRE(other.Run("return (c:receive('k'))").find("deadlock") != std::string::npos);
  REQUIRE(one.Run("return (c:receive('k'))") == "one");
  REQUIRE(one.Run("return shoal.spawn(function() end).id") == "1");
  REQUIRE(other.Run("return shoal.spawn(function() end).id") == "1");
  one.Close();
  REQUIRE(other.Run("return shoal.spawn(function() return 7 end):result()") == "7");
}

TEST_CASE("a state may be run by one thread after the other") {
  State state;
  REQUIRE(state.Run(kEcho) == "20300");
  std::string result;
  std::thread([&] { result = state.Run("collectgarbage()" + std::string(kEcho)); }).join();
  REQUIRE(result == "20300");
  std::thread([&] {
    result = state.Run("return require('shoal').spawn(select, 2, 1, 2):result()");
  }).join();
  REQUIRE(result == "2");
  std::thread([&] { state.Close(); }).join();
  State next;
  REQUIRE(next.Run(kEcho) == "20300");
}

TEST_CASE("a host that was opened and closed leaves no thread") {
  const int before = ThreadsOfProgram();
  for (int i = 0; i < Scaled(1000); ++i) {
    State state;
    REQUIRE(state.Run("local shoal = require('shoal')"
                      "return shoal.spawn(function(n) return n end, 7):result()") == "7");
  }
  REQUIRE(ThreadsOfProgram() == before);
}

TEST_CASE("a host that was only loaded starts nothing") {
  const int before = ThreadsOfProgram();
  State state;
  REQUIRE(state.Run("shoal = require('shoal') return shoal.configure{ workers = 1 }").empty());
  REQUIRE(ThreadsOfProgram() == before);
}

TEST_CASE("extra space stays the owner's") {
  State state;
  void* mark = &state;
  *static_cast<void**>(lua_getextraspace(state.L())) = mark;
  REQUIRE(state.Run(kEcho) == "20300");
  REQUIRE(state.Run("shoal = require('shoal') shoal.task(function() shoal.sleep(0.001) end):join()")
              .empty());
  REQUIRE(*static_cast<void**>(lua_getextraspace(state.L())) == mark);
  REQUIRE(*static_cast<void**>(lua_getextraspace(lua_newthread(state.L()))) == mark);
}

TEST_CASE("the first use may be in a coroutine, and in a finalizer") {
  State state;
  REQUIRE(state.Run("return coroutine.wrap(function()"
                    "  return require('shoal').spawn(function() return 7 end):result()"
                    "end)()") == "7");
  State other;
  REQUIRE(other.Run("local shoal = require('shoal')"
                    "setmetatable({}, { __gc = function()"
                    "  result = shoal.spawn(function() return 8 end):result()"
                    "end })"
                    "collectgarbage() return result") == "8");
}

TEST_CASE("what an older finalizer does with a host that has ended raises") {
  State state;
  static std::string seen;
  lua_pushcfunction(state.L(), [](lua_State* L) {
    seen = luaL_checkstring(L, 1);
    return 0;
  });
  lua_setglobal(state.L(), "see");
  REQUIRE(state
              .Run("old = setmetatable({}, { __gc = function()"
                   "  see(tostring(select(2, pcall(shoal.spawn, print)))) end })"
                   "shoal = require('shoal') channel = shoal.channel()")
              .empty());
  state.Close();
  REQUIRE(seen.find("cannot be used here any more") != std::string::npos);
}

TEST_CASE("a handle that is made while the state is closed does no harm") {
  // Lua never collects it.
  [[maybe_unused]] const MayLeak may_leak;
  State state;
  REQUIRE(state
              .Run("shoal = require('shoal') shoal.workers()"
                   "late = setmetatable({}, { __gc = function()"
                   "  channel = shoal.channel() process = shoal.spawn(function() end) end })")
              .empty());
  state.Close();
}

TEST_CASE("in a child that was forked, what uses the host raises, and its end is no wait") {
  State state;
  REQUIRE(state
              .Run("shoal = require('shoal') local stop = shoal.channel() channel = stop "
                   "busy = shoal.spawn(function() stop:receive('stop') end)")
              .empty());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string error = state.Run("shoal.spawn(print)");
    state.Close();
    _exit(error.find("has forked") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(state.Run("channel:send('stop', 1) return busy:join()") == "true");
}

TEST_CASE("in a child that was forked, a new state is a host of its own") {
  State state;
  REQUIRE(state.Run(kEcho) == "20300");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    State fresh;
    const std::string result = fresh.Run(kEcho);
    fresh.Close();
    _exit(result == "20300" ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

TEST_CASE("a signal handler that sets no hook ends no wait") {
  State state;
  static volatile std::sig_atomic_t calls = 0;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) { calls = calls + 1; };
  sigaction(SIGUSR1, &action, &before);
  const pthread_t self = pthread_self();
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    while (!stop.load()) {
      pthread_kill(self, SIGUSR1);
      std::this_thread::yield();
    }
  });
  const std::string result = state.Run(kEcho);
  const std::string slept = state.Run("require('shoal').sleep(0.05)");
  stop.store(true);
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  REQUIRE(result == "20300");
  REQUIRE(slept.empty());
  REQUIRE(calls > 0);
}
