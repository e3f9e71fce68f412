// SPDX-License-Identifier: MIT
// Mutex is a lock of four bytes (release builds) with a rank.
//
// std::mutex has 40 bytes and no rank, and a channel has a lock for each of its shards. The
// algorithm is the three-state futex lock of U. Drepper, "Futexes Are Tricky" (2011), section 5.
//
// Threads: any thread; it is pinned while it holds the lock. Not recursive. Sections are a few list
// operations; nothing that waits, wakes, calls back or runs Lua happens inside.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/lock_rank.h"
#include "runtime/base/pin.h"
#include "runtime/base/thread_annotations.h"

namespace shoal::core {

class SHOAL_CAPABILITY("mutex") Mutex {
 public:
#ifdef NDEBUG
  explicit constexpr Mutex(LockRank) {}
#else
  explicit constexpr Mutex(LockRank rank) : rank_(rank) {}
#endif
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() SHOAL_ACQUIRE() {
    Pin::Enter();
    CheckRank();
    std::uint32_t free = kFree;
    // acquire: pairs with the release in Unlock.
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) LockSlow();
  }

  void Unlock() SHOAL_RELEASE() {
    DropRank();
    // release: publishes the section to the next holder.
    if (word_.exchange(kFree, std::memory_order_release) == kContended) UnlockSlow();
    Pin::Leave();
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kContended = 2;  // held, and somebody may sleep

  void LockSlow();
  void UnlockSlow();
#ifdef NDEBUG
  void CheckRank() {}
  void DropRank() {}
#else
  void CheckRank();
  void DropRank();
  LockRank rank_;
#endif
  std::atomic<std::uint32_t> word_{kFree};
};

class SHOAL_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SHOAL_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() SHOAL_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace shoal::core
