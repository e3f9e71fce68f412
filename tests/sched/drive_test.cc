// SPDX-License-Identifier: MIT
#include "runtime/sched/drive.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/futex.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

Scheduler::Options Guests(TestSource& source) {
  return {.workers = 1, .idle_source = source, .threads = Scheduler::Threads::kGuests};
}

// A time that only matters when something fails.
TimePoint Soon() {
  return DeadlineAfter(std::chrono::steady_clock::now(), std::chrono::seconds(60));
}

// Of this program.
int Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int count = 0;
    if (word == "Threads:" && status >> count) return count;
  }
  return 0;
}

TEST_CASE("a thread of somebody else runs what is ready, and no thread is made") {
  const int before = Threads();
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  bool inside = false;
  Job second([&] { inside = scheduler.CurrentWorker() == 0 && RuntimeThread::IsCurrent(); });
  Job first([&] { scheduler.Ready(second); });
  scheduler.Ready(first);
  CHECK(first.runs.load() == 0);
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(first.runs.load() == 1);
  CHECK(second.runs.load() == 1);
  CHECK(inside);
  CHECK(scheduler.CurrentWorker() == -1);
  CHECK_FALSE(RuntimeThread::IsCurrent());
  CHECK(Threads() == before);
  CHECK(scheduler.counters().threads == 0);
  CHECK(scheduler.Stop());
  CHECK(scheduler.Run({}) == RunEnd::kClosed);
}

TEST_CASE("a run ends at its deadline, after one dispatch at least, if there is more") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  Job* again = nullptr;
  Job endless([&] { scheduler.ReadyAgain(*again); });
  again = &endless;
  scheduler.Ready(endless);
  CHECK(scheduler.Run({.deadline = TimePoint()}) == RunEnd::kTimeIsUp);
  CHECK(endless.runs.load() == 1);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(scheduler.Run({.deadline = begin + std::chrono::milliseconds(5)}) == RunEnd::kTimeIsUp);
  CHECK(std::chrono::steady_clock::now() >= begin + std::chrono::milliseconds(5));
  CHECK(scheduler.Stop());
  CHECK(scheduler.TakeLeftover() == &endless);
}

TEST_CASE("what runs is to look when the time of the run is up, or of a slice while others wait") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  bool alone = true;
  bool looked = false;
  Job other([] {});
  Job busy([&] {
    const auto end = std::chrono::steady_clock::now() + 2 * Drive::kSlice;
    while (std::chrono::steady_clock::now() < end) alone = alone && !scheduler.MustLook();
    scheduler.Ready(other);
    looked = Eventually([&] { return scheduler.MustLook(); });
    scheduler.HasLooked();
    if (scheduler.MustLook()) looked = false;
  });
  scheduler.Ready(busy);
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(alone);
  CHECK(looked);

  bool up = false;
  Job late([&] { up = scheduler.MustLook(); });
  scheduler.Ready(late);
  CHECK(scheduler.Run({.deadline = TimePoint()}) == RunEnd::kNothing);
  CHECK(up);
  CHECK(scheduler.Stop());
}

TEST_CASE("what is due is looked for while something runs, and what is asked of it comes through") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  bool polled = false;
  bool asked = false;
  std::atomic<bool> begun{false};
  Job busy([&] {
    const int before = source.polls.load();
    polled = Eventually([&] {
      static_cast<void>(scheduler.MustLook());
      return source.polls.load() >= before + 3;
    });
    begun.store(true);
    asked = Eventually([&] { return scheduler.MustLook(); });
  });
  scheduler.Ready(busy);
  std::thread asker([&] {
    static_cast<void>(Eventually([&] { return begun.load(); }));
    scheduler.Interrupt();
  });
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  asker.join();
  CHECK(polled);
  CHECK(asked);
  CHECK(scheduler.Stop());
}

TEST_CASE("one thread has the seat; another one, and what runs there itself, finds it taken") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  RunEnd inside = RunEnd::kClosed;
  RunEnd beside = RunEnd::kClosed;
  Status left = Status::kOk;
  Job job([&] {
    inside = scheduler.Run({});
    std::thread other([&] { beside = scheduler.Run({}); });
    other.join();
    left = scheduler.LeaveSeat();
  });
  scheduler.Ready(job);
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(inside == RunEnd::kBusy);
  CHECK(beside == RunEnd::kBusy);
  CHECK(left == Status::kNoThread);
  CHECK(scheduler.Stop());
}

