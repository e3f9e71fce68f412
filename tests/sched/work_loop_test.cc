// SPDX-License-Identifier: MIT
#include "runtime/sched/work_loop.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <utility>

#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

TEST_CASE("each turn asks the source, on the worker's thread") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  int left = 1000;
  Job job([&] {
    if (--left > 0) scheduler.Ready(job);
  });
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return job.runs.load() == 1000; }));
  CHECK(source.turns.load() >= 1000);
  CHECK(scheduler.counters().dispatches == 1000);
  CHECK(scheduler.Stop());
}

TEST_CASE("what the source makes ready in its turn runs next") {
  class Firing final : public IdleSource {
   public:
    void Turn(int) override {
      if (due != nullptr && armed.exchange(false)) scheduler->Ready(*due);
    }
    void Poll() override {}
    TimePoint NextDeadline() override { return kNever; }
    bool NeedsTimekeeper() override { return false; }
    void Sleep(TimePoint) override { parker.Park(); }
    void Interrupt() override { parker.Unpark(); }
    bool Armed() override { return armed.load(); }
    void OnQuiescent() override {}
    Scheduler* scheduler = nullptr;
    Runnable* due = nullptr;
    std::atomic<bool> armed{false};
    Parker parker;
  };
  Firing source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  Job timed([] {});
  source.scheduler = &scheduler;
  source.due = &timed;
  REQUIRE(scheduler.Start() == Status::kOk);
  Job arms([&] { source.armed = true; });
  scheduler.Ready(arms);
  CHECK(Eventually([&] { return timed.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("work spreads to all workers, from the queue of one") {
  constexpr int kWorkers = 4;
  TestSource source;
  Scheduler scheduler({.workers = kWorkers, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  // All of them run at the same time, or this does not end.
  std::atomic<int> inside{0};
  std::deque<Job> jobs;
  for (int i = 0; i < kWorkers; ++i) {
    jobs.emplace_back([&] {
      inside.fetch_add(1);
      static_cast<void>(Eventually([&] { return inside.load() >= kWorkers; }));
    });
  }
  Job starter([&] {
    for (Job& job : jobs) scheduler.ReadyTail(job);
  });
  scheduler.Ready(starter);
  for (Job& job : jobs) CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(scheduler.counters().steals >= kWorkers - 1);
  CHECK(scheduler.Stop());
}

TEST_CASE("what several foreign threads would bring at once occupies all workers") {
  constexpr int kWorkers = 3;
  TestSource source;
  Scheduler scheduler({.workers = kWorkers, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  for (int round = 0; round < Times(300); ++round) {
    std::atomic<int> inside{0};
    std::deque<Job> jobs;
    for (int i = 0; i < kWorkers; ++i) {
      jobs.emplace_back([&] {
        inside.fetch_add(1);
        static_cast<void>(Eventually([&] { return inside.load() >= kWorkers; }));
      });
    }
    for (Job& job : jobs) scheduler.Ready(job);
    for (Job& job : jobs) REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  }
  CHECK(scheduler.Stop());
}

// A scheduler without the tick thread, which would cover up a wake-up that was lost.
struct Untended {
  explicit Untended(int workers, std::function<void()> on_poll = {})
      : idle(workers, source),
        queues(idle),
        rest(idle, queues, source),
        seats(rest, workers, 0),
        ticker(idle, queues, rest, source, seats, 0),
        loop(idle, queues, rest, ticker, source) {
    source.on_poll = std::move(on_poll);
    REQUIRE(queues.Init(workers, 1) == Status::kOk);
    for (int i = 0; i < workers; ++i) REQUIRE(seats.Open(queues.worker(i), loop) == Status::kOk);
  }
  ~Untended() {
    loop.Stop();
    seats.Close();
    idle.Stop();
    static_cast<void>(seats.JoinAll(kNever));
  }
  TestSource source;
  Idle idle;
  Queues queues;
  Rest rest;
  Seats seats;
  Ticker ticker;
  WorkLoop loop;
};

TEST_CASE("no wake-up depends on the tick thread") {
  for (int workers = 2; workers <= 4; ++workers) {
    const Shaken shaken(static_cast<std::uint64_t>(workers));
    Untended untended(workers);
    bool all = true;
    for (int round = 0; round < Times(3000) && all; ++round) {
      // As many as there are workers, from outside and from a worker; all inside at once.
      std::atomic<int> inside{0};
      std::atomic<int> done{0};
      const auto meet = [&] {
        inside.fetch_add(1);
        static_cast<void>(Eventually([&] { return inside.load() >= workers; }));
        done.fetch_add(1);
      };
      std::deque<Job> jobs;
      for (int i = 0; i < workers - 1; ++i) jobs.emplace_back(meet);
      Job first([&] {
        Worker& worker = *WorkerThread::Current()->seat();
        if (round % 2 == 0) untended.queues.PutTail(worker, jobs[0]);
        meet();
      });
      untended.queues.Inject(first);
      for (int k = 0; k < round % 50; ++k) __builtin_ia32_pause();
      for (int i = round % 2 == 0 ? 1 : 0; i < workers - 1; ++i) {
        untended.queues.Inject(jobs[static_cast<std::size_t>(i)]);
      }
      all = Eventually([&] {
        if (done.load() != workers || first.runs.load() != 1) return false;
        for (Job& job : jobs) {
          if (job.runs.load() != 1) return false;
        }
        return true;
      });
    }
    CHECK(all);
  }
}

TEST_CASE("a timekeeper that finds work leaves the source to another worker") {
  const bool watches = GENERATE(false, true);
  std::atomic<bool> due{false};
  std::atomic<bool> kept{false};
  Untended* all = nullptr;
  Job timed([&] { kept = Eventually([&] { return all->source.sleepers.load() == 1; }); });
  Untended untended(2, [&] {
    if (due.exchange(false)) all->queues.PutNext(*WorkerThread::Current()->seat(), timed);
  });
  all = &untended;
  REQUIRE(Eventually([&] { return untended.idle.activity().active == 0; }));
  REQUIRE(Eventually([&] { return untended.source.sleepers.load() == 1; }));
  // One of two timers becomes due, or one of two sockets ready.
  if (watches) {
    untended.source.watches = true;
  } else {
    untended.source.deadline = 1000;
  }
  due = true;
  untended.source.Interrupt();
  REQUIRE(Eventually([&] { return timed.runs.load() == 1; }));
  CHECK(kept.load());
}

}  // namespace
}  // namespace shoal::core
