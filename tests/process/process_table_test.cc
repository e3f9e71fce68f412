// SPDX-License-Identifier: MIT
#include "runtime/process/process_table.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("processes are found by id and by name while they live") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    local a = shoal.spawn({ name = "twin" }, function(ch) ch:receive("go") end, ch)
    local b = shoal.spawn({ name = "twin" }, function(ch) ch:receive("go") end, ch)
    assert(shoal.process(a.id) == a and shoal.process("twin") == a)
    local all = shoal.processes()
    assert(#all == 3 and all[1] == shoal.self() and all[2] == a and all[3] == b)
    ch:send("go", 1) ch:send("go", 1)
    a:join() b:join()
    assert(shoal.process(a.id) == nil and shoal.process("twin") == nil)
    assert(shoal.process(99) == nil))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("the first process can wait for the end of all others but daemons") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel()
    shoal.spawn({ daemon = true }, function() local s = require "shoal"
      while true do s.sleep(0.01) end end)
    assert(shoal.wait() == true)
    shoal.spawn(function(ch) ch:receive("go") end, ch)
    local none, why = shoal.wait(0.01)
    assert(none == nil and why == "timeout")
    ch:send("go", 1)
    assert(shoal.wait() == true))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
  REQUIRE(result.clean);
}

TEST_CASE("the wait for all others ends when they can never run again") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn(function() require "shoal".channel("none"):receive("k") end)
    assert(shoal.wait() == true)
    assert(shoal.wait() == true))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
