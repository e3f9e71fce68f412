// SPDX-License-Identifier: MIT
// A Baton lets two threads take turns: at each time one of the two goes on, and what it did comes
// before what the other does next.
//
// Threads: one on each side.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/futex.h"

namespace shoal::core {

class Baton {
 public:
  // kFirst begins.
  enum class Side : std::uint32_t { kFirst, kSecond };

  // The side that has it gives it to `side`.
  void Pass(Side side) {
    // Pairs with the load in Await; seq_cst for want of a reason for less. Nothing once dropped.
    std::uint32_t holder = word_.load();
    while (holder != kDropped &&
           !word_.compare_exchange_weak(holder, static_cast<std::uint32_t>(side))) {
    }
    FutexWake(word_, 1);
  }
  // Waits until `side` has it, or it has been dropped.
  void Await(Side side) const {
    for (;;) {
      const std::uint32_t holder = word_.load();
      if (holder == static_cast<std::uint32_t>(side) || holder == kDropped) return;
      FutexWait(word_, holder);
    }
  }
  // The side that has it: from now on both go on.
  void Drop() {
    word_.store(kDropped);
    FutexWake(word_, 2);
  }

 private:
  static constexpr std::uint32_t kDropped = 2;
  std::atomic<std::uint32_t> word_{static_cast<std::uint32_t>(Side::kFirst)};
};

}  // namespace shoal::core
