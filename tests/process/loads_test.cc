// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "runtime/process/process.h"
#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a module body may wait, and a second task that requires it waits for it") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local loads = 0
    package.preload.slow = function() loads = loads + 1 shoal.sleep(0.005) return { n = loads } end
    local t = shoal.task(function() return require "slow" end)
    local u = shoal.task(function() return require "slow" end)
    assert(t:result() == u:result() and loads == 1))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a module that fails while another task waits for it is tried by that one") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local loads = 0
    package.preload.slow = function()
      loads = loads + 1
      shoal.sleep(0.005)
      if loads == 1 then error("first") end
      return "second"
    end
    local t = shoal.task(function() return pcall(require, "slow") end)
    local u = shoal.task(function() return pcall(require, "slow") end)
    local ok, err = t:result()
    assert(not ok and err:find("first"))
    local ok2, value = u:result()
    assert(ok2 and value == "second"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
