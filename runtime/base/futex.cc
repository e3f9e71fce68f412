// SPDX-License-Identifier: MIT
#include "runtime/base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace shoal::core {

void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimePoint deadline) {
  timespec at{};
  timespec* until = nullptr;
  if (deadline != kNever) {
    const auto nanoseconds = deadline.time_since_epoch().count();
    at.tv_sec = nanoseconds / 1'000'000'000;
    at.tv_nsec = nanoseconds % 1'000'000'000;
    until = &at;
  }
  // FUTEX_WAIT_BITSET takes an absolute deadline on CLOCK_MONOTONIC; FUTEX_WAIT a relative one.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

void FutexWake(const std::atomic<std::uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, nullptr, nullptr, 0);
}

}  // namespace shoal::core
