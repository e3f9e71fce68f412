// SPDX-License-Identifier: MIT
#include "runtime/process/process.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a script that returns ends the program with status 0") {
  const RunResult result = RunScript("return 1");
  REQUIRE(result.status == 0);
  REQUIRE(result.log.empty());
  REQUIRE(result.clean);
}

TEST_CASE("a process runs apart from its creator and returns its results") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    x = 1
    local p = shoal.spawn(function(a, b) assert(x == nil) x = 2 return a + b, nil, "end" end, 3, 4)
    local ok, sum, none, last = p:join()
    assert(ok == true and sum == 7 and none == nil and last == "end")
    assert(x == 1))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a process may return or raise its own handle") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    for i = 1, 100 do
      local p = shoal.spawn(function() return require "shoal".self() end)
      assert(p:result() == p and p:result() == p)
      local q = shoal.spawn(function() error(require "shoal".self()) end)
      assert(select(2, q:join()) == q)
    end)lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("an error of a process that nobody joins is reported and counts") {
  const RunResult result = RunScript(R"lua(
    require "shoal".spawn({ name = "worker" }, function() error("boom") end))lua");
  REQUIRE(result.status == 1);
  REQUIRE(result.log.find("process 2 (worker): script:2: boom") == 0);
  REQUIRE(result.log.find("stack traceback:") != std::string::npos);
}

TEST_CASE("an error that is joined later no longer counts") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn(function() error("boom") end)
    while p:status() ~= "error" do shoal.yield() end
    local ok, err = p:join()
    assert(ok == nil and err:find("boom")))lua");
  REQUIRE(result.status == 0);
}

TEST_CASE("an error of the script ends the program, whatever else runs") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn(function() local s = require "shoal" while true do s.sleep(0.01) end end)
    error("the end"))lua");
  REQUIRE(result.status == 1);
  REQUIRE(result.log.find("script:4: the end") == 0);
  REQUIRE(result.clean);
}

TEST_CASE("the body's error cancels the other tasks of its process, whose cleanup runs") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch)
      local s = require "shoal"
      s.task(function()
        local x <close> = setmetatable({}, { __close = function() ch:send("closed", true) end })
        ch:receive("never")
      end)
      s.yield()
      error("body")
    end, ch)
    local ok, err = p:join()
    assert(ok == nil and err:find("body"))
    assert(ch:receive("closed", 0) == true))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("what can never run again at the end is cancelled quietly") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn(function() require "shoal".channel("none"):receive("k") end))lua");
  REQUIRE(result.status == 0);
  REQUIRE(result.log.empty());
  REQUIRE(result.clean);
}

TEST_CASE("a yield of a C function at the bottom of a task is an error as in stock Lua") {
  const RunResult result = RunScript(R"lua(
    local ok, err = pcall(coroutine.yield)
    assert(not ok and err:find("outside a coroutine")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
