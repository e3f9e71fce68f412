// SPDX-License-Identifier: MIT
// CpuTime adds up the turns of a process, on a clock that its user chooses and reads.
//
// Threads: Begin and End by the owner of the process; Used by any thread, also during a turn.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/base/clock.h"

namespace shoal::core {

class CpuTime {
 public:
  // A turn begins. Does nothing during one.
  void Begin(Duration now) {
    const std::int64_t word = word_.load(std::memory_order_relaxed);
    if (IsOpen(word)) return;
    word_.store(word - 2 * now.count() + 1, std::memory_order_relaxed);
  }
  // The turn ends. Does nothing between two.
  void End(Duration now) {
    const std::int64_t word = word_.load(std::memory_order_relaxed);
    if (!IsOpen(word)) return;
    word_.store(word - 1 + 2 * now.count(), std::memory_order_relaxed);
  }
  // `now` is read before. A reading that is older than the turn counts as its beginning.
  [[nodiscard]] Duration Used(Duration now) const {
    const std::int64_t word = word_.load(std::memory_order_relaxed);
    const std::int64_t twice = IsOpen(word) ? word - 1 + 2 * now.count() : word;
    return Duration(twice < 0 ? 0 : twice / 2);
  }

 private:
  static bool IsOpen(std::int64_t word) { return (word & 1) != 0; }

  // Twice the sum; during a turn, that less its beginning, and 1. So both are seen at once.
  // relaxed: it publishes nothing.
  std::atomic<std::int64_t> word_{0};
};

}  // namespace shoal::core
