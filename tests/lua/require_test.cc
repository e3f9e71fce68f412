// SPDX-License-Identifier: MIT
#include "runtime/lua/require.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/task_runner.h"

namespace shoal::core {
namespace {

// What needs no waiting, as in stock Lua.
const char* const kScript = R"lua(
local function try(...) out(select("#", pcall(require, ...)), pcall(require, ...)) end
local preload = package.preload
try() try(nil) try({}) try(true)
try("no.such")
preload.value = function(...) out("loading", ...) return "V" end
try("value") try("value")
preload.nothing = function() end
try("nothing") try("nothing")
preload.falsy = function() out("loading falsy") return false end
try("falsy") try("falsy")
preload.sets = function(name) package.loaded[name] = "set" end
try("sets")
preload.overrides = function(name) package.loaded[name] = "set" return "returned" end
try("overrides")
preload.fails = function(name) out("loading fails") error("in the module") end
try("fails")
preload.raises = function(name) error({}) end
out(type(select(2, pcall(require, "raises"))))
preload.many = function() return 1, 2, 3 end
try("many")
preload[12] = function(...) return math.type((...)), "x" end
preload["12"] = function(...) return type((...)) end
try(12)
preload["a\0b"] = function() return "never" end
preload.a = function(name) return #name end
try("a\0b")
-- A cycle, and one that is broken by package.loaded.
local depth = 0
preload.c1 = function() depth = depth + 1 if depth > 5 then return "enough" end return {require("c2")} end
preload.c2 = function() return {require("c1")} end
out(type(require("c1")), depth)
preload.d1 = function(name) package.loaded[name] = {1} return require("d2") end
preload.d2 = function() return {require("d1")} end
out(#require("d1"), #require("d2"))
preload.endless = function() return require("endless") end
out(pcall(require, "endless"))
-- Searchers of all kinds.
local searchers = package.searchers
local function with(list, name) package.searchers = list try(name or "wanted") package.searchers = searchers end
with(nil) with(5) with({}) with({nil, out})
with({function(...) out("searching", ...) return "\n\tfirst says no" end, function() return 12.5 end,
  function() end, function() return nil, "ignored" end, function() return {} end, function() return "last" end})
with({function(name) return function(...) out("loader", ...) return "L" end, "extra", "dropped" end}, "w1")
with({function(name) return function(...) out(select("#", ...), ...) end end}, "w2")
with({function() error("searcher fails") end}) with({function() error() end}) with({12})
with({setmetatable({}, {__call = function(self, name) return function() return "called " .. name end end})}, "w3")
with(setmetatable({}, {__index = function() return out end}))
-- Files.
local file_name = os.tmpname()
local folder, name = file_name:match("^(.*)/([^/]*)$")
local function write(text) local f = assert(io.open(file_name, "w")) f:write(text) f:close() end
package.path, package.cpath = folder .. "/?", "./?.so"
local function clean(...) local r = table.pack(...) for i = 1, r.n do r[i] = tostring(r[i]):gsub("lua_%w+", "FILE") end
  return table.unpack(r, 1, r.n) end
write("out(select('#', ...), (select(2, ...):gsub('lua_%w+', 'FILE'))) return {}")
out(clean(select(2, require(name)), (require(name)) == package.loaded[name]))
package.loaded[name] = nil
write("this is no Lua")
out(clean(pcall(require, name)))
write("local function f() error('deep') end f()")
out(clean(xpcall(require, debug.traceback, name)))
out(clean(pcall(require, "missing")))
package.path = nil
out(pcall(require, "missing"))
package.path, package.cpath = "", nil
out(pcall(require, "missing"))
os.remove(file_name)
-- Where user code cannot yield.
preload.yields = function() out(coroutine.isyieldable(), pcall(coroutine.yield))
  coroutine.wrap(function() coroutine.yield(out("inner", coroutine.isyieldable())) end)() return 1 end
out(coroutine.resume(coroutine.create(function() return require("yields"), coroutine.isyieldable() end)))
-- Unusual ways to leave.
local co = coroutine.create(function() preload.dies = function() error("dies", 0) end require("dies") end)
out(coroutine.resume(co)) out(coroutine.close(co))
preload.dies = function() return "lives" end
try("dies")
setmetatable(package.loaded, {__index = function(_, k) if k == "virtual" then return "by __index" end end,
  __newindex = function(t, k, v) out("set", k) rawset(t, k, v) end})
try("virtual") preload.real = function() return "R" end try("real")
)lua";

TEST_CASE("require does what stock's does") {
  const std::string stock = RunStock(kScript);
  CHECK(RunOurs(kScript) == stock);
  CHECK(stock.find("error: ") == std::string::npos);
  // Also in a task, where there is a host and the base is a coroutine.
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(kScript);
  runner.RunAll();
  CHECK(task.output == stock);
  CHECK(runner.record().loads == nullptr);
}

TEST_CASE("modules and searchers may wait, at any depth") {
  TaskRunner runner;
  TaskRunner::Task& task = runner.AddTask(R"lua(
    package.preload.a = function(name, data) out(name, wait(data)) local b = require("b")
      return wait("A" .. b), wait(2) end
    package.preload.b = function(...) return coroutine.wrap(function() wait() return pcall(wait, "B") end)() and "B" end
    table.insert(package.searchers, 1, function(name) wait() return wait("not here") end)
    out(require("a"))
    out(require("a"))
    out(pcall(function() return wait(require("b")) end))
    out((select(2, pcall(require, "c")):sub(1, 40)))
  )lua");
  runner.RunAll();
  CHECK(task.output ==
        "a :preload:\nAB :preload:\nAB\ntrue B\nmodule 'c' not found:\n\tnot here\n\tno fiel\n");
  CHECK(runner.suspensions() > 8);
  CHECK(runner.record().loads == nullptr);
}

const char* const kModules = R"lua(
  loads = 0
  package.preload.slow = function() loads = loads + 1 for i = 1, 5 do wait() end return {n = loads} end
  package.preload.fails = function() loads = loads + 1 wait() if loads == 1 then error("fails", 0) end return "ok" end
  package.preload.x = function() out("load x") wait() return {require("y")} end
  package.preload.y = function() out("load y") wait() package.loaded.y = "early" wait() return {require("x")} end
)lua";

TEST_CASE("tasks that require the same module wait for the one that loads it") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    TaskRunner runner(seed);
    runner.ResumeTask(runner.AddBody(kModules));
    TaskRunner::Task* tasks[4];
    for (auto& task : tasks) {
      task = &runner.AddTask(
          "coroutine.wrap(function() local m = require('slow') out(m.n, m == package.loaded.slow) "
          "end)()");
    }
    runner.RunAll();
    for (auto* task : tasks) CHECK(task->output == "1 true\n");
    CHECK(runner.record().loads == nullptr);
  }
}

