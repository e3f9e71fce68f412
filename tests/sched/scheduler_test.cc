// SPDX-License-Identifier: MIT
#include "runtime/sched/scheduler.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

TEST_CASE("what a foreign thread makes ready runs once, on a worker") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<int> worker{-2};
  Job job([&] { worker = scheduler.CurrentWorker(); });
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(worker.load() >= 0);
  CHECK(worker.load() < 2);
  CHECK(scheduler.CurrentWorker() == -1);
  CHECK(scheduler.Stop());
  CHECK(job.runs.load() == 1);
  CHECK(scheduler.TakeLeftover() == nullptr);
}

TEST_CASE("a worker of one scheduler is a foreign thread to another") {
  TestSource source_a, source_b;
  Scheduler a({.workers = 1, .idle_source = source_a});
  Scheduler b({.workers = 1, .idle_source = source_b});
  REQUIRE(a.Start() == Status::kOk);
  REQUIRE(b.Start() == Status::kOk);
  std::atomic<int> seen_in_a{-2}, in_b{-2};
  Job second([&] { in_b = b.CurrentWorker(); });
  Job first([&] {
    seen_in_a = b.CurrentWorker();
    b.Ready(second);
  });
  a.Ready(first);
  REQUIRE(Eventually([&] { return second.runs.load() == 1; }));
  CHECK(seen_in_a.load() == -1);
  CHECK(in_b.load() == 0);
  CHECK(a.Stop());
  CHECK(b.Stop());
}

TEST_CASE("a scheduler that was never started stops and has nothing left over") {
  TestSource source;
  Scheduler scheduler({.workers = 3, .idle_source = source});
  CHECK(scheduler.CurrentWorker() == -1);
  CHECK(scheduler.Stop());
  CHECK(scheduler.TakeLeftover() == nullptr);
}

TEST_CASE("schedulers start and stop many times") {
  TestSource source;
  const int cycles = Times(10'000);
  int bad = 0;
  for (int i = 0; i < cycles; ++i) {
    Scheduler scheduler({.workers = 1 + i % 3, .idle_source = source});
    if (scheduler.Start() != Status::kOk) ++bad;
    Job job([] {});
    if (i % 2 == 0) scheduler.Ready(job);
    if (!scheduler.Stop()) ++bad;
    // It ran, or is left over.
    const int left = scheduler.TakeLeftover() == nullptr ? 0 : 1;
    if (job.runs.load() + left != (i % 2 == 0 ? 1 : 0)) ++bad;
  }
  CHECK(bad == 0);
}

TEST_CASE("stop leaves what is ready in the queues, and gives each back once") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> inside{false}, go_on{false};
  Job local([] {}), woken([] {}), displaced([] {}), outside([] {});
  Job first([&] {
    scheduler.ReadyTail(local);
    scheduler.Ready(displaced);
    scheduler.Ready(woken);
    inside = true;
    static_cast<void>(Eventually([&] { return go_on.load(); }));
  });
  scheduler.Ready(first);
  REQUIRE(Eventually([&] { return inside.load(); }));
  scheduler.Ready(outside);
  CHECK_FALSE(scheduler.Stop(std::chrono::steady_clock::now()));
  go_on = true;
  CHECK(scheduler.Stop());
  CHECK(first.runs.load() == 1);
  std::vector<Runnable*> left;
  while (Runnable* runnable = scheduler.TakeLeftover()) left.push_back(runnable);
  CHECK(left == std::vector<Runnable*>{&woken, &local, &displaced, &outside});
  CHECK(scheduler.Stop());
}

TEST_CASE("a woken runnable runs elsewhere while its waker goes on and on") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> waker_done{false}, was_done{true};
  Job receiver([&] { was_done = waker_done.load(); });
  Job waker([&] {
    // The other worker is parked, and the tick thread may be asleep.
    SpinFor(std::chrono::milliseconds(20));
    scheduler.Ready(receiver);
    static_cast<void>(Eventually([&] { return receiver.runs.load() == 1; }));
    waker_done = true;
  });
  scheduler.Ready(waker);
  REQUIRE(Eventually([&] { return waker.runs.load() == 1 && receiver.runs.load() == 1; }));
  CHECK(scheduler.Stop());
  CHECK_FALSE(was_done.load());
  CHECK(scheduler.counters().next_steals == 1);
}

TEST_CASE("two that wake each other for ever starve neither the queue nor the inject queue") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> stop{false};
  std::deque<Job> pair;
  Job queued([] {}), injected([] {});
  for (std::size_t i = 0; i < 2; ++i) {
    pair.emplace_back([&, i] {
      if (!stop) scheduler.Ready(pair[1 - i]);
    });
  }
  Job starter([&] {
    scheduler.ReadyTail(queued);
    scheduler.Ready(pair[0]);
  });
  scheduler.Ready(starter);
  CHECK(Eventually([&] { return queued.runs.load() == 1; }));
  scheduler.Ready(injected);
  CHECK(Eventually([&] { return injected.runs.load() == 1; }));
  stop = true;
  CHECK(scheduler.Stop());
  while (scheduler.TakeLeftover() != nullptr) {
  }
}

TEST_CASE("one that yields shares its worker with those that are new") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> stop{false};
  Job yielder([&] {
    if (!stop) scheduler.ReadyAgain(yielder);
  });
  Job other([&] {});
  Job starter([&] {
    scheduler.ReadyTail(yielder);
    scheduler.ReadyTail(other);
  });
  scheduler.Ready(starter);
  CHECK(Eventually([&] { return other.runs.load() == 1 && yielder.runs.load() > 100; }));
  stop = true;
  CHECK(scheduler.Stop());
  while (scheduler.TakeLeftover() != nullptr) {
  }
}

