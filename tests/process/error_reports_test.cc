// SPDX-License-Identifier: MIT
#include "runtime/process/error_reports.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/process/failure.h"
#include "tests/support/script_runner.h"

using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("a process that is joined at once is not reported, however fast it fails") {
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    for i = 1, 50 do
      local ok, err = shoal.spawn(function() error("boom") end):join()
      assert(ok == nil and err:find("boom"))
    end)lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}

TEST_CASE("a failure is reported while the program runs, though its handle is kept") {
  // A thread that stands still may report it later than the script joins it: then it is not.
  RunResult result;
  for (int attempt = 0; attempt < 20 && result.log.empty(); ++attempt) {
    result = RunScript(R"lua(
      local shoal = require "shoal"
      local p = shoal.spawn(function() error("boom") end)
      shoal.sleep(0.2)
      os.exit(p:join() == nil and 0 or 3, true))lua");
    REQUIRE(result.status == 0);
  }
  REQUIRE(result.log.find("process 2: script:3: boom") == 0);
}

TEST_CASE("what waits to be reported is said at the end of the program") {
  const RunResult result = RunScript(R"lua(
    keep = require "shoal".spawn(function() error("boom") end)
    keep = nil)lua");
  REQUIRE(result.log.find("process 2: script:2: boom") == 0);
  REQUIRE(result.status == 1);
}

TEST_CASE("what fails behind a flush, while no time passes, is said at the end") {
  struct Lines final : shoal::core::Log {
    void Write(shoal::core::LogLevel, std::string_view text) override { all.append(text); }
    std::string all;
  };
  const shoal::core::ManualClock clock;
  Lines lines;
  {
    shoal::core::ErrorReports reports(clock, lines);
    reports.Flush();
    const auto failure =
        shoal::core::Ref<shoal::core::Failure>::Adopt(new shoal::core::Failure("why", "where"));
    reports.Add(failure, "what");
    reports.Flush();
  }
  REQUIRE(lines.all == "what");
}
