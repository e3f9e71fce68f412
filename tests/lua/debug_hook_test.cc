// SPDX-License-Identifier: MIT
#include "runtime/lua/debug_hook.h"

#include <catch2/catch.hpp>

#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// Without a slice, and with slices that end at each instruction.
void CheckAsStock(const std::string& script) {
  const std::string stock = RunStock(script);
  REQUIRE(stock.find("error:") == std::string::npos);
  CHECK(RunOurs(script) == stock);
  TaskRunner runner;
  runner.EndSliceEvery(1);
  TaskRunner::Task& task = runner.AddTask(script);
  runner.RunAll();
  CHECK(task.output == stock);
  CHECK(runner.slices() > 0);
}

TEST_CASE("a hook of the user gets the events that stock gives it") {
  CheckAsStock(R"lua(
    local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
    local function count(...) return select("#", ...) end
    local function tail(n) if n == 0 then return 0 end return tail(n - 1) end
    for _, mask in ipairs({ "c", "r", "l", "cr", "cl", "rl", "crl" }) do
      debug.sethook(function(event, line) out(mask, event, line) end, mask)
      sum(3)
      count(1, 2, 3)
      tail(2)
      string.gsub("ab", "%w", function(c) return c:upper() end)
      debug.sethook()
    end
    out(debug.gethook()))lua");
}

TEST_CASE("each coroutine has its own hook") {
  CheckAsStock(R"lua(
    local function f(n) return n + 1 end
    local co = coroutine.create(function(a)
      local b = coroutine.yield(f(a))
      return f(b)
    end)
    debug.sethook(co, function(event, line) out("co", event, line) end, "crl")
    out(select(2, debug.gethook(co)), debug.gethook())
    out(coroutine.resume(co, 1))
    out(coroutine.resume(co, 5))
    debug.sethook(co)
    out(debug.gethook(co)))lua");
}

TEST_CASE("a hook can remove and replace itself, and raise") {
  CheckAsStock(R"lua(
    local function f() local a = 1 local b = 2 return a + b end
    debug.sethook(function(e, l) out("first", e, l) debug.sethook() end, "l")
    f()
    debug.sethook(function(e, l)
      out("second", e, l)
      debug.sethook(function(e2, l2) out("third", e2, l2) end, "r")
    end, "c")
    f()
    debug.sethook()
    out(pcall(function() debug.sethook(function()
      debug.sethook()
      error("hook", 0)
    end, "l") f() end))
    debug.sethook())lua");
}

TEST_CASE("counts are kept, however often the slice is looked at") {
  const char* const script = R"lua(
    for _, count in ipairs({ 1, 7, 999, 1000, 1001, 2500, 10000 }) do
      local n = 0
      debug.sethook(function() n = n + 1 end, "", count)
      for i = 1, 100000 do end
      debug.sethook()
      out(count, n)
    end
    debug.sethook(print, "", 2500)
    out(debug.gethook())
    debug.sethook())lua";
  const std::string ours = RunOurs(script);
  const std::string stock = RunStock(script);
  const std::size_t end = ours.find("function");
  REQUIRE(end != std::string::npos);
  CHECK(ours.substr(0, end) == stock.substr(0, end));
  CHECK(ours.substr(ours.find("  ", end)) == stock.substr(stock.find("  ", end)));
}

TEST_CASE("misuse is named as in stock") {
  CheckAsStock(R"lua(
    out(pcall(debug.sethook, print))
    out(pcall(debug.sethook, 1, "l"))
    out(pcall(debug.sethook, print, "l", "x"))
    debug.sethook(print, "")
    out(debug.gethook()))lua");
}

TEST_CASE("while a hook of the user is set, slices end all the same") {
  TaskRunner runner;
  runner.EndSliceEvery(100);
  TaskRunner::Task& task = runner.AddTask(R"lua(
    debug.sethook(function() end, "", 1000000)
    for i = 1, 100000 do end
    out("done"))lua");
  runner.RunAll();
  CHECK(task.output == "done\n");
  CHECK(runner.slices() > 500);
}

TEST_CASE("a hook of C code is left alone, and shown as such") {
  TaskRunner runner;
  lua_register(runner.state(), "hook_in_c", [](lua_State* L) {
    lua_sethook(
        L, [](lua_State*, lua_Debug*) {}, LUA_MASKLINE, 0);
    return 0;
  });
  TaskRunner::Task& task =
      runner.AddTask("hook_in_c() out(debug.gethook()) debug.sethook() out(debug.gethook())");
  runner.RunAll();
  CHECK(task.output == "external hook l 0\nnil\n");
}

}  // namespace
}  // namespace shoal::core
