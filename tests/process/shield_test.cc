// SPDX-License-Identifier: MIT
#include "runtime/process/shield.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("the shields of a process go with it, wherever it leaves them") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    for i = 1, 30 do
      local p = shoal.spawn(function()
        for j = 1, 10 do
          local co = coroutine.wrap(function() shoal.shield(coroutine.yield) end)
          co()
          if j % 2 == 0 then collectgarbage() end
          shoal.task(function() pcall(shoal.shield, error, "x") end)
          shoal.task(function() shoal.shield(shoal.sleep, 0.001) end)
        end
        if i % 3 == 0 then shoal.self():cancel() end
        if i % 3 == 1 then error("x") end
        shoal.yield()
      end)
      p:join()
    end)lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.clean);
}
