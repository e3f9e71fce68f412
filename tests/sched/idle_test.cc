// SPDX-License-Identifier: MIT
#include "runtime/sched/idle.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>

#include "runtime/sched/queues.h"
#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

constexpr std::uint64_t kUnsettled = ~std::uint64_t{0};
using Searching = Idle::Searching;
using Parking = Idle::Parking;

// Four workers without threads.
struct Seatless {
  Seatless() : idle(4, source), queues(idle) {
    REQUIRE(queues.Init(4, 1) == Status::kOk);
    for (int i = 0; i < 4; ++i) queues.worker(i).parker = &parkers[i];
  }
  Parking Register(int index, Searching searching = Searching::kNo) {
    return idle.Register(queues.worker(index), searching, kUnsettled, &epoch);
  }
  TestSource source;
  Idle idle;
  Queues queues;
  Parker parkers[4];
  std::uint32_t epoch = 0;
};

TEST_CASE("at most half of the workers search") {
  Seatless four;
  CHECK(four.idle.BeginSearch());
  CHECK(four.idle.BeginSearch());
  CHECK_FALSE(four.idle.BeginSearch());
  CHECK_FALSE(four.idle.EndSearch());
  CHECK(four.idle.EndSearch());
}

TEST_CASE("a notice wakes one parked worker, and none while that one searches") {
  Seatless four;
  CHECK(four.Register(0) == Parking::kParked);
  CHECK(four.Register(1) == Parking::kParked);
  CHECK(four.Register(2) == Parking::kParked);
  CHECK(four.idle.activity().active == 1);
  four.idle.Notify();
  four.idle.Notify();
  CHECK(four.idle.wakes() == 1);
  CHECK(four.idle.activity().active == 2);
  // The last that parked; the first is timekeeper and stays.
  CHECK(four.parkers[2].Park(TimePoint::min()));
  CHECK_FALSE(four.parkers[1].Park(TimePoint::min()));
  CHECK(four.idle.EndSearch());
  four.idle.Notify();
  CHECK(four.parkers[1].Park(TimePoint::min()));
  CHECK(four.idle.EndSearch());
  four.idle.Notify();
  CHECK(four.source.interrupts.load() == 1);
  four.idle.Stop();
}

TEST_CASE("the last active worker does not park before it has settled") {
  Seatless four;
  for (int i = 0; i < 3; ++i) CHECK(four.Register(i) == Parking::kParked);
  CHECK(four.Register(3) == Parking::kLast);
  CHECK(four.idle.activity().active == 1);
  const std::uint32_t epoch = four.epoch;
  // Somebody was woken meanwhile and has parked again: that is a new epoch.
  four.idle.Unregister(four.queues.worker(1));
  CHECK(four.Register(1, Searching::kYes) == Parking::kParked);
  CHECK(four.idle.Register(four.queues.worker(3), Searching::kNo, epoch, &four.epoch) ==
        Parking::kLast);
  CHECK(four.idle.Register(four.queues.worker(3), Searching::kNo, four.epoch, &four.epoch) ==
        Parking::kParked);
  CHECK(four.idle.activity().active == 0);
  four.idle.Stop();
}

TEST_CASE("nobody parks after the stop") {
  Seatless four;
  CHECK(four.Register(0) == Parking::kParked);
  CHECK(four.Register(1) == Parking::kParked);
  four.idle.Stop();
  CHECK(four.source.interrupts.load() == 1);
  CHECK(four.parkers[1].Park(TimePoint::min()));
  CHECK(four.Register(2) == Parking::kStopped);
}

TEST_CASE("exactly one of the parked workers has the timeout") {
  TestSource source;
  source.armed = 1;
  source.deadline = 5'000'000'000;
  Scheduler scheduler({.workers = 4, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  REQUIRE(Eventually([&] { return scheduler.counters().parks == 4 && source.sleepers == 1; }));
  CHECK(source.slept_until.load() == 5'000'000'000);
  CHECK_FALSE(source.two_slept.load());
  CHECK(scheduler.Stop());
}

TEST_CASE("a foreign thread that arms an earlier timer makes the timekeeper look again") {
  TestSource source;
  source.armed = 1;
  source.deadline = 5'000'000'000;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  REQUIRE(Eventually([&] { return source.slept_until.load() == 5'000'000'000; }));
  REQUIRE(Eventually([&] { return scheduler.counters().parks == 2; }));
  const int before = source.interrupts.load();
  scheduler.DeadlineArmed(TimePoint(Duration(6'000'000'000)));  // later: no need
  CHECK(source.interrupts.load() == before);
  source.deadline = 2'000'000'000;
  scheduler.DeadlineArmed(TimePoint(Duration(2'000'000'000)));
  CHECK(Eventually([&] { return source.slept_until.load() == 2'000'000'000; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("a worker that has armed an earlier timer makes the timekeeper look again as it parks") {
  TestSource source;
  source.armed = 1;
  source.deadline = 5'000'000'000;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  REQUIRE(Eventually([&] { return scheduler.counters().parks == 2; }));
  Job job([&] { source.deadline = 1'000'000'000; });
  scheduler.Ready(job);
  CHECK(Eventually([&] { return source.slept_until.load() == 1'000'000'000; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("a timer that is armed while the timekeeper makes up its mind is not overslept") {
  Seatless four;
  four.source.deadline = 5'000'000'000;
  int looks = 0;
  four.source.after_next_deadline = [&] {
    // A foreign thread arms just after the first look, and finds nobody asleep.
    if (++looks != 1) return;
    four.source.deadline = 0;
    four.idle.DeadlineArmed(TimePoint());
  };
  CHECK(four.Register(0) == Parking::kParked);
  CHECK(four.idle.Sleep(four.queues.worker(0)));
  CHECK(four.source.slept_until.load() == 0);
  CHECK(four.source.interrupts.load() == 0);
}

TEST_CASE("no earlier timer is overslept, however the two threads meet") {
  const Shaken shaken(5);
  TestSource source;
  source.armed = 1;
  source.deadline = Duration::rep{1} << 60;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  Job job([] {});
  bool all = true;
  for (int i = 1; i <= Times(3000) && all; ++i) {
    // The timekeeper comes and goes.
    scheduler.Ready(job);
    for (int k = 0; k < i % 61; ++k) __builtin_ia32_pause();
    const Duration::rep earlier = (Duration::rep{1} << 60) - i;
    source.deadline = earlier;
    scheduler.DeadlineArmed(TimePoint(Duration(earlier)));
    all = Eventually([&] { return source.slept_until.load() == earlier && source.sleepers == 1; });
    all = all && Eventually([&] { return job.runs.load() == i; });
  }
  CHECK(all);
  CHECK(scheduler.Stop());
}

}  // namespace
}  // namespace shoal::core
