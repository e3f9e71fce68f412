// SPDX-License-Identifier: MIT
#include "runtime/base/clock.h"

#include <catch2/catch.hpp>

using namespace shoal::core;
using namespace std::chrono_literals;

TEST_CASE("a manual clock stands still until it is moved") {
  ManualClock clock;
  const TimePoint start = clock.Now();
  REQUIRE(clock.Now() == start);
  clock.Advance(5ms);
  REQUIRE(clock.Now() == start + 5ms);
}

TEST_CASE("a deadline beyond the end of time is never") {
  const TimePoint now = ManualClock().Now();
  REQUIRE(DeadlineAfter(now, 1s) == now + 1s);
  REQUIRE(DeadlineAfter(now, Duration::max()) == kNever);
  REQUIRE(DeadlineAfter(kNever - 1ns, 1s) == kNever);
}

TEST_CASE("a simulated clock goes on by each look, and by being moved") {
  SimulatedClock clock;
  const TimePoint start = clock.Now();
  REQUIRE(clock.elapsed() == 1us);
  REQUIRE(clock.Now() == start + 1us);
  clock.AdvanceTo(start + 1h);
  REQUIRE(clock.Now() == start + 1h + 1us);
  clock.AdvanceTo(start);
  REQUIRE(clock.Now() == start + 1h + 2us);
  REQUIRE(clock.elapsed() == 1h + 3us);
}
