// SPDX-License-Identifier: MIT
#include "runtime/sched/ticker.h"

#include <dirent.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

// How often threads of the runtime have gone to sleep, which takes a system call each time; -1 if
// one is awake, even if it stands still.
long SleepsOfRuntimeThreads() {
  long sum = 0;
  bool awake = false;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) {
    const std::string path = std::string("/proc/self/task/") + entry->d_name;
    std::string name;
    std::ifstream(path + "/comm") >> name;
    if (name.rfind("shoal-", 0) != 0) continue;
    std::ifstream status(path + "/status");
    for (std::string word; status >> word;) {
      long count = 0;
      std::string state;
      if (word == "State:" && status >> state && state != "S") awake = true;
      if (word == "voluntary_ctxt_switches:" && status >> count) sum += count;
    }
  }
  closedir(folder);
  return awake ? -1 : sum;
}

// Waits until no thread of the runtime has done anything for a fifth of a second.
bool FallsAsleep() {
  return Eventually([] {
    const long before = SleepsOfRuntimeThreads();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) sched_yield();
    return before >= 0 && SleepsOfRuntimeThreads() == before;
  });
}

TEST_CASE("what is due is fired while all workers are in long dispatches") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  Job job([&] {
    const int before = source.polls.load();
    static_cast<void>(Eventually([&] { return source.polls.load() >= before + 5; }));
  });
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(scheduler.counters().ticks >= 5);
  CHECK(scheduler.Stop());
}

TEST_CASE("the busy time goes on while a worker is busy, and stands still while none is") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  Duration before{0};
  Duration after{0};
  Job job([&] {
    before = scheduler.busy_time();
    static_cast<void>(
        Eventually([&] { return scheduler.busy_time() >= before + 4 * Ticker::kPeriod; }));
    after = scheduler.busy_time();
  });
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(after >= before + 4 * Ticker::kPeriod);
  REQUIRE(FallsAsleep());
  const Duration asleep = scheduler.busy_time();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) sched_yield();
  CHECK(scheduler.busy_time() == asleep);
  CHECK(scheduler.Stop());
}

TEST_CASE("an idle scheduler falls asleep altogether, and wakes when there is work") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  for (int i = 1; i <= 2; ++i) {
    REQUIRE(FallsAsleep());
    const auto ticks = scheduler.counters().ticks;
    // The ticks go on: the next slot is rescued, as ever.
    Job receiver([] {});
    Job waker([&] {
      scheduler.Ready(receiver);
      static_cast<void>(Eventually([&] { return receiver.runs.load() == 1; }));
    });
    scheduler.Ready(waker);
    REQUIRE(Eventually([&] { return waker.runs.load() == 1; }));
    CHECK(scheduler.counters().ticks > ticks);
  }
  CHECK(scheduler.Stop());
}

TEST_CASE("rest is reported when the tick thread has fired the last timer") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  std::atomic<bool> fired{false};
  source.armed = 1;
  source.on_poll = [&] {
    // On the tick thread, as only that one has no seat. What the timer made ready is done, and all
    // are parked, before it stops counting as armed.
    if (scheduler.CurrentWorker() != -1 || fired.exchange(true)) return;
    static_cast<void>(Eventually([&] { return source.sleepers.load() == 1; }));
    source.armed = 0;
  };
  REQUIRE(scheduler.Start() == Status::kOk);
  Job job([&] { static_cast<void>(Eventually([&] { return fired.load(); })); });
  scheduler.Ready(job);
  CHECK(Eventually([&] { return source.rests.load() == 1; }));
  CHECK(scheduler.Stop());
}

#ifndef NDEBUG
std::function<void()> while_ticker_falls_asleep;

TEST_CASE("a worker that becomes busy just as the tick thread falls asleep is seen") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> inside{false}, asleep{false};
  Job receiver([] {});
  Job waker([&] {
    inside = true;
    static_cast<void>(Eventually([&] { return asleep.load(); }));
    scheduler.Ready(receiver);
    static_cast<void>(Eventually([&] { return receiver.runs.load() == 1; }));
  });
  while_ticker_falls_asleep = [&] {
    if (asleep) return;
    scheduler.Ready(waker);
    static_cast<void>(Eventually([&] { return inside.load(); }));
    asleep = true;
  };
  TestPoints::SetHook([](const char* point) {
    if (std::string_view(point) == "ticker.falls_asleep") while_ticker_falls_asleep();
    return false;
  });
  CHECK(Eventually([&] { return waker.runs.load() == 1 && receiver.runs.load() == 1; }));
  CHECK(scheduler.Stop());
  TestPoints::SetHook(nullptr);
}
#endif

TEST_CASE("a busy worker does not keep the tick thread from seeing a queue that is held up") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  Job again([] {});
  Job holder([&] {
    // Put as if this dispatch were to end at once, so nobody is woken for it.
    scheduler.ReadyAgain(again);
    static_cast<void>(Eventually([&] { return again.runs.load() == 1; }));
  });
  scheduler.Ready(holder);
  CHECK(Eventually([&] { return holder.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("the ticker that was not started stops") {
  TestSource source;
  Idle idle(1, source);
  Queues queues(idle);
  REQUIRE(queues.Init(1, 1) == Status::kOk);
  Rest rest(idle, queues, source);
  Seats seats(rest, 1, 0);
  Ticker ticker(idle, queues, rest, source, seats, 0);
  ticker.Stop();
  REQUIRE(ticker.Start() == Status::kOk);
  ticker.Stop();
  ticker.Stop();
}

}  // namespace
}  // namespace shoal::core
