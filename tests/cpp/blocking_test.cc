// SPDX-License-Identifier: MIT
// Sections of C++ functions that block.
#include <shoal/blocking.h>
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <lua.hpp>
#include <stdexcept>
#include <string>

#include "tests/cpp/lua_runner.h"
#include "tests/support/eventually.h"

namespace {

using shoal::Blocking;
using shoal::Module;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Values;
using shoal::core::Eventually;
using shoal::test::RunLua;

std::atomic<int> open_gates{0};

// Blocks till another process has opened the gate.
int BlockInC(lua_State* L) {
  bool passed = false;
  {
    const Blocking blocking(L);
    passed = blocking && Eventually([] { return open_gates.load() > 0; });
  }
  lua_pushboolean(L, passed ? 1 : 0);
  return 1;
}

int OpenBlocking(lua_State* L) {
  lua_newtable(L);
  lua_pushcfunction(L, BlockInC);
  lua_setfield(L, -2, "block");
  return 1;
}

TEST_CASE("while one process blocks, others go on, on the one worker") {
  open_gates.store(0);
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddModule("blocking", OpenBlocking));
  REQUIRE(runtime.AddModule(Module("gates")
                                .Add("open", [] { open_gates.fetch_add(1); })
                                .Add("close", [] { open_gates.store(0); })
                                .Add("block",
                                     [] {
                                       const Blocking outer;
                                       // An inner one changes nothing.
                                       const Blocking inner;
                                       return outer && inner &&
                                              Eventually([] { return open_gates.load() > 0; });
                                     })
                                .Add("throws", [] {
                                  const Blocking blocking;
                                  throw std::runtime_error("thrown");
                                })));
  CHECK(RunLua(runtime, R"lua(
    local shoal = require "shoal"
    local gates, blocking = require "gates", require "blocking"
    local function opener() require("gates").open() end
    local p = shoal.spawn(opener)
    assert(blocking.block())
    p:join()
    gates.close()
    p = shoal.spawn(opener)
    assert(gates.block())
    p:join()
    local ok, text = pcall(gates.throws)
    assert(not ok and text:find("thrown"), text)
    return "done")lua") == "done");
}

TEST_CASE("calls that wait are misuse on a worker, but in a section that blocks") {
  Runtime runtime({.workers = 1});
  const auto channel = runtime.OpenChannel("c");
  std::string outside;
  REQUIRE(runtime.AddModule(Module("waits")
                                .Add("here",
                                     [&]() -> Result<Values> {
                                       auto result = channel.Receive("k", std::chrono::seconds(60));
                                       if (result == Status::kMisuse)
                                         outside = result.error().message();
                                       return result;
                                     })
                                .Add("blocking", [&]() -> Result<Values> {
                                  const Blocking blocking;
                                  return channel.Receive("k", std::chrono::seconds(60));
                                })));
  CHECK(RunLua(runtime, R"lua(
    local shoal = require "shoal"
    local waits = require "waits"
    assert(not pcall(waits.here))
    shoal.spawn(function() require("shoal").channel("c"):send("k", 7) end)
    assert(waits.blocking() == 7)
    return "done")lua") == "done");
  CHECK(outside.find("Blocking") != std::string::npos);
}

TEST_CASE("on a thread of the program, a section is nothing") {
  const Blocking blocking;
  CHECK(blocking);
}

int Throws(lua_State*) { throw std::runtime_error("thrown in C"); }
int Raises(lua_State* L) { return luaL_error(L, "raised"); }
int ThrowsOdd(lua_State*) { throw 5; }

TEST_CASE("Guarded turns exceptions into errors, and lets errors pass") {
  lua_State* const L = luaL_newstate();
  lua_pushcfunction(L, shoal::Guarded<Throws>);
  CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN);
  CHECK(std::string(lua_tostring(L, -1)) == "thrown in C");
  lua_pushcfunction(L, shoal::Guarded<Raises>);
  CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN);
  CHECK(std::string(lua_tostring(L, -1)) == "raised");
  lua_pushcfunction(L, shoal::Guarded<ThrowsOdd>);
  CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN);
  lua_close(L);
}

}  // namespace
