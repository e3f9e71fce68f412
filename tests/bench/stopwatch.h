// SPDX-License-Identifier: MIT
// A Stopwatch reads the time that has passed, and that the thread has computed, since it was made.
#pragma once

#include <ctime>

namespace shoal::bench {

class Stopwatch {
 public:
  Stopwatch() : wall_(Read(CLOCK_MONOTONIC)), computed_(Read(CLOCK_THREAD_CPUTIME_ID)) {}

  // Nanoseconds.
  [[nodiscard]] double wall() const { return Read(CLOCK_MONOTONIC) - wall_; }
  [[nodiscard]] double computed() const { return Read(CLOCK_THREAD_CPUTIME_ID) - computed_; }

 private:
  static double Read(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }

  double wall_;
  double computed_;
};

}  // namespace shoal::bench
