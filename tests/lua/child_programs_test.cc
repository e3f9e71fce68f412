// SPDX-License-Identifier: MIT
#include "runtime/lua/child_programs.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <lua.hpp>
#include <string>

using namespace shoal::core;

namespace {

// Runs `source` on a thread that blocks all signals, as those of the runtime do.
std::string RunBlocked(const char* source) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  lua_getglobal(L, "os");
  OpenExecute(L);
  lua_getglobal(L, "io");
  OpenPopen(L);
  luaL_dostring(L, source);
  std::string result = luaL_tolstring(L, -1, nullptr);
  lua_close(L);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  REQUIRE(sigismember(&after, SIGTERM) == 1);
  return result;
}

}  // namespace

TEST_CASE("a child of os.execute can be ended by a signal") {
  REQUIRE(RunBlocked("return (select(3, os.execute('kill -TERM $$')))") == "15");
}

TEST_CASE("a child of io.popen blocks no signal") {
  const std::string mask =
      RunBlocked("return io.popen('exec sed -n /SigBlk/p /proc/self/status'):read('a')");
  REQUIRE(mask.find("0000000000000000") != std::string::npos);
}

TEST_CASE("wrong arguments are errors that name the function") {
  REQUIRE(RunBlocked("return select(2, pcall(function() io.popen('x', 'q') end))")
              .find("bad argument #2 to 'popen' (invalid mode)") != std::string::npos);
  REQUIRE(RunBlocked("return select(2, pcall(function() os.execute({}) end))")
              .find("bad argument #1 to 'execute' (string expected, got table)") !=
          std::string::npos);
}
