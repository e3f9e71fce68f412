// SPDX-License-Identifier: MIT
#include "runtime/lua/coroutine.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/conformance.h"
#include "tests/lua/task_runner.h"
#include "tests/lua/workload.h"

namespace shoal::core {
namespace {

// Addresses differ between any two states.
std::string WithoutAddresses(std::string text) {
  std::size_t at = 0;
  while ((at = text.find("0x", at)) != std::string::npos) {
    at += 2;
    text.erase(at, text.find_first_not_of("0123456789abcdef", at) - at);
  }
  return text;
}

// The output of a script in a task, with all waits suspending.
std::string RunTask(const std::string& script) {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(script);
  runner.RunAll();
  return task.output;
}

TEST_CASE("a state of ours behaves as a stock one") {
  for (const ConformanceScript& script : kConformanceScripts) {
    INFO(script.name);
    CHECK(WithoutAddresses(RunOurs(script.text)) == WithoutAddresses(RunStock(script.text)));
  }
}

TEST_CASE("the workload behaves as in a stock state") {
  CHECK(RunOurs(kWorkload) == RunStock(kWorkload));
}

TEST_CASE("waits at random points do not change what a script does") {
  const std::string expected = RunStock(kWorkload);
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    TaskRunner runner(seed);
    runner.WaitSometimes(static_cast<int>(seed * 37 % 100) + 1);
    TaskRunner::Task& body = runner.AddBody(kWorkload);
    TaskRunner::Task& first = runner.AddTask(kWorkload);
    TaskRunner::Task& second = runner.AddTask(kWorkload);
    runner.RunAll();
    CHECK(body.output == expected);
    // Only isyieldable and running tell a task from a body in stock Lua; here neither does.
    CHECK(first.output == expected);
    CHECK(second.output == expected);
    CHECK(runner.suspensions() > 0);
    CHECK(runner.nested_waits() > 0);
    CHECK(runner.record().barrier == 0);
  }
}

TEST_CASE("the end of a slice at any instruction does not change what a script does") {
  const std::string expected = RunStock(kWorkload);
  for (const int count : {1, 2, 3, 5, 7, 11, 13, 101, 997}) {
    INFO("a slice of " << count << " instructions");
    TaskRunner runner;
    runner.WaitSometimes(30);
    runner.EndSliceEvery(count);
    TaskRunner::Task& body = runner.AddBody(kWorkload);
    TaskRunner::Task& task = runner.AddTask(kWorkload);
    runner.RunAll();
    CHECK(body.output == expected);
    CHECK(task.output == expected);
    CHECK(runner.suspensions() > 0);
  }
}

TEST_CASE("a wait deep inside coroutines suspends the task once and nothing else") {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local level3 = coroutine.wrap(function() out(wait("a")) coroutine.yield("y") out(wait("b")) return "end" end)
    local level2 = coroutine.create(function() return pcall(function() local v = level3() coroutine.yield(v)
      return level3() end) end)
    local level1 = coroutine.wrap(function() for _ = 1, 2 do coroutine.yield(coroutine.resume(level2)) end end)
    out(level1()) out(level1())
  )lua");
  runner.RunAll();
  CHECK(task.output == "a\ntrue y\nb\ntrue true end\n");
  CHECK(runner.suspensions() == 2);
  CHECK(runner.resumes() == 3);
}

TEST_CASE("a coroutine on the chain of a waiting task is normal for other tasks") {
  TaskRunner runner;
  TaskRunner::Task& waiting = runner.AddTask(R"lua(
    base = coroutine.running()
    inner = coroutine.create(function() local got = wait("mine") out("inner", got) return "returned" end)
    wrapped = coroutine.wrap(function() return coroutine.resume(inner) end)
    out(wrapped())
    out(coroutine.status(inner), coroutine.status(base))
  )lua");
  runner.ResumeTask(waiting);
  CHECK(waiting.output.empty());
  TaskRunner::Task& other = runner.AddTask(R"lua(
    out(coroutine.status(inner), coroutine.status(base))
    out(coroutine.resume(inner, "injected"))
    out(coroutine.resume(base, "injected"))
    out(pcall(wrapped, "injected"))
    out(pcall(coroutine.close, inner))
    out(pcall(coroutine.close, base))
    out(coroutine.status(inner))
    local co = coroutine.create(function() out(coroutine.resume(inner)) end)
    coroutine.resume(co)
  )lua");
  runner.ResumeTask(other);
  CHECK(other.output ==
        "normal normal\n"
        "false cannot resume non-suspended coroutine\n"
        "false cannot resume non-suspended coroutine\n"
        "false cannot resume non-suspended coroutine\n"
        "false cannot close a normal coroutine\n"
        "false cannot close a normal coroutine\n"
        "normal\n"
        "false cannot resume non-suspended coroutine\n");
  runner.ResumeTask(waiting);
  CHECK(waiting.output == "inner mine\ntrue returned\ndead running\n");
}

TEST_CASE("the main thread is normal for tasks, whether it waits or has ended") {
  TaskRunner runner;
  TaskRunner::Task& body = runner.AddBody("main = coroutine.running() wait()");
  const char* const script = R"lua(
    out(coroutine.status(main), coroutine.resume(main))
    out(pcall(coroutine.close, main))
    out(coroutine.isyieldable(main), coroutine.isyieldable())
    local co = coroutine.create(function() coroutine.yield() end)
    out(coroutine.status(co), coroutine.resume(co))
    out(coroutine.status(co), coroutine.close(co))
  )lua";
  const std::string expected =
      "normal false cannot resume non-suspended coroutine\n"
      "false cannot close a normal coroutine\n"
      "false false\n"
      "suspended true\n"
      "suspended true\n";
  runner.ResumeTask(body);
  TaskRunner::Task& first = runner.AddTask(script);
  runner.ResumeTask(first);
  CHECK(first.output == expected);
  runner.ResumeTask(body);
  CHECK(body.is_done);
  TaskRunner::Task& second = runner.AddTask(script);
  runner.ResumeTask(second);
  CHECK(second.output == expected);
}

