// SPDX-License-Identifier: MIT
#include "runtime/driver/timers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

namespace shoal::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class Timer final : public TimerNode {
 public:
  bool OnDue() override { return true; }
  void Fire() override { ++fired; }
  int fired = 0;
};

class CountingClock final : public Clock {
 public:
  TimePoint Now() const override {
    ++readings;
    return manual.Now();
  }
  ManualClock manual;
  mutable int readings = 0;
};

TEST_CASE("a worker's turn fires its own timers only") {
  ManualClock clock;
  Timers timers(clock, 2);
  Timer mine, others, foreign;
  timers.Arm(mine, clock.Now() + milliseconds(5), 0);
  timers.Arm(others, clock.Now() + milliseconds(5), 1);
  timers.Arm(foreign, clock.Now() + milliseconds(5), -1);
  timers.Turn(0);
  CHECK(mine.fired == 0);
  clock.Advance(milliseconds(5));
  for (int i = 0; i < 16; ++i) timers.Turn(0);
  CHECK(mine.fired == 1);
  CHECK(others.fired == 0);
  CHECK(foreign.fired == 0);
  CHECK(timers.Poll() == 2);
  CHECK(others.fired == 1);
  CHECK(foreign.fired == 1);
}

TEST_CASE("the next deadline is the earliest of all wheels") {
  ManualClock clock;
  Timers timers(clock, 2);
  CHECK(timers.NextDeadline() == kNever);
  CHECK_FALSE(timers.Armed());
  Timer late, early;
  timers.Arm(late, clock.Now() + milliseconds(50), 1);
  timers.Arm(early, clock.Now() + milliseconds(20), -1);
  CHECK(timers.NextDeadline() == clock.Now() + milliseconds(20));
  CHECK(timers.Armed());
  timers.Disarm(early);
  CHECK(timers.NextDeadline() == clock.Now() + milliseconds(50));
  timers.Disarm(late);
  CHECK_FALSE(timers.Armed());
  CHECK(timers.NextDeadline() == kNever);
}

TEST_CASE("the clock is read only if a timer is armed, and seldom while turns are short") {
  CountingClock clock;
  Timers timers(clock, 1);
  clock.readings = 0;
  for (int i = 0; i < 100; ++i) timers.Turn(0);
  CHECK(timers.Poll() == 0);
  CHECK(clock.readings == 0);
  Timer timer;
  timers.Arm(timer, clock.manual.Now() + hours(1), 0);
  for (int i = 0; i < 160; ++i) timers.Turn(0);
  CHECK(clock.readings >= 10);
  CHECK(clock.readings <= 11);
  // Long turns: the clock is read in each.
  clock.readings = 0;
  for (int i = 0; i < 100; ++i) {
    clock.manual.Advance(milliseconds(2));
    timers.Turn(0);
  }
  CHECK(clock.readings >= 100 - 16);
  timers.Disarm(timer);
}

}  // namespace
}  // namespace shoal::core
