// SPDX-License-Identifier: MIT
#include "runtime/sched/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <deque>
#include <thread>

#include "runtime/base/pin.h"
#include "runtime/sched/scheduler.h"
#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

// Runs until it has been interrupted so often, as a loop in Lua would.
class Loop final : public Runnable, public Interruptible {
 public:
  explicit Loop(Scheduler& scheduler) : scheduler_(scheduler) {}
  void Run() override {
    {
      const InterruptSection section(*this);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!IsOver() && std::chrono::steady_clock::now() < end) {
        if (pinned) {
          {
            const Pin pin;
            SpinFor(std::chrono::milliseconds(1));
          }
          SpinFor(std::chrono::microseconds(100));
        }
      }
    }
    kept_seat.store(scheduler_.HoldsSeat());
    runs.fetch_add(1);
  }
  SHOAL_IN_SIGNAL_HANDLER void OnInterrupt() override { interrupts = interrupts + 1; }
  [[nodiscard]] bool IsOver() const { return interrupts >= until || stop.load(); }

  int until = 1;
  bool pinned = false;
  std::atomic<bool> stop{false};
  volatile int interrupts = 0;
  std::atomic<bool> kept_seat{false};
  std::atomic<int> runs{0};

 private:
  Scheduler& scheduler_;
};

TEST_CASE("a long dispatch is interrupted when others wait, and only then") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  Loop alone(scheduler);
  alone.until = 1000;
  scheduler.Ready(alone);
  const std::uint64_t ticks = scheduler.counters().ticks;
  REQUIRE(Eventually([&] { return scheduler.counters().ticks > ticks + 20; }));
  CHECK(alone.interrupts == 0);
  alone.stop = true;
  REQUIRE(Eventually([&] { return alone.runs.load() == 1; }));

  Loop loop(scheduler);
  scheduler.Ready(loop);
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(Eventually([&] { return loop.runs.load() == 1; }));
  CHECK(loop.interrupts == 1);
  CHECK(loop.kept_seat.load());
  CHECK(scheduler.Stop());
}

#ifndef SHOAL_THREAD_SANITIZER
TEST_CASE("a dispatch that goes on after it was interrupted loses its seat") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  Loop loop(scheduler);
  loop.until = 1000;
  scheduler.Ready(loop);
  // It runs although the only worker does not come back.
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(loop.runs.load() == 0);
  // Nor is the loop interrupted any more: it has no seat that anybody could want.
  const int interrupts = loop.interrupts;
  const std::uint64_t ticks = scheduler.counters().ticks;
  std::atomic<bool> seen{false};
  Job more([&] { static_cast<void>(Eventually([&] { return seen.load(); })); });
  scheduler.Ready(more);
  REQUIRE(Eventually([&] { return scheduler.counters().ticks > ticks + 10; }));
  seen = true;
  CHECK(loop.interrupts == interrupts);
  loop.stop = true;
  CHECK(Eventually([&] { return loop.runs.load() == 1; }));
  REQUIRE(Eventually([&] { return more.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}
#endif

TEST_CASE("a pinned thread is left alone until it is not") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  Loop loop(scheduler);
  loop.pinned = true;
  scheduler.Ready(loop);
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1; }));
  CHECK(Eventually([&] { return loop.runs.load() == 1; }));
  CHECK(scheduler.Stop());
}