TEST_CASE("if the load fails, the next task that waits tries itself") {
  TaskRunner runner;
  runner.ResumeTask(runner.AddBody(kModules));
  TaskRunner::Task& first = runner.AddTask("out(pcall(require, 'fails'))");
  TaskRunner::Task& second = runner.AddTask("out(pcall(require, 'fails'))");
  runner.ResumeTask(first);
  runner.ResumeTask(second);
  CHECK(second.waits_for_loads);
  runner.RunAll();
  CHECK(first.output == "false fails\n");
  CHECK(second.output == "true ok :preload:\n");
}

TEST_CASE("a load that died with its coroutine holds nobody up") {
  TaskRunner runner;
  runner.ResumeTask(runner.AddBody(kModules));
  TaskRunner::Task& first = runner.AddTask(
      "co = coroutine.create(function() require('fails') end) out(coroutine.resume(co)) wait() "
      "wait()");
  TaskRunner::Task& second = runner.AddTask("out(pcall(require, 'fails'))");
  TaskRunner::Task& third = runner.AddTask("out(pcall(require, 'fails'))");
  runner.ResumeTask(first);
  runner.ResumeTask(second);
  CHECK(second.waits_for_loads);
  runner.ResumeTask(first);
  CHECK(first.output == "false fails\n");
  CHECK_FALSE(second.waits_for_loads);
  CHECK(runner.record().loads != nullptr);
  runner.ResumeTask(second);
  runner.ResumeTask(third);
  CHECK(third.waits_for_loads);
  runner.RunAll();
  CHECK(second.output == "true ok :preload:\n");
  CHECK(third.output == "true ok\n");
  // The dead coroutine still holds its load; the collector drops both.
  luaL_dostring(runner.state(), "co = nil collectgarbage()");
  CHECK(runner.record().loads == nullptr);
}

TEST_CASE("tasks that load modules which require each other do not wait for ever") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    TaskRunner runner(seed);
    runner.ResumeTask(runner.AddBody(kModules));
    TaskRunner::Task& first = runner.AddTask("out(type(require('x')))");
    TaskRunner::Task& second = runner.AddTask("out(type(require('y')))");
    runner.RunAll();
    INFO("seed " << seed);
    CHECK(first.is_done);
    CHECK(second.is_done);
    CHECK(first.error.empty());
    CHECK(second.error.empty());
    CHECK(runner.record().loads == nullptr);
  }
}