TEST_CASE("a thread that sleeps while nothing is ready is woken by what comes, or by the word") {
  const Shaken shaken(7);
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<std::uint32_t> word{0};
  const int jobs = Times(2000);
  std::atomic<int> done{0};
  std::deque<Job> all;
  for (int i = 0; i < jobs; ++i) all.emplace_back([&] { done.fetch_add(1); });
  std::thread outside([&] {
    for (Job& job : all) {
      const int before = done.load();
      scheduler.Ready(job);
      // Mostly one after the other, so that it sleeps in between.
      if (before % 5 != 0) static_cast<void>(Eventually([&] { return done.load() > before; }));
    }
    static_cast<void>(Eventually([&] { return done.load() == jobs; }));
    word.store(1);
    source.Interrupt();
  });
  RunEnd end = RunEnd::kNothing;
  end = scheduler.Run({.when_idle = WhenIdle::kSleep, .word = &word, .seen = 0});
  outside.join();
  CHECK(end == RunEnd::kChanged);
  CHECK(done.load() == jobs);
  CHECK(scheduler.Stop());
}

TEST_CASE("a thread that sleeps is back at its deadline, and at that of a timer") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  // The time of the source is 0, so both are due.
  CHECK(scheduler.Run({.deadline = TimePoint(), .when_idle = WhenIdle::kSleep}) ==
        RunEnd::kNothing);
  std::atomic<std::uint32_t> word{0};
  source.deadline.store(0);
  source.on_poll = [&] {
    // Fired: after the first poll, which comes before the sleep.
    if (source.polls.load() < 2) return;
    source.deadline.store(kNever.time_since_epoch().count());
    word.store(1);
  };
  CHECK(scheduler.Run({.deadline = Soon(), .when_idle = WhenIdle::kSleep, .word = &word}) ==
        RunEnd::kChanged);
  CHECK(source.slept_until.load() == 0);
  CHECK(scheduler.Stop());
}

TEST_CASE("rest is found on a thread of somebody else, once for each time that it comes") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  Job second([] {});
  source.on_quiescent = [&] {
    if (source.rests.load() == 0) scheduler.Ready(second);
  };
  Job first([] {});
  scheduler.Ready(first);
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(second.runs.load() == 1);
  CHECK(source.rests.load() == 2);
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(source.rests.load() == 2);
  scheduler.ReconsiderRest();
  CHECK(scheduler.Run({.deadline = Soon()}) == RunEnd::kNothing);
  CHECK(source.rests.load() == 3);
  CHECK(scheduler.Stop());
}

TEST_CASE("threads take the seat in turn, and each sees what the one before has done") {
  const Shaken shaken(11);
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  // Not atomic: that one thread at a time has the seat is what is tested.
  long sum = 0;
  const int rounds = Times(2000);
  Job* again = nullptr;
  Job job([&] {
    if (++sum < rounds) scheduler.ReadyAgain(*again);
  });
  again = &job;
  scheduler.Ready(job);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done.load()) {
        if (scheduler.Run({.deadline = TimePoint()}) == RunEnd::kNothing) done.store(true);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == rounds);
  CHECK(job.overlaps.load() == 0);
  CHECK(scheduler.Stop());
}

TEST_CASE("Stop takes the seat from whoever has it, asleep or not") {
  const Shaken shaken(13);
  for (int i = 0; i < Times(200); ++i) {
    TestSource source;
    Scheduler scheduler(Guests(source));
    REQUIRE(scheduler.Start() == Status::kOk);
    std::atomic<bool> ran{false};
    Job* again = nullptr;
    Job job([&] {
      ran.store(true);
      if (i % 2 == 0) scheduler.ReadyAgain(*again);
    });
    again = &job;
    scheduler.Ready(job);
    RunEnd end = RunEnd::kNothing;
    std::thread runner([&] { end = scheduler.Run({.when_idle = WhenIdle::kSleep}); });
    CHECK(Eventually([&] { return ran.load(); }));
    CHECK(scheduler.Stop(Soon()));
    runner.join();
    CHECK(end == RunEnd::kClosed);
    static_cast<void>(scheduler.TakeLeftover());
  }
}

TEST_CASE("Stop gives up at its deadline while a dispatch goes on") {
  TestSource source;
  Scheduler scheduler(Guests(source));
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> begun{false};
  std::atomic<bool> goes_on{true};
  Job job([&] {
    begun.store(true);
    static_cast<void>(Eventually([&] { return !goes_on.load(); }));
  });
  scheduler.Ready(job);
  std::thread runner([&] { static_cast<void>(scheduler.Run({})); });
  CHECK(Eventually([&] { return begun.load(); }));
  CHECK_FALSE(scheduler.Stop(TimePoint()));
  goes_on.store(false);
  CHECK(scheduler.Stop(Soon()));
  runner.join();
}

}  // namespace
}  // namespace shoal::core