TEST_CASE("what is asked of all dispatches reaches one that lasts, though nobody waits") {
  TestSource source;
  Scheduler scheduler({.workers = 2, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  for (int i = 0; i < Times(50); ++i) {
    Loop loop(scheduler);
    scheduler.Ready(loop);
    scheduler.Interrupt();
    // It may have begun after that.
    REQUIRE(Eventually([&] {
      scheduler.Interrupt();
      return loop.runs.load() == 1;
    }));
  }
  CHECK(scheduler.Stop());
}

TEST_CASE("a dispatch that is pinned when it is asked to look is asked again") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  // Pinned till it has been asked, and a little longer.
  class Pinned final : public Runnable, public Interruptible {
   public:
    explicit Pinned(Scheduler& scheduler) : scheduler_(scheduler) {}
    void Run() override {
      const InterruptSection section(*this);
      {
        const Pin pin;
        asked = Eventually([&] { return scheduler_.MustLook(); });
        const std::uint64_t ticks = scheduler_.counters().ticks;
        static_cast<void>(Eventually([&] { return scheduler_.counters().ticks > ticks + 1; }));
        early = interrupted != 0;
      }
      late = Eventually([&] { return interrupted != 0; });
      done.store(true);
    }
    void OnInterrupt() override { interrupted = 1; }
    volatile sig_atomic_t interrupted = 0;
    bool asked = false, early = false, late = false;
    std::atomic<bool> done{false};

   private:
    Scheduler& scheduler_;
  };
  Pinned pinned(scheduler);
  scheduler.Ready(pinned);
  // Once, while it runs.
  const std::uint64_t ticks = scheduler.counters().ticks;
  REQUIRE(Eventually([&] { return scheduler.counters().ticks > ticks + 3; }));
  scheduler.Interrupt();
  REQUIRE(Eventually([&] { return pinned.done.load(); }));
  CHECK(pinned.asked);
  CHECK_FALSE(pinned.early);
  CHECK(pinned.late);
  CHECK(scheduler.Stop());
}

TEST_CASE("a dispatch that is in no section when it is asked to look and to leave is asked again") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  Loop loop(scheduler);
  Job late_loop([&] {
    // As a thread that the system lets run late: both signals have come before it does anything.
    const std::uint64_t ticks = scheduler.counters().ticks;
    static_cast<void>(Eventually([&] { return scheduler.counters().ticks > ticks + 20; }));
    loop.Run();
  });
  scheduler.Ready(late_loop);
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1 && late_loop.runs.load() == 1; }));
  CHECK(loop.interrupts == 1);
  CHECK(scheduler.Stop());
}

TEST_CASE("what comes from outside waits for one slice of a loop, and not for many") {
  constexpr int kMany = 5;
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<int> came{0};
  std::deque<Job> jobs;
  for (int i = 0; i < kMany; ++i) jobs.emplace_back([&] { came.fetch_add(1); });
  // Slice after slice, until all have come; they are counted when all are on their way.
  std::atomic<bool> all_sent{false};
  std::atomic<int> slices_since{0};
  Loop loop(scheduler);
  Job slices([&] {
    loop.interrupts = 0;
    if (all_sent.load()) slices_since.fetch_add(1);
    loop.Run();
    if (came.load() < kMany && !loop.stop.load()) scheduler.ReadyAgain(slices);
  });
  scheduler.Ready(slices);
  const std::uint64_t ticks = scheduler.counters().ticks;
  REQUIRE(Eventually([&] { return scheduler.counters().ticks > ticks + 2; }));
  for (Job& job : jobs) scheduler.Ready(job);
  all_sent.store(true);
  CHECK(Eventually([&] { return came.load() == kMany; }));
  // One, and perhaps one before the tick. Dozens for each if it had to wait for its turn.
  CHECK(slices_since.load() <= 3);
  loop.stop.store(true);
  CHECK(scheduler.Stop());
}

TEST_CASE("a dispatch that has looked and goes on is asked again") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source, .signal = SIGURG});
  REQUIRE(scheduler.Start() == Status::kOk);
  Loop loop(scheduler);
  Job looking([&] {
    const std::uint64_t ticks = scheduler.counters().ticks;
    static_cast<void>(Eventually([&] { return scheduler.counters().ticks > ticks + 20; }));
    scheduler.HasLooked();
    loop.Run();
  });
  scheduler.Ready(looking);
  Job job([] {});
  scheduler.Ready(job);
  CHECK(Eventually([&] { return job.runs.load() == 1 && looking.runs.load() == 1; }));
  CHECK(loop.interrupts == 1);
  CHECK(scheduler.Stop());
}

