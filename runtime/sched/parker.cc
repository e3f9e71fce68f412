// SPDX-License-Identifier: MIT
#include "runtime/sched/parker.h"

#include <chrono>

#include "runtime/base/futex.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

void Wakeup::Send() {
  if (word_ != nullptr) FutexWake(*word_, 1);
}

bool Parker::Park(TimePoint deadline) {
  // 1 Take a token that is there already, or say that somebody sleeps.
  std::uint32_t seen = kToken;
  // acquire, here and below: pairs with the release in Post.
  if (word_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire)) return true;
  SHOAL_TEST_POINT("parker.before_asleep");
  seen = kEmpty;
  if (!word_.compare_exchange_strong(seen, kAsleep, std::memory_order_acquire)) {
    word_.exchange(kEmpty, std::memory_order_acquire);
    return true;
  }
  for (;;) {
    // 2 Sleep, unless a token came meanwhile: the kernel compares the word again.
    SHOAL_TEST_POINT("parker.before_sleep");
    FutexWait(word_, kAsleep, deadline);
    // 3 A token ends the sleep, also when it came at the very deadline.
    seen = kToken;
    if (word_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire)) return true;
    if (deadline != kNever && std::chrono::steady_clock::now() >= deadline) {
      return word_.exchange(kEmpty, std::memory_order_acquire) == kToken;
    }
  }
}

Wakeup Parker::Post() {
  // release: publishes what came before to Park.
  const std::uint32_t before = word_.exchange(kToken, std::memory_order_acq_rel);
  SHOAL_TEST_POINT("parker.posted");
  return before == kAsleep ? Wakeup(&word_) : Wakeup();
}

}  // namespace shoal::core
