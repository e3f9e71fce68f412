// SPDX-License-Identifier: MIT
// Completions is the state word of a process and the list of its completed waits, in one atomic.
//
// word      state     lua_State owned by     recorded in          left by
// 0, list   new       its creator            process table        creator → ready
// 0, list   ready     the queue entry        a queue or `next`    a worker → running
// 0         running   that worker's thread   the worker           that thread only
// list      notified  that worker's thread   the worker           that thread only
// kWaiting  waiting   nobody                 its waiters' places  a completion → ready
// kWaiting  blocked   (frames on a thread)   its waiters' places  a completion → ready
// kExited   exited    nobody: it is closed   –                    –
//
// "notified": something completed while it runs. "blocked": a thread without a seat has frames of
// it on its stack; to wakers that is the same as waiting.
//
// A completion that finds kWaiting replaces it by an empty list, keeps itself aside as the first
// one, and makes the process ready: exactly one does, and nobody else may. All others only add to
// the list, which the owner empties. So the list and the state cannot disagree, and a wake-up that
// comes before a yield is complete is not lost.
//
// Threads: Push from any thread; the rest from the owner of the lua_State, except TryOwn.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Completions {
 public:
  // Adds `waiter`. True if the process was waiting: the caller owns it now and must make it ready.
  // False also if the process has exited; the waiter is then dropped.
  [[nodiscard]] bool Push(Waiter& waiter) {
    std::uintptr_t word = word_.load(std::memory_order_relaxed);
    std::uintptr_t next = 0;
    do {
      if (word == kExited) return false;
      const bool waiting = word == kWaiting;
      waiter.next_ = waiting ? nullptr : reinterpret_cast<Waiter*>(word);
      next = waiting ? 0 : reinterpret_cast<std::uintptr_t>(&waiter);
      // release: publishes the outcome to TakeAll. acquire: if it was waiting, the process as its
      // last owner left it is handed on through this thread.
    } while (!word_.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    if (word != kWaiting) return false;
    first_ = &waiter;
    return true;
  }

  // Owner. Takes the list, oldest first.
  [[nodiscard]] Waiter* TakeAll() {
    Waiter* const first = std::exchange(first_, nullptr);
    if (word_.load(std::memory_order_relaxed) == 0) return first;
    // acquire: pairs with Push.
    auto* waiter = reinterpret_cast<Waiter*>(word_.exchange(0, std::memory_order_acquire));
    Waiter* oldest = nullptr;
    while (waiter != nullptr) {
      Waiter* next = waiter->next_;
      waiter->next_ = oldest;
      oldest = waiter;
      waiter = next;
    }
    if (first == nullptr) return oldest;
    first->next_ = oldest;
    return first;
  }
  static Waiter* Next(Waiter& waiter) { return waiter.next_; }

  // Owner.
  [[nodiscard]] bool empty() const {
    return first_ == nullptr && word_.load(std::memory_order_relaxed) == 0;
  }

  // Owner. Gives the process up unless something has completed. After true, the process may run on
  // another thread, end, and be freed. REQUIRES: TakeAll was called since the process became ready.
  [[nodiscard]] bool TryWait() {
    SHOAL_DCHECK(first_ == nullptr);
    std::uintptr_t word = 0;
    // release: publishes all that the owner did to whoever is handed the process.
    return word_.compare_exchange_strong(word, kWaiting, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // Any thread that keeps the process alive. Takes a waiting process, to look at it; true: the
  // caller is its owner, and ends that by TryWait or by making it ready.
  [[nodiscard]] bool TryOwn() {
    std::uintptr_t word = kWaiting;
    return word_.compare_exchange_strong(word, 0, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // Owner, at the end.
  void Exit() { word_.store(kExited, std::memory_order_release); }

 private:
  static constexpr std::uintptr_t kWaiting = 1;
  static constexpr std::uintptr_t kExited = 2;
  std::atomic<std::uintptr_t> word_{0};
  // The owner's: what has ended the wait. So it costs the next owner no locked operation to take
  // it.
  Waiter* first_ = nullptr;
};

}  // namespace shoal::core
