// SPDX-License-Identifier: MIT
#include "runtime/lua/state.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/captured_stream.h"
#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// The output of a script in a state with these libraries.
std::string RunWith(LibrarySet libraries, const char* script) {
  TaskRunner runner(1, libraries);
  TaskRunner::Task& body = runner.AddBody(script);
  runner.RunAll();
  return body.output;
}

TEST_CASE("a new state has its record in every coroutine") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  REQUIRE(L != nullptr);
  CHECK(record.main == L);
  CHECK(record.task == L);
  CHECK(record.current == L);
  CHECK(&RecordOf(L) == &record);
  lua_State* const co = lua_newthread(L);
  CHECK(&RecordOf(co) == &record);
  MarkSuspendedChain(co, true);
  CHECK(OnSuspendedChain(co));
  CHECK(&RecordOf(co) == &record);
  MarkSuspendedChain(L, true);
  CHECK_FALSE(OnSuspendedChain(lua_newthread(L)));
  CloseState(L);
}

TEST_CASE("the allocator counts what the state holds and gives all back") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCCOLLECT);
  const auto counted = static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT)) * 1024 +
                       static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNTB));
  CHECK(allocator.used == counted);
  CHECK_FALSE(luaL_dostring(
      L, "t = {} for i = 1, 1000 do t[i] = ('x'):rep(i) end t = nil collectgarbage()"));
  CloseState(L);
  CHECK(allocator.used == 0);
}

TEST_CASE("a state beyond its limit raises, and shrinks all the same") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  allocator.limit = allocator.used + 100000;
  REQUIRE(luaL_loadstring(L, "local t = {} for i = 1, 1e9 do t[i] = i end") == LUA_OK);
  CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM);
  CHECK(std::string(lua_tostring(L, -1)) == "not enough memory");
  CHECK(allocator.used <= allocator.limit);
  lua_settop(L, 0);
  allocator.limit = 0;
  lua_gc(L, LUA_GCCOLLECT);
  CHECK(allocator.used < 100000);
  allocator.limit = SIZE_MAX;
  CHECK_FALSE(luaL_dostring(L, "return #('x'):rep(1000000)"));
  CloseState(L);
}

TEST_CASE("garbage makes room for the buffers of lauxlib, which do not collect by themselves") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  allocator.limit = allocator.used + 300000;
  allocator.CollectInTime();
  lua_gc(L, LUA_GCSTOP);
  // Each makes 100 KB of garbage, half of it in a buffer.
  CHECK_FALSE(luaL_dostring(L, "for i = 1, 100 do assert(#('x'):rep(50000 + i) > 50000) end"));
  // After an error for lack of memory, what it was about is garbage.
  CHECK_FALSE(luaL_dostring(L, R"lua(
    for i = 1, 5 do
      assert(not pcall(function() local t = {} for k = 1, 1e9 do t[k] = {} end end))
      assert(#('x'):rep(100000) == 100000)
    end)lua"));
  CHECK(lua_gettop(L) == 0);
  CHECK(allocator.used <= allocator.limit);
  CloseState(L);
  CHECK(allocator.used == 0);
}

TEST_CASE("there is no state if memory is short") {
  for (std::size_t limit = 0; limit < 3000; limit += 500) {
    Allocator allocator;
    allocator.limit = limit;
    StateRecord record;
    lua_State* const L = NewState(&allocator, &record);
    if (L != nullptr) CloseState(L);
    CHECK(allocator.used == 0);
  }
}

// Opens all libraries; the argument is ignored.
int OpenAll(lua_State* L) {
  OpenLibraries(L, kAllLibraries);
  return 0;
}

TEST_CASE("lack of memory anywhere while libraries open is an error and leaks nothing") {
  bool opened = false;
  for (std::size_t limit = 4000; !opened; limit += 512) {
    Allocator allocator;
    StateRecord record;
    lua_State* const L = NewState(&allocator, &record);
    REQUIRE(L != nullptr);
    allocator.limit = limit;
    lua_pushcfunction(L, OpenAll);
    opened = lua_pcall(L, 0, 0, 0) == LUA_OK;
    CloseState(L);
    CHECK(allocator.used == 0);
    REQUIRE(limit < 100000);
  }
}

TEST_CASE("libraries outside the set do not exist") {
  CHECK(RunWith(0, R"lua(
    out(coroutine, table, io, os, string, utf8, math, debug, package, require)
    out(pcall(print), pcall(error, "e", 0), ("x").rep)
  )lua") ==
        "nil nil nil nil nil nil nil nil nil nil\n"
        "error: script:3: attempt to index a string value (constant 'x')");
  CHECK(RunWith(kLibTable | kLibString | kLibCoroutine | kLibPackage, R"lua(
    local names = {}
    for name in pairs(package.loaded) do names[#names + 1] = name end
    table.sort(names)
    out(table.concat(names, " "))
    out(io, os, utf8, math, debug, pcall(require, "math"))
    out(coroutine.wrap(function() return wait("waited") end)())
  )lua")
            .substr(0, 66) ==
        "_G coroutine package string table\n"
        "nil nil nil nil nil false module");
  CHECK(RunWith(kLibCoroutine | kLibDebug, R"lua(
    for name in next, debug.getregistry()._LOADED do if name ~= "_G" then out(name) end end
  )lua")
            .size() == std::string("coroutine\ndebug\n").size());
}

TEST_CASE("libraries have names") {
  CHECK(LibraryOf("string") == kLibString);
  CHECK(LibraryOf("package") == kLibPackage);
  CHECK(LibraryOf("shoal") == kLibShoal);
  CHECK(LibraryOf("socket") == kLibSocket);
  CHECK(LibraryOf("coroutine") == kLibCoroutine);
  CHECK(LibraryOf("_G") == 0);
  CHECK(LibraryOf("") == 0);
  LibrarySet all = 0;
  for (const char* name : {"coroutine", "table", "io", "os", "string", "utf8", "math", "debug",
                           "package", "shoal", "socket"}) {
    all |= LibraryOf(name);
  }
  CHECK(all == kAllLibraries);
}

TEST_CASE("warnings go to stderr as in stock states") {
  const std::string script = R"lua(
    warn("off at first") warn("@on") warn("one") warn("a", "b", 12, "\n")
    warn("@unknown") warn("@off") warn("off") warn("@", "on") warn("still off")
    warn("@on") warn("@off", "shown") warn("") warn("last")
    setmetatable({}, {__gc = function() error("in a finalizer") end})
    collectgarbage()
    setmetatable({}, {__gc = true}) collectgarbage()
  )lua";
  CapturedStream stock_stream(stderr);
  RunStock(script);
  const std::string stock = stock_stream.Take();
  CapturedStream stream(stderr);
  RunOurs(script);
  CHECK(stream.Take() == stock);
  CHECK(stock.find("Lua warning: ab12\n") != std::string::npos);
}

}  // namespace
}  // namespace shoal::core
