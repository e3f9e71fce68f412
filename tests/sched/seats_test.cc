// SPDX-License-Identifier: MIT
#include "runtime/sched/seats.h"

#include <dirent.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/sched/idle.h"
#include "runtime/sched/queues.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

// Which seats have a thread at this moment.
struct SeatCheck {
  std::atomic<int> threads[8] = {};
  std::atomic<int> collisions{0};
};

// A runnable that waits in its first Run, as a process does in a frame that cannot yield. The next
// Run, on another thread, hands over that thread's seat.
class Blocker final : public Runnable {
 public:
  Blocker(Scheduler& scheduler, SeatCheck& check) : scheduler_(scheduler), check_(check) {}

  void Run() override {
    if (ticket_ != nullptr) {
      scheduler_.HandSeat(*ticket_);
      return;
    }
    for (int i = 0; i < rounds; ++i) {
      Enter();
      if (work) work();
      Exit();
      status = scheduler_.LeaveSeat();
      if (status != Status::kOk) break;
      if (outside) outside();
      SeatTicket ticket;
      ticket_ = &ticket;
      blocked.fetch_add(1);
      if (wakes_itself) scheduler_.ReadyTail(*this);
      status = scheduler_.AwaitSeat(ticket);
      ticket_ = nullptr;
      if (status != Status::kOk) break;
    }
    Enter();
    Exit();
    done.fetch_add(1);
  }

  int rounds = 1;
  bool wakes_itself = false;
  std::function<void()> work;
  std::function<void()> outside;
  Status status = Status::kPending;
  std::atomic<int> blocked{0};
  std::atomic<int> done{0};

 private:
  void Enter() {
    seat_ = scheduler_.CurrentWorker();
    if (status == Status::kClosed) return;  // without a seat
    if (seat_ < 0 || check_.threads[seat_].fetch_add(1) != 0) check_.collisions.fetch_add(1);
  }
  void Exit() {
    if (seat_ >= 0) check_.threads[seat_].fetch_sub(1);
  }

  Scheduler& scheduler_;
  SeatCheck& check_;
  // Written by the blocked thread, read by the worker that was given this: ordered by the queue.
  SeatTicket* ticket_ = nullptr;
  int seat_ = -1;
};

int ThreadsOfThisProgram() {
  DIR* folder = opendir("/proc/self/task");
  int count = -2;  // . and ..
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST_CASE("a thread that blocks leaves its seat to another, and gets one again") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  SeatCheck check;
  Blocker blocker(scheduler, check);
  Job other([] {});
  scheduler.Ready(blocker);
  REQUIRE(Eventually([&] { return blocker.blocked.load() == 1; }));
  // The only seat is in use, by another thread.
  scheduler.Ready(other);
  REQUIRE(Eventually([&] { return other.runs.load() == 1; }));
  CHECK(blocker.done.load() == 0);
  scheduler.Ready(blocker);
  REQUIRE(Eventually([&] { return blocker.done.load() == 1; }));
  CHECK(blocker.status == Status::kOk);
  CHECK(scheduler.Stop());
  CHECK(check.collisions.load() == 0);
  CHECK(scheduler.counters().threads == 2);
}