// Wakes come from everywhere and each is answered by a run after it: the way processes use it.
class Peer final : public Runnable {
 public:
  Scheduler* scheduler = nullptr;
  std::vector<std::unique_ptr<Peer>>* peers = nullptr;
  std::atomic<long>* budget = nullptr;
  std::uint64_t random = 1;

  void Wake(bool tail) {
    if (wakes_.fetch_add(1) != 0) return;  // it is ready or runs, and will see this
    tail ? scheduler->ReadyTail(*this) : scheduler->Ready(*this);
  }
  void Run() override {
    if (running_.exchange(true)) overlaps.fetch_add(1);
    const long seen = wakes_.load();
    for (int i = 0; i < 2 && budget->fetch_sub(1) > 0; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      (*peers)[(random >> 33) % peers->size()]->Wake((random >> 20 & 1) != 0);
    }
    if ((random >> 40) % 64 == 0) sched_yield();
    answered.fetch_add(seen);
    running_.store(false);
    if (wakes_.fetch_sub(seen) != seen) scheduler->ReadyAgain(*this);
  }
  std::atomic<long> answered{0};
  std::atomic<int> overlaps{0};

 private:
  std::atomic<long> wakes_{0};
  std::atomic<bool> running_{false};
};

void RunPeers(int workers, int foreign_threads, std::uint64_t seed) {
  INFO("workers " << workers << ", seed " << seed);
  const Shaken shaken(seed);
  TestSource source;
  Scheduler scheduler({.workers = workers, .idle_source = source, .seed = seed});
  REQUIRE(scheduler.Start() == Status::kOk);
  constexpr long kForeignWakes = Times(20'000);
  std::atomic<long> budget{Times(300'000)};
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::uint64_t i = 0; i < 50; ++i) {
    peers.push_back(std::make_unique<Peer>());
    Peer& peer = *peers.back();
    peer.scheduler = &scheduler;
    peer.peers = &peers;
    peer.budget = &budget;
    peer.random = seed + i;
  }
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(foreign_threads));
  const long budgeted = budget.load();
  for (int t = 0; t < foreign_threads; ++t) {
    threads.emplace_back([&, t] {
      for (long i = 0; i < kForeignWakes; ++i) {
        peers[static_cast<std::size_t>(i * 7 + t) % peers.size()]->Wake(i % 3 == 0);
        // Now and then all come to rest.
        if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto answered = [&] {
    long sum = 0;
    for (const auto& peer : peers) sum += peer->answered.load();
    return sum;
  };
  // Each wake is answered, those inside the budget and those from outside; none twice.
  const long expected = budgeted + kForeignWakes * foreign_threads;
  CHECK(Eventually([&] { return budget.load() <= 0 && answered() >= expected; }));
  CHECK(scheduler.Stop());
  CHECK(answered() == expected);
  int overlaps = 0;
  for (const auto& peer : peers) overlaps += peer->overlaps.load();
  CHECK(overlaps == 0);
  CHECK(scheduler.TakeLeftover() == nullptr);
  CHECK_FALSE(source.two_slept.load());
}

TEST_CASE("no wake is lost and nothing runs twice or at once, with one worker") {
  RunPeers(1, 2, 11);
}
TEST_CASE("no wake is lost and nothing runs twice or at once, with two workers") {
  RunPeers(2, 2, 12);
}
TEST_CASE("no wake is lost and nothing runs twice or at once, with more workers than cores") {
  RunPeers(7, 3, 13);
}

TEST_CASE("a lone foreign thread always finds or wakes a worker") {
  // One at a time, in all phases of a worker on its way to sleep.
  const Shaken shaken(3);
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  Job job([] {});
  bool all = true;
  for (int i = 0; i < Times(50'000) && all; ++i) {
    for (int k = 0; k < i % 97; ++k) __builtin_ia32_pause();
    scheduler.Ready(job);
    all = Eventually([&] { return job.runs.load() == i + 1; });
  }
  CHECK(all);
  CHECK(scheduler.Stop());
}

#ifndef NDEBUG
std::atomic<int> threads_allowed{0};

TEST_CASE("start undoes what it did when a thread cannot be had, and may be tried again") {
  TestSource source;
  Scheduler scheduler({.workers = 4, .idle_source = source});
  for (int allowed = 0; allowed < 5; ++allowed) {
    threads_allowed = allowed;
    TestPoints::SetHook([](const char* point) {
      return std::string_view(point) == "thread.start" && threads_allowed.fetch_sub(1) <= 0;
    });
    CHECK(scheduler.Start() == Status::kNoThread);
    TestPoints::SetHook(nullptr);
  }
  REQUIRE(scheduler.Start() == Status::kOk);
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("nothing is lost when run queues have no memory") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  TestPoints::SetHook(
      [](const char* point) { return std::string_view(point) == "run_queue.push"; });
  std::deque<Job> jobs;
  for (int i = 0; i < 100; ++i) jobs.emplace_back([] {});
  Job starter([&] {
    for (Job& job : jobs) scheduler.ReadyTail(job);
  });
  scheduler.Ready(starter);
  CHECK(Eventually([&] {
    for (Job& job : jobs) {
      if (job.runs.load() == 0) return false;
    }
    return true;
  }));
  TestPoints::SetHook(nullptr);
  CHECK(scheduler.Stop());
}
#endif

}  // namespace
}  // namespace shoal::core