TEST_CASE("a circle of three tasks and modules is an error as in stock Lua, not a deadlock") {
  TaskRunner runner;
  runner.ResumeTask(runner.AddBody(R"lua(
    local function module(other) return function() wait() return {require(other)} end end
    package.preload.p, package.preload.q, package.preload.r = module("q"), module("r"), module("p")
  )lua"));
  TaskRunner::Task* tasks[3];
  for (int i = 0; i < 3; ++i) {
    const std::string name(1, static_cast<char>('p' + i));
    tasks[i] = &runner.AddTask("out((select(2, pcall(require, '" + name +
                               "')):match('C stack overflow')))");
  }
  runner.RunAll();
  for (const auto* task : tasks) CHECK(task->output == "C stack overflow\n");
  CHECK(runner.record().loads == nullptr);
}

TEST_CASE("a task that ends while it waits for a load leaves nothing behind") {
  TaskRunner runner;
  runner.ResumeTask(runner.AddBody(kModules));
  TaskRunner::Task& loader = runner.AddTask("out(require('slow').n)");
  TaskRunner::Task& other = runner.AddTask("require('slow')");
  runner.ResumeTask(loader);
  runner.ResumeTask(other);
  CHECK(other.waits_for_loads);
  lua_resetthread(other.co);
  other.is_done = true;
  runner.RunAll();
  CHECK(loader.output == "1\n");
  CHECK(runner.record().loads == nullptr);
}

TEST_CASE("a wait for a load that is cancelled raises and leaves the load alone") {
  TaskRunner runner;
  runner.CancelLoadWaits();
  runner.ResumeTask(runner.AddBody(kModules));
  TaskRunner::Task& loader = runner.AddTask("out(require('slow').n)");
  TaskRunner::Task& other = runner.AddTask("out(pcall(require, 'slow')) out(require('slow').n)");
  runner.ResumeTask(loader);
  runner.ResumeTask(other);
  runner.RunAll();
  CHECK(loader.output == "1\n");
  CHECK(other.output.find("cancelled\n1\n") != std::string::npos);
  CHECK(runner.record().loads == nullptr);
}

TEST_CASE("a wait for a load that cannot end is not begun") {
  TaskRunner runner;
  runner.ResumeTask(runner.AddBody(kModules));
  // The load of the first task stands below the second on the C stack, in a comparator.
  TaskRunner::Task& first = runner.AddTask(R"lua(
    package.preload.nested = function() loads = loads + 1
      if loads == 1 then table.sort({2, 1}, function(a, b) wait() return a < b end) end return loads end
    out(require("nested"))
  )lua");
  TaskRunner::Task& second =
      runner.AddTask("table.sort({2, 1}, function(a, b) out(require('nested')) return a < b end)");
  runner.ResumeTask(first);
  CHECK(second.output.substr(0, 12) == "2 :preload:\n");
  CHECK(first.output == "2 :preload:\n");  // its loader returns the number of loads
}

TEST_CASE("lack of memory at any point of a load is an error and leaves nothing behind") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  OpenLibraries(L, kAllLibraries);
  CHECK_FALSE(luaL_dostring(L, "package.preload.m = function(...) return {...} end"));
  bool loaded = false;
  for (std::size_t spare = 0; !loaded; spare += 16) {
    REQUIRE(spare < 100000);
    CHECK_FALSE(luaL_dostring(L, "package.loaded.m = nil debug.getregistry()['shoal.load'] = nil"));
    lua_gc(L, LUA_GCCOLLECT);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "m");
    allocator.limit = allocator.used + spare;
    loaded = lua_pcall(L, 1, 0, 0) == LUA_OK;
    allocator.limit = SIZE_MAX;
    CHECK((loaded || std::string(lua_tostring(L, -1)) == "not enough memory"));
    CHECK(record.loads == nullptr);
    lua_settop(L, 0);
  }
  CloseState(L);
  CHECK(allocator.used == 0);
}

TEST_CASE("a state without package requires what is loaded or preloaded") {
  TaskRunner runner(1, kLibShoal | kLibString);
  lua_State* const L = runner.state();
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, [](lua_State* state) {
    lua_pushfstring(state, "module %s", lua_tostring(state, 1));
    return 1;
  });
  lua_setfield(L, -2, "shoal");
  lua_settop(L, 0);
  TaskRunner::Task& body = runner.AddBody(R"lua(
    out(require("shoal"))
    out(require("shoal"))
    out(require("string") == string, package)
    out(pcall(require, "table"))
    out(pcall(require))
  )lua");
  runner.RunAll();
  CHECK(body.output ==
        "module shoal :preload:\nmodule shoal\ntrue nil\n"
        "false module 'table' not found:\n\tno field package.preload['table']\n"
        "false bad argument #1 to 'require' (string expected, got no value)\n");
}

}  // namespace
}  // namespace shoal::core
