// SPDX-License-Identifier: MIT
#include "runtime/lua/slice.h"

#include <catch2/catch.hpp>
#include <string_view>

#include "tests/lua/conformance.h"
#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// The output of a script whose slices end every `count` instructions.
std::string RunSliced(const std::string& script, int count) {
  TaskRunner runner;
  runner.WaitSometimes(0);
  runner.EndSliceEvery(count);
  TaskRunner::Task& task = runner.AddTask(script);
  runner.RunAll();
  CHECK(runner.slices() > 0);
  return task.output;
}

// Ends the slice of the code that runs, once; then calls the argument, if there is one.
int EndOnce(lua_State* L) {
  EndSlice(RecordOf(L));
  const auto done = [](lua_State* state, int, lua_KContext) { return lua_gettop(state); };
  if (lua_gettop(L) == 0) return 0;
  lua_callk(L, 0, LUA_MULTRET, 0, done);
  return done(L, LUA_OK, 0);
}

TEST_CASE("a hook that was asked for ends one slice, and is gone") {
  TaskRunner runner;
  lua_register(runner.state(), "end_slice", EndOnce);
  TaskRunner::Task& task = runner.AddTask(R"lua(
    out(debug.gethook())
    end_slice()
    out(debug.gethook())
    for i = 1, 100 do end
    out("on")
  )lua");
  runner.ResumeTask(task);
  CHECK(task.output == "nil\n");
  CHECK(runner.slices() == 1);
  CHECK(lua_gethook(task.co) == nullptr);
  runner.RunAll();
  CHECK(task.output == "nil\nnil\non\n");
  CHECK(runner.slices() == 1);
}

TEST_CASE("the end of a slice that is asked for in C code follows the control into a coroutine") {
  TaskRunner runner;
  lua_register(runner.state(), "end_slice", EndOnce);
  // The resume is the next thing that runs: no instruction is between.
  TaskRunner::Task& task = runner.AddTask(R"lua(
    end_slice(coroutine.wrap(function()
      for i = 1, 10 do end
      out("inside")
      while true do coroutine.yield() end
    end))
  )lua");
  runner.ResumeTask(task);
  CHECK(runner.slices() == 1);
  CHECK(task.output.empty());
  runner.RunAll();
  CHECK(runner.slices() == 1);
  CHECK(task.output == "inside\n");
}

TEST_CASE("coroutines made while the hook is armed, or left with it, run on") {
  TaskRunner runner;
  lua_register(runner.state(), "end_slice", EndOnce);
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local function make() end_slice() return coroutine.wrap(function(a) out(a) return 2 end) end
    out(make()(1))
    local co = coroutine.wrap(function() end_slice() coroutine.yield(3) return 4 end)
    out(co(), co())
  )lua");
  runner.RunAll();
  CHECK(task.output == "1\n2\n3 4\n");
}

TEST_CASE("in a frame that cannot be suspended, the thread gives way") {
  TaskRunner runner;
  runner.EndSliceEvery(1);
  TaskRunner::Task& task = runner.AddTask(
      "local t = {3, 1, 2} table.sort(t, function(a, b) return a < b end) out(t[1])");
  runner.RunAll();
  CHECK(task.output == "1\n");
  CHECK(runner.skipped_slices() > 5);
  CHECK(runner.suspensions() == 0);
}

TEST_CASE("an error that is raised at the end of a slice passes like any other") {
  TaskRunner runner;
  runner.EndSliceEvery(50);
  runner.OnSlice([](lua_State* L) { luaL_error(L, "enough"); });
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local ok, e = pcall(function() local closed <close> = setmetatable({}, {__close = function()
      out("closed") end}) while true do end end)
    out(ok, e)
    while true do end
  )lua");
  runner.RunAll();
  CHECK(task.output == "closed\nfalse enough\nerror: enough");
}

TEST_CASE("scripts that are suspended at each instruction behave as stock ones") {
  for (const ConformanceScript& script : kConformanceScripts) {
    // Addresses, and counts of instructions, are of one state.
    const std::string stock = RunStock(script.text);
    if (stock.find("0x") != std::string::npos) continue;
    // A task that is suspended keeps no C stack, so it goes deeper.
    if (std::string_view(script.name).find("overflow") != std::string_view::npos) continue;
    INFO(script.name);
    CHECK(RunSliced(script.text, 1) == stock);
    CHECK(RunSliced(script.text, 7) == stock);
  }
}

}  // namespace
}  // namespace shoal::core
