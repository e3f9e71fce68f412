// SPDX-License-Identifier: MIT
// Modules and globals of the program.
#include <shoal/shoal.h>

#include <catch2/catch.hpp>
#include <lua.hpp>
#include <string>

#include "tests/cpp/lua_runner.h"

namespace {

using shoal::Module;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::test::RunLua;

int OpenNumbers(lua_State* L) {
  lua_newtable(L);
  lua_pushinteger(L, 9);
  lua_setfield(L, -2, "nine");
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  return 1;
}

TEST_CASE("each process requires modules of C functions and of Lua source") {
  Runtime runtime({.workers = 2});
  REQUIRE(runtime.AddModule("numbers", OpenNumbers));
  REQUIRE(runtime.AddLuaModule("greeting", R"lua(
    local name, from = ...
    require("shoal").sleep(0.001) -- a module may wait
    return { name = name, from = from, greet = function(who) return "hello " .. who end })lua"));
  CHECK(RunLua(runtime, R"lua(
    local function use()
      local numbers, greeting = require "numbers", require "greeting"
      assert(numbers.nine == 9 and numbers.name == "numbers")
      assert(greeting.name == "greeting" and greeting.from == ":preload:")
      assert(require "greeting" == greeting)
      return greeting.greet("x")
    end
    assert(use() == "hello x")
    local shoal = require "shoal"
    -- Without the library `package`, too; and what modules hold travels by name.
    local greet = require("greeting").greet
    local p = shoal.spawn({ libs = { "shoal" } }, function()
      return require("numbers").nine, greet("y")
    end)
    local nine, text = p:result()
    assert(nine == 9 and text == "hello y")
    return "done")lua") == "done");
}

TEST_CASE("a module of Lua source that fails does so in require, with its place") {
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddLuaModule("wrong", "local x = = 1"));
  REQUIRE(runtime.AddLuaModule("raises", "error('no luck')"));
  CHECK(RunLua(runtime, R"lua(
    local ok, text = pcall(require, "wrong")
    assert(not ok and text:find("wrong:1:", 1, true), text)
    local ok, text = pcall(require, "raises")
    assert(not ok and text:find("raises:1: no luck", 1, true), text)
    return "done")lua") == "done");
}

TEST_CASE("names of modules are taken once, and some are refused") {
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddLuaModule("m", "return 1"));
  CHECK(runtime.AddLuaModule("m", "return 2") == Status::kExists);
  CHECK(runtime.AddModule("m", OpenNumbers) == Status::kExists);
  CHECK(runtime.AddModule(Module("m")) == Status::kExists);
  CHECK(runtime.AddModule("", OpenNumbers) == Status::kMisuse);
  CHECK(runtime.AddModule("shoal", OpenNumbers) == Status::kMisuse);
  CHECK(runtime.AddModule("shoal.supervisor", OpenNumbers) == Status::kMisuse);
  CHECK(runtime.AddModule("n", nullptr) == Status::kMisuse);
  CHECK(runtime.AddModule(Module("n").Add("f", shoal::Function())) == Status::kMisuse);
  CHECK(RunLua(runtime, "return require 'm' == 1 and 'one'") == "one");
}

TEST_CASE("globals stand in processes that are spawned later, the last one of a name") {
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.SetGlobal("config", Table{{"size", 1}}));
  CHECK(RunLua(runtime, "return config.size .. tostring(double)") == "1nil");
  REQUIRE(runtime.SetGlobal("config", Table{{"size", 2}}));
  REQUIRE(runtime.SetGlobal("double", [](double x) { return 2 * x; }));
  CHECK(RunLua(runtime, "config.size = config.size + 5 return config.size .. double(2)") == "74.0");
  // Each process has its own.
  CHECK(RunLua(runtime, "return tostring(config.size)") == "2");
}

TEST_CASE("a channel may be a global") {
  Runtime runtime({.workers = 1});
  {
    const auto channel = runtime.OpenChannel("numbers");
    REQUIRE(channel.Send("k", 5));
    REQUIRE(runtime.SetGlobal("numbers", channel));
  }
  CHECK(RunLua(runtime, "return tostring(numbers:receive('k'))") == "5");
}

TEST_CASE("two runtimes have modules of their own") {
  Runtime first({.workers = 1});
  Runtime second({.workers = 1});
  REQUIRE(first.AddLuaModule("m", "return 'first'"));
  REQUIRE(second.AddLuaModule("m", "return 'second'"));
  CHECK(RunLua(first, "return require 'm'") == "first");
  CHECK(RunLua(second, "return require 'm'") == "second");
}

TEST_CASE("nothing can be added to a runtime that has not started") {
  Runtime runtime({.workers = 5000});
  CHECK(runtime.AddLuaModule("m", "return 1") == Status::kMisuse);
  CHECK(runtime.SetGlobal("g", 1) == Status::kMisuse);
}

}  // namespace
