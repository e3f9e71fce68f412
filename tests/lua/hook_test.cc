// SPDX-License-Identifier: MIT
#include "runtime/lua/hook.h"

#include <catch2/catch.hpp>

#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

std::string Run(const char* script) {
  TaskRunner runner;
  runner.OnLeak(RaiseAtNextInstruction);
  TaskRunner::Task& task = runner.AddTask(script);
  runner.RunAll();
  return task.output;
}

TEST_CASE("a C module that yields at the base of a task gets the error of stock Lua") {
  const char* const script = R"lua(
    out(pcall(function() leak() out("not reached") end))
    out(pcall(function() local x = leak() out("not reached") end))
    for i = 1, 3 do out(select("#", pcall(function() leak() end))) end
    out(coroutine.wrap(function() return "goes on" end)())
  )lua";
  CHECK(Run(script) == RunStock(script));
}

TEST_CASE("in a coroutine of the user the same yield is the user's") {
  const char* const script = R"lua(
    local co = coroutine.create(function() local got = leak() out(got) return leak(true) end)
    out(coroutine.resume(co)) out(coroutine.resume(co, "x")) out(coroutine.resume(co))
  )lua";
  CHECK(Run(script) == RunStock(script));
}

TEST_CASE("the continuation of such a yield runs before the error") {
  CHECK(Run("out(pcall(function() local r = leak(true) out(r) end))") ==
        "false attempt to yield from outside a coroutine\n");
}

TEST_CASE("the hook of the user is back after the error, and coroutines do not inherit ours") {
  CHECK(Run(R"lua(
    local lines = 0
    debug.sethook(function(event, line) lines = lines + 1 end, "l", 7)
    local f, mask, count = debug.gethook()
    pcall(function() leak() end)
    local f2, mask2, count2 = debug.gethook()
    out(f == f2, mask == mask2, count == count2, mask, count, lines > 3)
    debug.sethook()
    pcall(function() leak() end)
    out(debug.gethook())
  )lua") == "true true true l 7 true\nnil\n");
}

TEST_CASE("two tasks may await their error at the same time") {
  TaskRunner runner;
  runner.OnLeak(RaiseAtNextInstruction);
  const char* const script =
      "debug.sethook(function() end, 'r') local ok, e = pcall(function() leak() end)"
      "out(ok, e, select(2, debug.gethook()))";
  TaskRunner::Task& first = runner.AddTask(script);
  TaskRunner::Task& second = runner.AddTask("wait() out(pcall(function() leak() end))");
  runner.ResumeTask(second);
  runner.ResumeTask(first);
  runner.ResumeTask(second);
  runner.ResumeTask(second);
  runner.ResumeTask(first);
  CHECK(second.output == "false attempt to yield from outside a coroutine\n");
  CHECK(first.is_done);
  CHECK(runner.record().raises == nullptr);
}

TEST_CASE("what is kept for a task that never runs Lua again is freed with the state") {
  TaskRunner runner;
  runner.OnLeak(RaiseAtNextInstruction);
  TaskRunner::Task& task = runner.AddTask("return leak()");
  runner.ResumeTask(task);
  CHECK_FALSE(task.is_done);
  CHECK(runner.record().raises != nullptr);
  runner.ResumeTask(task);
  CHECK(task.is_done);
}

}  // namespace
}  // namespace shoal::core
