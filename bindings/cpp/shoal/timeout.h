// SPDX-License-Identifier: MIT
/// \file
/// Timeout is how long a call may wait.
#pragma once

#include <chrono>
#include <cmath>
#include <limits>

namespace shoal {

/// How long a call may wait: any duration of std::chrono. Zero: it does not wait. A negative one is
/// misuse.
class Timeout {
 public:
  /// For ever.
  constexpr Timeout() noexcept = default;
  /// At most so long; what is too long to be counted in nanoseconds is for ever.
  template <class Rep, class Period>
  // NOLINTNEXTLINE(google-explicit-constructor): a duration is what is written
  constexpr Timeout(std::chrono::duration<Rep, Period> time) noexcept {
    const auto seconds = std::chrono::duration<double>(time).count();
    // NaN compares with nothing.
    if (!(seconds >= 0)) {
      time_ = std::chrono::nanoseconds(-1);
    } else if (seconds < kMostSeconds) {
      time_ = std::chrono::ceil<std::chrono::nanoseconds>(time);
    }
  }

  /// std::chrono::nanoseconds::max(): for ever. Negative: it was, or was no number.
  [[nodiscard]] constexpr std::chrono::nanoseconds time() const noexcept { return time_; }

 private:
  static constexpr double kMostSeconds = 9.2e9;
  std::chrono::nanoseconds time_ = std::chrono::nanoseconds::max();
};

/// Waits as long as it takes.
inline constexpr Timeout kForever{};

}  // namespace shoal
