// SPDX-License-Identifier: MIT
#include "runtime/base/mutex.h"

#include "runtime/base/check.h"
#include "runtime/base/futex.h"

namespace shoal::core {

namespace {
// A section takes some 50 ns; a sleep and a wake-up some 10 µs. On one core spinning is in vain,
// hence the small number.
constexpr int kSpins = 40;
}  // namespace

void Mutex::LockSlow() {
  for (int i = 0; i < kSpins; ++i) {
    __builtin_ia32_pause();
    std::uint32_t free = kFree;
    if (word_.load(std::memory_order_relaxed) == kFree &&
        word_.compare_exchange_weak(free, kHeld, std::memory_order_acquire)) {
      return;
    }
  }
  // Whoever sleeps marks the word first, and takes it as marked: others may sleep as well.
  while (word_.exchange(kContended, std::memory_order_acquire) != kFree) {
    FutexWait(word_, kContended);
  }
}

void Mutex::UnlockSlow() { FutexWake(word_, 1); }

#ifndef NDEBUG
namespace {
constexpr int kMaxHeld = 8;
struct HeldRanks {
  LockRank ranks[kMaxHeld];
  int count = 0;
};
thread_local HeldRanks held_ranks;
}  // namespace

void Mutex::CheckRank() {
  HeldRanks& held = held_ranks;
  SHOAL_CHECK(held.count < kMaxHeld);
  SHOAL_CHECK(held.count == 0 || held.ranks[held.count - 1] < rank_);
  held.ranks[held.count++] = rank_;
}

void Mutex::DropRank() {
  HeldRanks& held = held_ranks;
  SHOAL_CHECK(held.count > 0 && held.ranks[held.count - 1] == rank_);
  --held.count;
}
#endif

}  // namespace shoal::core
