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