TEST_CASE("without a signal, a dispatch that looks sees what is asked of it") {
  TestSource source;
  Scheduler scheduler({.workers = 1, .idle_source = source});
  REQUIRE(scheduler.Start() == Status::kOk);
  std::atomic<bool> asked{false};
  Job looking([&] {
    asked.store(Eventually([&] { return scheduler.MustLook(); }));
    scheduler.HasLooked();
    if (scheduler.MustLook()) asked.store(false);
  });
  scheduler.Ready(looking);
  Job waiting([] {});
  scheduler.Ready(waiting);
  CHECK(Eventually([&] { return waiting.runs.load() == 1; }));
  CHECK(asked.load());
  CHECK(scheduler.Stop());
}

// A seat that is given up as the signal handler does it, on the thread itself, so that the thread
// sanitizer sees all of the protocol.
TEST_CASE("an abandoned seat is taken by one: another thread, or its own") {
  TestSource source;
  for (int workers = 1; workers <= 2; ++workers) {
    Scheduler scheduler({.workers = workers, .idle_source = source});
    REQUIRE(scheduler.Start() == Status::kOk);
    std::atomic<int> inside{0}, most{0}, kept{0}, lost{0};
    const auto enter = [&] {
      const int now = inside.fetch_add(1) + 1;
      if (now > most.load()) most.store(now);
      SpinFor(std::chrono::microseconds(20));
      inside.fetch_sub(1);
    };
    Job abandoner([&] {
      enter();
      scheduler.AbandonSeat();
      SpinFor(std::chrono::microseconds(kept.load() % 2 == 0 ? 10 : 4000));
      if (scheduler.HoldsSeat()) {
        kept.fetch_add(1);
        enter();
      } else {
        lost.fetch_add(1);
      }
    });
    Job other(enter);
    for (int i = 1; i <= Times(300); ++i) {
      scheduler.ReadyTail(abandoner);
      scheduler.ReadyTail(other);
      REQUIRE(Eventually([&] { return abandoner.runs.load() == i && other.runs.load() == i; }));
    }
    CHECK(kept.load() + lost.load() == Times(300));
    CHECK(most.load() <= workers);
    CHECK(scheduler.Stop());
  }
}

TEST_CASE("a scheduler stops while a seat is abandoned") {
  TestSource source;
  for (int i = 0; i < Times(200); ++i) {
    Scheduler scheduler({.workers = 1, .idle_source = source});
    REQUIRE(scheduler.Start() == Status::kOk);
    std::atomic<bool> given_up{false}, go_on{false};
    Job job([&] {
      scheduler.AbandonSeat();
      given_up.store(true);
      static_cast<void>(Eventually([&] { return go_on.load(); }));
    });
    scheduler.Ready(job);
    REQUIRE(Eventually([&] { return given_up.load(); }));
    std::thread stopper([&] { static_cast<void>(scheduler.Stop()); });
    if (i % 2 == 0) std::this_thread::yield();
    go_on.store(true);
    stopper.join();
    CHECK(job.runs.load() == 1);
  }
}

volatile sig_atomic_t earlier_calls = 0;

TEST_CASE("other threads keep the handler that was there before") {
  struct sigaction action = {};
  action.sa_handler = [](int) { earlier_calls = earlier_calls + 1; };
  REQUIRE(sigaction(SIGUSR2, &action, nullptr) == 0);
  REQUIRE(InstallInterruptHandler(SIGUSR2) == Status::kOk);
  REQUIRE(InstallInterruptHandler(SIGUSR2) == Status::kOk);
  raise(SIGUSR2);
  CHECK(earlier_calls == 1);
  CHECK(InstallInterruptHandler(SIGKILL) == Status::kNotFound);
  CHECK(InstallInterruptHandler(0) == Status::kNotFound);
  CHECK(InstallInterruptHandler(1000) == Status::kNotFound);
}

}  // namespace
}  // namespace shoal::core
