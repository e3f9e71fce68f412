// SPDX-License-Identifier: MIT
#include "runtime/process/cpu_limit.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

namespace shoal::core {
namespace {

TEST_CASE("the end is due once, the stop of cleanup code again and again") {
  const SteadyClock clock;
  test::CollectedLog log;
  const bindings::ShoalLibrary library;
  Runtime runtime({.workers = 1, .clock = clock, .log = log, .library = library});
  using Due = CpuLimit::Due;
  const Duration second = std::chrono::seconds(1);
  CpuLimit limit(runtime.machine(), 2 * second);
  CHECK(limit.Look(Duration(0)) == Due::kNothing);
  CHECK(limit.Look(2 * second - Duration(1)) == Due::kNothing);
  CHECK(limit.Look(2 * second) == Due::kEnd);
  CHECK(limit.Look(2 * second) == Due::kNothing);
  Duration used = 2 * second + CpuLimit::kCleanupTime;
  CHECK(limit.Look(used - Duration(1)) == Due::kNothing);
  for (int i = 0; i < 3; ++i) {
    CHECK(limit.Look(used) == Due::kStop);
    CHECK(limit.Look(used) == Due::kNothing);
    used += CpuLimit::kStopInterval;
  }
}

TEST_CASE("a process that has used up its time ends, on one worker, while others wait for it") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn({ cpu_limit = 0.01 }, "while true do pcall(function() while true do end end) end")
    local q = shoal.spawn(function() return 1 end)
    assert(select(2, p:join()) == "cpu limit of 0.01 s reached")
    assert(q:result() == 1))lua",
                                     {.workers = 1});
  CHECK(result.log == "");
  CHECK(result.status == 0);
  CHECK(result.clean);
}

// A C function that takes long costs its thread the seat; what cleans up afterwards needs one.
TEST_CASE("a process that has lost its seat when its time is up gets one for its cleanup") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local all = {}
    local function run(...) return select(2, shoal.spawn(...):join(50)) end
    for i = 1, 6 do
      all[i] = shoal.task(run, { cpu_limit = 0.03 }, [[
        local _ <close> = setmetatable({}, { __close = function() while true do end end })
        local text = ("a"):rep(120)
        while true do string.find(text, ("a-"):rep(3) .. "b") end]])
    end
    for i = 1, 6 do assert(all[i]:result() == "cpu limit of 0.03 s reached") end)lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
  CHECK(result.clean);
}

TEST_CASE("a limit that is far away is no timer that the program waits for") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    shoal.spawn({ cpu_limit = 1e9 }, function()
      table.sort({ 2, 1 }, function() require "shoal".channel():receive("never") end)
    end)
    shoal.wait())lua");
  CHECK(result.log == "");
  CHECK(result.status == 0);
}

}  // namespace
}  // namespace shoal::core