TEST_CASE("the base of a task is like the main thread of a script") {
  const char* const script = R"lua(
    out(select(2, coroutine.running()), coroutine.isyieldable())
    out(pcall(coroutine.yield, 1))
    out(pcall(table.sort, {2, 1}, function() coroutine.yield() end))
    local base = coroutine.running()
    coroutine.wrap(function()
      out(select(2, coroutine.running()), coroutine.isyieldable(), coroutine.isyieldable(base))
      out(coroutine.status(base), coroutine.resume(base))
      out(pcall(table.sort, {2, 1}, function() coroutine.yield() end))
    end)()
    out(xpcall(coroutine.yield, function(m) return "handled " .. m end))
  )lua";
  CHECK(RunTask(script) == RunStock(script));
}

TEST_CASE("C code that resumes a coroutine itself never sees a wait") {
  TaskRunner runner;
  runner.EndSliceEvery(20);
  TaskRunner::Task& task = runner.AddTask(R"lua(
    wait()
    out(foreign(function()
      local g = coroutine.wrap(function() local x = 0 for i = 1, 300 do x = x + i end
        wait() coroutine.yield(x) end)
      out(g(), wait("inside"))
      coroutine.yield("seen by the module")
      coroutine.wrap(function() wait() local co = coroutine.create(function() wait() return 7 end)
        out(coroutine.resume(co)) end)()
    end))
    local suspended = coroutine.wrap(function() coroutine.yield() wait() out("resumed by foreign code") end)
    suspended()
    out(foreign(suspended))
    out("end", wait("again"))
  )lua");
  runner.RunAll();
  CHECK(task.output == "45150 inside\ntrue 7\n1\nresumed by foreign code\n0\nend again\n");
  CHECK(runner.nested_waits() == 5);
  CHECK(runner.skipped_slices() > 0);
  CHECK(runner.suspensions() + runner.ended_slices() > 2);
}

TEST_CASE("closing a coroutine that waits in __close keeps the wait inside") {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local function closable(name) return setmetatable({}, {__close = function(_, e)
      out(name, coroutine.wrap(function() return wait(e) end)(), wait("waited")) end}) end
    local co = coroutine.create(function() local x <close> = closable("closed") coroutine.yield() end)
    coroutine.resume(co)
    out(coroutine.close(co), coroutine.status(co))
    out(pcall(coroutine.wrap(function() local x <close> = closable("failed") error("e", 0) end)))
    out(wait("outside"))
  )lua");
  runner.RunAll();
  CHECK(task.output == "closed nil waited\ntrue dead\nfailed e waited\nfalse e\noutside\n");
  CHECK(runner.nested_waits() == 4);
  CHECK(runner.suspensions() == 1);
}

TEST_CASE(
    "a coroutine that a task makes while the main thread waits is not taken for a waiting one") {
  TaskRunner runner;
  TaskRunner::Task& body = runner.AddBody("wait()");
  runner.ResumeTask(body);
  TaskRunner::Task& task = runner.AddTask(
      "local co = coroutine.create(function() return wait(1) end)"
      "out(coroutine.status(co)) out(coroutine.resume(co)) out(coroutine.status(co))");
  runner.ResumeTask(task);
  CHECK(task.output == "suspended\n");
  runner.ResumeTask(task);
  CHECK(task.output == "suspended\ntrue 1\ndead\n");
}

TEST_CASE("an error that ends a cancelled task passes through coroutines and closes them") {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local function closable(name) return setmetatable({}, {__close = function(_, e) out("close", name, e) end}) end
    local x <close> = closable("task")
    local co = coroutine.create(function()
      local y <close> = closable("resumed")
      coroutine.wrap(function() local z <close> = closable("wrapped") wait() cancel() end)()
    end)
    while true do out("survived", coroutine.resume(co)) end
  )lua");
  lua_register(runner.state(), "cancel", [](lua_State* L) {
    RecordOf(L).unwinding = 1;
    lua_newtable(L);
    lua_pushcfunction(L, [](lua_State* state) {
      lua_pushliteral(state, "cancelled");
      return 1;
    });
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
    return lua_error(L);
  });
  runner.RunAll();
  CHECK(task.output ==
        "close wrapped cancelled\nclose resumed cancelled\nclose task cancelled\n"
        "error: (value)");
}

TEST_CASE("a coroutine that yields or ends in a cancelled task does so as ever") {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(R"lua(
    local co = coroutine.create(function() coroutine.yield(wait(1)) return 2 end)
    out(coroutine.resume(co)) out(coroutine.resume(co))
    out(coroutine.wrap(function() coroutine.yield(wait(3)) end)())
  )lua");
  task.unwinding = 1;
  runner.RunAll();
  CHECK(task.output == "true 1\ntrue 2\n3\n");
}

TEST_CASE("in the cleanup of a cancelled task, a resume that is refused fails as ever") {
  TaskRunner runner;
  const char* const script = R"lua(
    local co
    co = coroutine.create(function() out(coroutine.resume(co)) coroutine.yield() end)
    out(coroutine.resume(co), coroutine.status(co))
  )lua";
  TaskRunner::Task& task = runner.AddTask(script);
  task.unwinding = 1;
  runner.RunAll();
  CHECK(task.output == RunStock(script));
}

}  // namespace
}  // namespace shoal::core
