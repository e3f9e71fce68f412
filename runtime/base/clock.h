// SPDX-License-Identifier: MIT
// Clock gives the time that deadlines are measured by. It is injected, so that tests and the
// simulator can stop it and move it.
#pragma once

#include <atomic>
#include <chrono>

namespace shoal::core {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// A deadline that never passes.
inline constexpr TimePoint kNever = TimePoint::max();

// Threads: any thread may call any member.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint Now() const = 0;
};

// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return std::chrono::steady_clock::now(); }
};

// Stands still until it is moved.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return TimePoint(Duration(nanoseconds_.load())); }
  void Advance(Duration by) { nanoseconds_.fetch_add(by.count()); }

 private:
  // Publishes nothing but itself.
  std::atomic<Duration::rep> nanoseconds_{1'000'000'000};
};

// The simulator's. It goes on by a microsecond each time somebody looks at it, so that a loop ends
// which waits for a time by looking at the clock; and it is moved when nothing can run till a
// deadline.
class SimulatedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override {
    return TimePoint(Duration(nanoseconds_.fetch_add(kLook.count()) + kLook.count()));
  }
  // Nothing happens if it is there already. One thread at a time.
  void AdvanceTo(TimePoint time) {
    const Duration::rep to = time.time_since_epoch().count();
    if (nanoseconds_.load() < to) nanoseconds_.store(to);
  }
  // Since the start, without a look.
  [[nodiscard]] Duration elapsed() const { return Duration(nanoseconds_.load()) - kStart; }

 private:
  static constexpr Duration kLook = std::chrono::microseconds(1);
  static constexpr Duration kStart = std::chrono::seconds(1);
  // Publishes nothing but itself.
  mutable std::atomic<Duration::rep> nanoseconds_{kStart.count()};
};

// `now + timeout`, or kNever where that is beyond the end of time.
inline TimePoint DeadlineAfter(TimePoint now, Duration timeout) {
  return timeout >= kNever - now ? kNever : now + timeout;
}

}  // namespace shoal::core
