// SPDX-License-Identifier: MIT
#include "runtime/process/task_entry.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("an error keeps its value, and its traceback beside it") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ok, err, trace = shoal.spawn(function() error{ code = 5 } end):join()
    assert(ok == nil and err.code == 5 and trace:find("^stack traceback:\n"))
    ok, err = shoal.spawn(function() local x = nil; return x.y end):join()
    assert(ok == nil and err:find("^script:5: attempt to index a nil value")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("results that cannot travel are the error of the process") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ok, err = shoal.spawn(function() return 1, { coroutine.create(print) } end):join()
    assert(ok == nil and err:find("cannot send a coroutine %(at %[2%]%[1%]%)"), err)
    ok, err = shoal.spawn(function() error(coroutine.create(print)) end):join()
    assert(ok == nil and err == "(error object is a thread value)", err))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a process has what it was given and nothing else of its creator") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    package.path = "./nowhere/?.lua"
    package.preload.given = function() return "module" end
    other = "global"
    local p = shoal.spawn({ env = { answer = 42 }, libs = { "package", "string" } }, function()
      assert(answer == 42 and other == nil)
      assert(io == nil and os == nil and table == nil and string ~= nil)
      assert(package.path == "./nowhere/?.lua" and require "given" == "module")
      return true
    end)
    assert(p:result()))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("math.random is seeded apart in each process, or as asked") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local function draw(opts) return shoal.spawn(opts, function() return math.random(0) end):result() end
    assert(draw({}) ~= draw({}))
    assert(draw({ seed = 7 }) == draw({ seed = 7 }))
    math.randomseed(7)
    assert(draw({ seed = 7 }) == math.random(0)))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a pending close handler of a body that fails may wait") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch)
      local s = require "shoal"
      local x <close> = setmetatable({}, { __close = function(_, err)
        s.sleep(0.002)
        ch:send("closed", err)
      end })
      error("boom", 0)
    end, ch)
    assert(select(2, p:join()) == "boom" and ch:receive("closed", 0) == "boom"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
