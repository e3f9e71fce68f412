// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a cancelled process ends wherever it stands: waiting, ready, or not started") {
  for (const int workers : {1, 2}) {
    const RunResult result = RunScript(R"lua(
      local shoal = require "shoal"
      local all, ch = {}, shoal.channel()
      for i = 1, 300 do
        all[i] = shoal.spawn(function()
          while true do
            ch:receive("never", i % 3 == 0 and 0 or i % 3 == 1 and 0.001 or nil)
          end
        end)
        if i % 2 == 0 then all[i]:cancel() end
        if i % 50 == 0 then shoal.yield() end
      end
      for i = 1, 300 do all[i]:cancel() end
      for i = 1, 300 do
        assert(select(2, all[i]:join()) == shoal.cancelled)
      end)lua",
                                       {.workers = workers});
    REQUIRE(result.log.empty());
    REQUIRE(result.status == 0);
    REQUIRE(result.clean);
  }
}

TEST_CASE("many cancel one process at once, with different times") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    for i = 1, 100 do
      local victim = shoal.spawn(function()
        local x <close> = setmetatable({}, { __close = function() shoal.sleep(1000) end })
        shoal.sleep(1000)
      end)
      local all = {}
      for j = 1, 4 do
        all[j] = shoal.spawn(function(p) p:cancel(j == 3 and 0.001 or 500) end, victim)
      end
      for j = 1, 4 do all[j]:result() end
      assert(select(2, victim:join()) == shoal.cancelled)
    end)lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
