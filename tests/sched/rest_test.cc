// SPDX-License-Identifier: MIT
#include "runtime/sched/rest.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

// All workers are parked for good: each has slept once more than it was woken.
bool AllParked(const Scheduler& scheduler, const TestSource& source, std::uint64_t workers) {
  const auto counters = scheduler.counters();
  return source.sleepers.load() == 1 && counters.parks >= workers;
}

TEST_CASE("rest is reported once each time everything comes to rest") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  for (int i = 1; i <= Times(2000); ++i) {
    std::deque<Job> jobs;
    for (int k = 0; k < i % 4; ++k) jobs.emplace_back([] {});
    Job first([&] {
      for (Job& job : jobs) scheduler.ReadyTail(job);
    });
    scheduler.Ready(first);
    REQUIRE(Eventually([&] { return source.rests.load() >= i; }));
    REQUIRE(first.runs.load() == 1);
    for (Job& job : jobs) REQUIRE(job.runs.load() == 1);
    REQUIRE(source.rests.load() == i);
  }
  CHECK(scheduler.Stop());
}

TEST_CASE("nothing is reported before anything has run") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  REQUIRE(Eventually([&] { return AllParked(scheduler, source, 2); }));
  CHECK(source.rests.load() == 0);
  scheduler.ReconsiderRest();
  CHECK(Eventually([&] { return source.rests.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("what is made ready at rest runs, and then it is at rest again") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  std::atomic<int> worker{-1};
  Job last([] {});
  source.on_quiescent = [&] {
    worker = scheduler.CurrentWorker();
    if (source.rests.load() == 0) scheduler.Ready(last);
  };
  REQUIRE(scheduler.Start() == Status::kOk);
  Job first([] {});
  scheduler.Ready(first);
  REQUIRE(Eventually([&] { return source.rests.load() == 2; }));
  CHECK(last.runs.load() == 1);
  CHECK(worker.load() >= 0);
  CHECK(scheduler.Stop());
  CHECK(source.rests.load() == 2);
}

TEST_CASE("rest is not reported while something is armed, but as soon as that has ended") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  source.armed = 1;
  Job job([] {});
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  REQUIRE(Eventually([&] { return AllParked(scheduler, source, 2); }));
  CHECK(source.rests.load() == 0);
  source.armed = 0;
  scheduler.ArmedEnded();
  REQUIRE(Eventually([&] { return source.rests.load() == 1; }));
  // Nothing has run since.
  scheduler.ArmedEnded();
  REQUIRE(Eventually([&] { return AllParked(scheduler, source, 2); }));
  CHECK(source.rests.load() == 1);
  scheduler.ReconsiderRest();
  CHECK(Eventually([&] { return source.rests.load() == 2; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("rest is not reported while a thread without a seat will come back by itself") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> left{false}, back{false}, waits{false};
  SeatTicket ticket;
  Job other([] {});
  Job hand([&] { scheduler.HandSeat(ticket); });
  Job job([&] {
    if (scheduler.LeaveSeat() != Status::kOk) return;
    left = true;
    static_cast<void>(Eventually([&] { return back.load(); }));
    waits = true;
    static_cast<void>(scheduler.AwaitSeat(ticket));
  });
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return left.load(); }));
  scheduler.Ready(other);
  REQUIRE(Eventually([&] { return other.runs.load() == 1; }));
  REQUIRE(Eventually([&] { return source.sleepers.load() == 1; }));
  CHECK(source.rests.load() == 0);
  // Now it waits for others: nothing comes by itself.
  back = true;
  REQUIRE(Eventually([&] { return source.rests.load() == 1; }));
  CHECK(waits.load());
  scheduler.Ready(hand);
  REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  REQUIRE(Eventually([&] { return source.rests.load() == 2; }));
  CHECK(scheduler.Stop());
  CHECK(source.rests.load() == 2);
}

// Work that goes from worker to worker, over timers that are fired by the tick thread or the
// timekeeper, and over threads without a seat. `pieces` counts what is somewhere.
struct Circuit {
  explicit Circuit(int workers) : scheduler({.workers = workers, .idle_source = source}) {
    source.on_quiescent = [this] {
      if (pieces.load() != 0) false_alarms.fetch_add(1);
    };
    source.on_poll = [this] { FireAll(); };
  }

  // A timer is due at once: whoever polls next makes `job` ready.
  void ArmFor(Job& job) {
    source.armed.fetch_add(1);
    {
      MutexLock lock(mu);
      due.push_back(&job);
    }
    source.deadline.store(0);
    if (scheduler.CurrentWorker() < 0) scheduler.DeadlineArmed(TimePoint(Duration(0)));
  }
  void FireAll() {
    std::vector<Job*> fired;
    {
      MutexLock lock(mu);
      fired.swap(due);
      source.deadline.store(kNever.time_since_epoch().count());
    }
    for (Job* job : fired) {
      scheduler.Ready(*job);
      source.armed.fetch_sub(1);
    }
  }

  TestSource source;
  Scheduler scheduler;
  Mutex mu{LockRank::kLeaf};
  std::vector<Job*> due SHOAL_GUARDED_BY(mu);
  std::atomic<int> pieces{0};
  std::atomic<int> false_alarms{0};
};

void RunCircuit(int workers, std::uint64_t seed) {
  INFO("workers " << workers << ", seed " << seed);
  const Shaken shaken(seed);
  Circuit circuit(workers);
  Scheduler& scheduler = circuit.scheduler;
  REQUIRE(scheduler.Start() == Status::kOk);
  std::deque<Job> jobs;
  std::deque<std::atomic<int>> left;
  for (std::size_t i = 0; i < 4; ++i) {
    left.emplace_back(0);
    jobs.emplace_back([&, i] {
      const int steps = left[i].fetch_sub(1) - 1;
      if (steps == 0) {
        circuit.pieces.fetch_sub(1);
        return;
      }
      switch ((static_cast<std::uint64_t>(steps) * 2654435761u + i + seed) >> 3 & 7) {
        case 0:
          circuit.ArmFor(jobs[i]);
          break;
        case 1:
          // Comes back by itself, without a seat.
          if (scheduler.LeaveSeat() == Status::kOk) sched_yield();
          scheduler.Ready(jobs[i]);
          break;
        case 2:
        case 3:
          scheduler.ReadyTail(jobs[i]);
          break;
        case 4:
          scheduler.ReadyAgain(jobs[i]);
          break;
        default:
          scheduler.Ready(jobs[i]);
      }
    });
  }
  constexpr int kBatches = Times(1000);
  bool all = true;
  for (int batch = 1; batch <= kBatches && all; ++batch) {
    // This thread counts as armed while it brings work.
    circuit.source.armed.fetch_add(1);
    const std::size_t count = 1 + static_cast<std::size_t>(batch) % jobs.size();
    circuit.pieces.fetch_add(static_cast<int>(count));
    for (std::size_t i = 0; i < count; ++i) {
      left[i] = 1 + batch % 23;
      scheduler.Ready(jobs[i]);
    }
    circuit.source.armed.fetch_sub(1);
    scheduler.ArmedEnded();
    all = Eventually([&] { return circuit.source.rests.load() >= batch; });
    all = all && circuit.pieces.load() == 0 && circuit.source.rests.load() == batch;
  }
  CHECK(all);
  CHECK(circuit.false_alarms.load() == 0);
  CHECK(scheduler.Stop());
  CHECK(circuit.source.rests.load() == kBatches);
}

TEST_CASE("rest is reported exactly once for each batch, never while a piece is anywhere") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RunCircuit(1, seed);
    RunCircuit(2, seed);
    RunCircuit(5, seed);
  }
}

}  // namespace
}  // namespace shoal::core
