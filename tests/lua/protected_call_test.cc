// SPDX-License-Identifier: MIT
#include "runtime/lua/protected_call.h"

#include <catch2/catch.hpp>

#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// Raises its argument as the cancel of a task does.
int Cancel(lua_State* L) {
  ++RecordOf(L).unwinding;
  lua_settop(L, 1);
  return lua_error(L);
}

// The output of a script in a task, with all waits suspending.
std::string Run(const char* script) {
  TaskRunner runner;
  lua_register(runner.state(), "cancel", Cancel);
  TaskRunner::Task& task = runner.AddTask(script);
  runner.RunAll();
  return task.output;
}

TEST_CASE("a protected call keeps its arguments, results and errors over waits") {
  CHECK(Run(R"lua(
    out(pcall(function(...) wait() return wait(...) end, 1, nil, nil))
    out(pcall(function(...) wait() error(wait(...), 0) end, "e"))
    out(xpcall(function(...) wait() return wait(...) end, error, 1, nil, nil))
    out(xpcall(function(...) wait() error(wait(...), 0) end, function(m) return m, "dropped" end, "e"))
    out(pcall(pcall, xpcall, function() wait() error(setmetatable({}, {__tostring = function() return "E" end})) end,
      function(m) return m end))
  )lua") == "true 1 nil nil\nfalse e\ntrue 1 nil nil\nfalse e\ntrue true false E\n");
}

TEST_CASE("no protected call survives the cancel of its task") {
  CHECK(Run(R"lua(
    local function closable(name) return setmetatable({}, {__close = function(_, e)
      out(name, e, pcall(function() return "works" end)) end}) end
    local a <close> = closable("a")
    pcall(function()
      local b <close> = closable("b")
      out("survived", xpcall(function()
        while true do out("survived", pcall(function() wait() cancel("C") end)) end
      end, function(m) return m .. "!" end))
    end)
    out("survived")
  )lua") == "b cancelled true works\na cancelled true works\nerror: cancelled");
}

TEST_CASE("cleanup code catches its own errors, but not another cancel") {
  CHECK(Run(R"lua(
    local x <close> = setmetatable({}, {__close = function()
      out(pcall(error, "mine", 0)) out(xpcall(error, function(m) return m .. "!" end, "mine", 0))
      out(pcall(function() wait() error("after a wait", 0) end))
      pcall(function() pcall(cancel, "D") out("survived") end)
      out("survived") end})
    cancel("C")
  )lua") == "false mine\nfalse mine!\nfalse after a wait\nerror: D");
}

TEST_CASE("a protected call that succeeds in a cancelled task returns") {
  CHECK(Run(R"lua(
    local x <close> = setmetatable({}, {__close = function()
      out(pcall(wait, 1)) out(xpcall(wait, error, 2)) end})
    cancel("C")
  )lua") == "true 1\ntrue 2\nerror: C");
}

}  // namespace
}  // namespace shoal::core
