// SPDX-License-Identifier: MIT
#include "runtime/lua/traceback.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

int Done(lua_State* L, int /*status*/, lua_KContext /*context*/) { return lua_gettop(L) - 1; }

// (traceback, function): as a task starts.
int Enter(lua_State* L) {
  auto* const traceback = static_cast<Traceback*>(lua_touserdata(L, 1));
  PushTracebackHandler(L, traceback);
  lua_replace(L, 1);
  return Done(L, lua_pcallk(L, 0, LUA_MULTRET, 1, 0, Done), 0);
}

// The result of a script that is run under the handler.
struct Outcome {
  Traceback traceback;
  std::string message;
  std::string stack;
  int type = LUA_TNONE;  // of the error value
  std::string value;     // if it is a string

  Outcome() = default;
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;
  ~Outcome() { ClearTraceback(traceback); }
};

void Run(const std::string& script, Outcome* outcome, std::size_t memory = SIZE_MAX) {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  lua_pushcfunction(L, Enter);
  lua_pushlightuserdata(L, &outcome->traceback);
  REQUIRE(luaL_loadbuffer(L, script.data(), script.size(), "=script") == LUA_OK);
  if (memory != SIZE_MAX) allocator.limit = allocator.used + memory;
  int results = 0;
  REQUIRE(lua_resume(L, nullptr, 2, &results) == LUA_OK);
  allocator.limit = SIZE_MAX;
  outcome->type = lua_type(L, -1);
  if (outcome->type == LUA_TSTRING) outcome->value = lua_tostring(L, -1);
  outcome->message = outcome->traceback.message();
  outcome->stack = outcome->traceback.stack();
  CloseState(L);
}

TEST_CASE("the traceback shows the frames of the script without the C entry") {
  Outcome outcome;
  Run("local function f() error('boom') end\nf()", &outcome);
  CHECK(outcome.value == "script:1: boom");
  CHECK(outcome.message == "script:1: boom");
  CHECK(outcome.stack ==
        "stack traceback:\n"
        "\t[C]: in function 'error'\n"
        "\tscript:1: in local 'f'\n"
        "\tscript:2: in main chunk");
  CHECK(outcome.traceback.whole() == outcome.message + "\n" + outcome.stack);
}

TEST_CASE("an error value that is no string stays what it is") {
  Outcome table;
  Run("error({})", &table);
  CHECK(table.type == LUA_TTABLE);
  CHECK(table.message == "(error object is a table value)");
  CHECK(table.stack.substr(0, 16) == "stack traceback:");

  Outcome nothing;
  Run("error()", &nothing);
  CHECK(nothing.type == LUA_TNIL);
  CHECK(nothing.message == "(error object is a nil value)");

  Outcome number;
  Run("error(12)", &number);
  CHECK(number.type == LUA_TNUMBER);
  CHECK(number.message == "12");
}

TEST_CASE("an error object is shown by its __tostring") {
  Outcome outcome;
  Run("error(setmetatable({}, {__tostring = function() return 'shown' end}))", &outcome);
  CHECK(outcome.type == LUA_TTABLE);
  CHECK(outcome.message == "shown");

  Outcome odd;
  Run("error(setmetatable({}, {__tostring = function() return {} end}))", &odd);
  CHECK(odd.message == "(error object is a table value)");
}

TEST_CASE("a __tostring that fails leaves no text, and the error as it was") {
  Outcome outcome;
  Run("error(setmetatable({}, {__tostring = function() error('worse') end}))", &outcome);
  CHECK(outcome.type == LUA_TTABLE);
  CHECK(outcome.traceback.text == nullptr);
  CHECK(outcome.message.empty());
  CHECK(outcome.stack.empty());
}

TEST_CASE("the text may hold any bytes") {
  Outcome outcome;
  Run("error('a\\0b\\n', 0)", &outcome);
  CHECK(outcome.message == std::string("a\0b\n", 4));
  CHECK(outcome.stack.substr(0, 16) == "stack traceback:");
}

TEST_CASE("a stack overflow has a traceback, too") {
  Outcome outcome;
  Run("local function f() return 1 + f() end f()", &outcome);
  CHECK(outcome.message.find("stack overflow") != std::string::npos);
  CHECK(outcome.stack.find("skipping") != std::string::npos);

  Outcome in_c;
  Run("local function f() return (string.gsub('x', 'x', f)) end f()", &in_c);
  CHECK(in_c.value.find("C stack overflow") != std::string::npos);
  CHECK(in_c.stack.find("in function 'string.gsub'") != std::string::npos);
}

TEST_CASE("lack of memory is an error without a traceback") {
  Outcome outcome;
  Run("local t = {} for i = 1, 1e9 do t[i] = {} end", &outcome, 100000);
  CHECK(outcome.value == "not enough memory");
  CHECK(outcome.traceback.text == nullptr);
}

TEST_CASE("an error that the script catches leaves no text") {
  Outcome outcome;
  Run("pcall(error, 'caught') return 1", &outcome);
  CHECK(outcome.traceback.text == nullptr);
}

}  // namespace
}  // namespace shoal::core
