// SPDX-License-Identifier: MIT
// What the tests of the scheduler share.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/base/test_point.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/parker.h"
#include "runtime/sched/runnable.h"
#include "runtime/sched/scheduler.h"
#include "tests/support/eventually.h"

namespace shoal::core {

// Keeps the calling thread busy, as a long loop in Lua would.
inline void SpinFor(Duration time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) __builtin_ia32_pause();
}

// A Runnable that runs a function, and counts if it was run by two threads at once.
class Job final : public Runnable {
 public:
  explicit Job(std::function<void()> body) : body_(std::move(body)) {}
  void Run() override {
    if (running_.exchange(true)) overlaps.fetch_add(1);
    // Before the body, which may make it ready again: that is the last thing it does.
    running_.store(false);
    body_();
    runs.fetch_add(1);
  }
  std::atomic<int> runs{0};
  std::atomic<int> overlaps{0};

 private:
  std::atomic<bool> running_{false};
  const std::function<void()> body_;
};

// An IdleSource that the test moves by hand. Its time stands still at 0, so a deadline of 0 is due.
class TestSource final : public IdleSource {
 public:
  void Turn(int) override { turns.fetch_add(1, std::memory_order_relaxed); }
  void Poll() override {
    polls.fetch_add(1);
    if (on_poll) on_poll();
  }
  TimePoint NextDeadline() override {
    const TimePoint next{Duration(deadline.load())};
    if (after_next_deadline) after_next_deadline();
    return next;
  }
  bool NeedsTimekeeper() override { return NextDeadline() != kNever || watches.load(); }
  void Sleep(TimePoint until) override {
    if (sleepers.fetch_add(1) != 0) two_slept.store(true);
    slept_until.store(until.time_since_epoch().count());
    if (until > TimePoint()) parker_.Park();
    sleepers.fetch_sub(1);
  }
  void Interrupt() override {
    interrupts.fetch_add(1);
    parker_.Unpark();
  }
  bool Armed() override { return armed.load() > 0; }
  void OnQuiescent() override {
    if (on_quiescent) on_quiescent();
    rests.fetch_add(1);
  }

  // Set before Start.
  std::function<void()> on_poll;
  std::function<void()> on_quiescent;
  std::function<void()> after_next_deadline;  // runs when NextDeadline has looked

  std::atomic<int> armed{0};
  std::atomic<bool> watches{false};  // something may become ready, without a deadline
  std::atomic<Duration::rep> deadline{kNever.time_since_epoch().count()};
  std::atomic<Duration::rep> slept_until{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> two_slept{false};
  std::atomic<int> turns{0};
  std::atomic<int> polls{0};
  std::atomic<int> interrupts{0};
  std::atomic<int> rests{0};

 private:
  Parker parker_;
};

// Gives way at random at the test points, as long as it lives: the windows between two steps of a
// protocol become wide. Does nothing in release builds, which have no test points.
class Shaken {
 public:
#ifndef NDEBUG
  explicit Shaken(std::uint64_t seed) {
    seed_.store(seed);
    TestPoints::SetHook(&Shaken::AtPoint);
  }
  ~Shaken() { TestPoints::SetHook(nullptr); }

 private:
  static bool AtPoint(const char*) {
    thread_local std::uint64_t random = seed_.fetch_add(0x9e3779b97f4a7c15);
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto choice = static_cast<unsigned>(random >> 33);
    if (choice % 3 == 0) sched_yield();
    if (choice % 7 == 0) {
      for (unsigned i = 0; i < choice % 500; ++i) __builtin_ia32_pause();
    }
    return false;
  }
  static inline std::atomic<std::uint64_t> seed_{0};
#else
  explicit Shaken(std::uint64_t) {}
  ~Shaken() {}
#endif
};

}  // namespace shoal::core
