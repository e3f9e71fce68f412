// SPDX-License-Identifier: MIT
#include "runtime/process/task.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a task starts after the call that makes it has returned") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ran = false
    local t = shoal.task(function(a, b) ran = true return a, b end, 1, nil)
    assert(not ran and t:status() == "ready")
    local ok, a, b = t:join()
    assert(ok and a == 1 and b == nil and ran and t:status() == "done"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a task gives its results as they are to all who join") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local co = coroutine.create(print)
    local t = shoal.task(function() return co end)
    assert(t:result() == co)
    assert(select(2, t:join()) == co))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("an error of a task that nobody joins is reported, and the process goes on") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.task(function() error("boom") end)
    shoal.yield()
    return "fine")lua");
  REQUIRE(result.status == 0);
  REQUIRE(result.log.find("a task of process 1: script:3: boom") == 0);
}

TEST_CASE("a process ends when its body has returned and its tasks have ended") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local p = shoal.spawn(function(ch)
      local s = require "shoal"
      s.task(function() s.sleep(0.005) ch:set("late", true) end)
      return "early"
    end, ch)
    assert(p:result() == "early" and ch:get("late") == true))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a task cannot join itself, nor a process itself") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local t
    t = shoal.task(function() return pcall(t.join, t) end)
    local ok, err = t:result()
    assert(not ok and err:find("cannot join itself"))
    ok, err = pcall(function() return shoal.self():join() end)
    assert(not ok and err:find("cannot join itself")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