TEST_CASE("a seat may be handed to a thread before it waits for one") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  SeatTicket ticket;
  std::atomic<bool> left{false}, handed{false}, resumed{false};
  std::atomic<int> seat{-2};
  Job first([&] {
    if (scheduler.LeaveSeat() != Status::kOk) return;
    left = true;
    static_cast<void>(Eventually([&] { return handed.load(); }));
    if (scheduler.AwaitSeat(ticket) != Status::kOk) return;
    seat = scheduler.CurrentWorker();
    resumed = true;
  });
  Job second([&] {
    scheduler.HandSeat(ticket);
    if (scheduler.CurrentWorker() == -1) handed = true;
  });
  scheduler.Ready(first);
  REQUIRE(Eventually([&] { return left.load(); }));
  scheduler.Ready(second);
  CHECK(Eventually([&] { return resumed.load(); }));
  CHECK(seat.load() == 0);
  // The seat works as before.
  Job third([] {});
  scheduler.Ready(third);
  CHECK(Eventually([&] { return third.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("no two threads are on one seat, however often seats change hands") {
  for (int workers = 1; workers <= 3; ++workers) {
    const Shaken shaken(static_cast<std::uint64_t>(workers));
    TestSource source;
    Scheduler scheduler({.workers = workers, .idle_source = source});
    REQUIRE(scheduler.Start() == Status::kOk);
    SeatCheck check;
    std::deque<Blocker> blockers;
    for (int i = 0; i < 20; ++i) {
      Blocker& blocker = blockers.emplace_back(scheduler, check);
      blocker.rounds = Times(500);
      blocker.wakes_itself = true;
      if (i % 4 == 0) blocker.outside = [] { sched_yield(); };
      scheduler.ReadyTail(blocker);
    }
    const auto done = [&] {
      int sum = 0;
      for (Blocker& blocker : blockers) sum += blocker.done.load();
      return sum;
    };
    CHECK(Eventually([&] { return done() == 20; }));
    CHECK(scheduler.Stop());
    CHECK(check.collisions.load() == 0);
    CHECK(scheduler.TakeLeftover() == nullptr);
    CHECK_FALSE(source.two_slept.load());
  }
}

TEST_CASE("spare threads are kept for reuse, but not more than there are workers") {
  TestSource source;
  const int before = ThreadsOfThisProgram();
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  SeatCheck check;
  std::deque<Blocker> blockers;
  for (int i = 0; i < 30; ++i) scheduler.ReadyTail(blockers.emplace_back(scheduler, check));
  for (Blocker& blocker : blockers) {
    REQUIRE(Eventually([&] { return blocker.blocked.load() == 1; }));
  }
  CHECK(ThreadsOfThisProgram() - before >= 30);
  for (Blocker& blocker : blockers) scheduler.ReadyTail(blocker);
  for (Blocker& blocker : blockers) {
    REQUIRE(Eventually([&] { return blocker.done.load() == 1; }));
  }
  // Two on seats, two spare, the tick thread.
  CHECK(Eventually([&] { return ThreadsOfThisProgram() - before <= 5; }));
  const auto started = scheduler.counters().threads;
  Blocker again(scheduler, check);
  again.rounds = 100;
  again.wakes_itself = true;
  scheduler.ReadyTail(again);
  REQUIRE(Eventually([&] { return again.done.load() == 1; }));
  // Those on the way to become spare may have been too slow once or twice.
  CHECK(scheduler.counters().threads <= started + 4);
  CHECK(scheduler.Stop());
}

TEST_CASE("a run that ends without a seat makes its thread a spare") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<int> left{0};
  std::deque<Job> jobs;
  for (int i = 0; i < 10; ++i) {
    Job& job = jobs.emplace_back([&] { left += scheduler.LeaveSeat() == Status::kOk; });
    scheduler.Ready(job);
    REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  }
  CHECK(left.load() == 10);
  CHECK(scheduler.Stop());
}

TEST_CASE("stop ends those who wait for a seat, when the last seat has gone") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  SeatCheck check;
  std::deque<Blocker> blockers;
  for (int i = 0; i < 3; ++i) scheduler.ReadyTail(blockers.emplace_back(scheduler, check));
  for (Blocker& blocker : blockers) {
    REQUIRE(Eventually([&] { return blocker.blocked.load() == 1; }));
  }
  std::atomic<bool> inside{false}, go_on{false};
  Job busy([&] {
    inside = true;
    static_cast<void>(Eventually([&] { return go_on.load(); }));
  });
  scheduler.Ready(busy);
  REQUIRE(Eventually([&] { return inside.load(); }));
  CHECK_FALSE(scheduler.Stop(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
  for (Blocker& blocker : blockers) CHECK(blocker.done.load() == 0);
  go_on = true;
  CHECK(scheduler.Stop());
  for (Blocker& blocker : blockers) {
    CHECK(blocker.done.load() == 1);
    CHECK(blocker.status == Status::kClosed);
  }
}

TEST_CASE("stop says that it is not done while a thread is blocked outside") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> back{false};
  SeatCheck check;
  Blocker blocker(scheduler, check);
  std::atomic<bool> out{false};
  blocker.outside = [&] {
    out = true;
    static_cast<void>(Eventually([&] { return back.load(); }));
  };
  scheduler.Ready(blocker);
  REQUIRE(Eventually([&] { return out.load(); }));
  CHECK_FALSE(scheduler.Stop(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
  CHECK_FALSE(scheduler.Stop(std::chrono::steady_clock::now()));
  back = true;
  CHECK(scheduler.Stop());
  CHECK(blocker.status == Status::kClosed);
}

// The thread sanitizer sees whether what the first thread reads is written again.
TEST_CASE("a seat is opened while the threads of others work") {
  class Waiting final : public Seats::Loop {
   public:
    void Work(WorkerThread&) override {
      working.fetch_add(1);
      static_cast<void>(Eventually([&] { return stop.load(); }));
    }
    std::atomic<int> working{0};
    std::atomic<bool> stop{false};
  };
  constexpr int kSeats = 4;
  TestSource source;
  Idle idle(kSeats, source);
  Queues queues(idle);
  REQUIRE(queues.Init(kSeats, 1) == Status::kOk);
  Rest rest(idle, queues, source);
  Seats seats(rest, kSeats, 0);
  Waiting loop;
  for (int i = 0; i < kSeats; ++i) {
    REQUIRE(seats.Open(queues.worker(i), loop) == Status::kOk);
    // The first thread has come there by then. To wait for it would order the two.
    if (i == 0) SpinFor(std::chrono::milliseconds(5));
  }
  CHECK(Eventually([&] { return loop.working.load() == kSeats; }));
  loop.stop = true;
  seats.Close();
  CHECK(seats.JoinAll(kNever));
}

#ifndef NDEBUG
TEST_CASE("a thread keeps its seat when there is no other thread for it") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<int> seat{-2};
  Status left = Status::kOk;
  Job job([&] {
    left = scheduler.LeaveSeat();
    seat = scheduler.CurrentWorker();
  });
  TestPoints::SetHook([](const char* point) { return std::string_view(point) == "thread.start"; });
  scheduler.Ready(job);
  REQUIRE(Eventually([&] { return job.runs.load() == 1; }));
  TestPoints::SetHook(nullptr);
  CHECK(left == Status::kNoThread);
  CHECK(seat.load() == 0);
  // It parks and is woken as before, and comes to rest.
  Job other([] {});
  scheduler.Ready(other);
  CHECK(Eventually([&] { return other.runs.load() == 1; }));
  CHECK(Eventually([&] { return source.rests.load() >= 1; }));
  CHECK(scheduler.Stop());
}
#endif

}  // namespace
}  // namespace shoal::core
