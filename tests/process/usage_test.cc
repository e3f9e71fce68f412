// SPDX-License-Identifier: MIT
#include "runtime/process/usage.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("looking at a process that waits loses none of its wakes") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ping, pong = shoal.channel(), shoal.channel()
    local p = shoal.spawn(function()
      for i = 1, 5000 do pong:send("k", ping:receive("k")) end
    end)
    for i = 1, 3 do
      shoal.spawn({ daemon = true }, function()
        while true do
          p:stats()
          if i == 1 then require "shoal".yield() end
        end
      end)
    end
    for i = 1, 5000 do
      ping:send("k", i)
      assert(pong:receive("k") == i)
    end
    p:join())lua");
  CHECK(result.log.empty());
  CHECK(result.status == 0);
  CHECK(result.clean);
}

TEST_CASE("a wait in a frame that cannot be suspended can be looked at") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel("c")
    local p = shoal.spawn(function()
      table.sort({ 2, 1 }, function(a, b)
        while not done do done = ch:receive("k") == 100 end
        return a < b
      end)
    end)
    local seen = 0
    for i = 1, 100 do
      repeat
        shoal.yield()
        local wait = p:stats().waiting_on
        if wait then
          assert(wait:find('receive on channel "c", key "k"', 1, true), wait)
          seen = seen + 1
        end
      until wait
      ch:send("k", i)
    end
    assert(seen == 100)
    p:join())lua");
  CHECK(result.log.empty());
  CHECK(result.status == 0);
  CHECK(result.clean);
}
