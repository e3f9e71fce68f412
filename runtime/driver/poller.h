// SPDX-License-Identifier: MIT
// The Poller is where file descriptors become ready, and where the timekeeper sleeps.
//
// It is the other half, besides Timers, of the scheduler's IdleSource: Turn, Poll, Sleep, Interrupt
// and Armed have the contracts given there. There is no thread for it: an idle worker sleeps in
// epoll, busy ones look now and then, and the tick thread looks after those that are busy for long.
//
// Descriptors are registered at their first wait, till they are closed, and report edges: so a wait
// costs no system call. The sleep's place:
//   - nothing is registered: a futex, which costs less. Nothing is opened either
//   - something is: epoll. An event on an eventfd interrupts it
// It is where nothing changes, and not what is waited for, that decides: else each first wait would
// have to move the sleeper.
//
// What the sleeper finds, its worker delivers in Poll, when it counts as active again.
//
// Threads: any thread may call any member; one at a time is in Sleep, and in Turn for each worker.
// Locks:   those of the slots; mu_ (kLeaf). Waiters are notified without a lock.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/driver/poll_slots.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Poller {
 public:
  Poller(const Clock& clock, int workers);
  // REQUIRES: nobody waits, and no Descriptor is left.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // The worker, at the start of each turn: looks at every 61st, or after a millisecond of them.
  void Turn(int worker) {
    if (armed_.load(std::memory_order_relaxed) != 0) TurnArmed(workers_[worker]);
  }
  // Completes the waits of what has become ready. Returns how many. No system call if nobody waits,
  // or somebody sleeps in epoll: he will be told.
  int Poll();
  void Sleep(TimePoint deadline);
  void Interrupt();
  // Whether anybody waits here. A wait counts until its Notify has returned.
  [[nodiscard]] bool Armed() const { return armed_.load() != 0; }

 private:
  friend class Descriptor;

  static constexpr int kBatch = 64;  // events that are fetched at once
  static constexpr int kTurns = 61;  // the longest time between two looks
  static constexpr Duration kTurnsTime = std::chrono::milliseconds(1);
  static constexpr std::uint64_t kInterruptMark = ~std::uint64_t{0};

  // A worker's own: in how many turns it looks, after how many it does, and when it last did.
  struct alignas(64) PerWorker {
    int left = kTurns;
    int period = kTurns;
    TimePoint looked_at;
  };

  void TurnArmed(PerWorker& mine);

  // --- For Descriptor.
  // Opens epoll, once. False, with errno set, if the system refuses.
  [[nodiscard]] bool Open();
  // Makes the slot report `direction`. kPending; kOk: the kernel cannot watch such a file, which is
  // always ready; kNoMemory.
  Status Watch(PollSlot& slot, Direction direction) SHOAL_REQUIRES_LOCK(slot.mu);
  // Events that have been fetched, and not been taken, are void from here on.
  void Forget(PollSlot& slot) SHOAL_REQUIRES_LOCK(slot.mu);
  void BeginWait() { armed_.fetch_add(1); }
  void EndWaits(int count) { armed_.fetch_sub(count); }

  [[nodiscard]] bool Control(int operation, PollSlot& slot, std::uint32_t interest)
      SHOAL_REQUIRES_LOCK(slot.mu);
  void SleepInEpoll(TimePoint deadline);
  void WakeFromEpoll();
  // Claims the waits that these events complete. Returns how many.
  enum class By : bool { kSleeper, kOther };
  int Take(const epoll_event* events, int count, WakeList& woken, By by);
  int TakeEvent(const epoll_event& event, WakeList& woken);
  // All waits in that direction. Returns how many: 0, the edge is for the next one.
  [[nodiscard]] static int Complete(PollSlot& slot, Direction direction, WakeList& woken)
      SHOAL_REQUIRES_LOCK(slot.mu);

  // sleeper_: what the timekeeper does. Interrupt leaves kInterrupted, which the next Sleep takes.
  static constexpr std::uint32_t kAwake = 0;
  static constexpr std::uint32_t kOnFutex = 1;
  static constexpr std::uint32_t kInEpoll = 2;
  static constexpr std::uint32_t kInterrupted = 3;

  const Clock& clock_;
  const std::unique_ptr<PerWorker[]> workers_;
  PollSlots slots_;

  // Published waits, and completed ones whose Notify has not returned. On a line of its own: read
  // each turn. seq_cst: pairs with the checks for rest, as the counts of the timer wheels do.
  alignas(64) std::atomic<int> armed_{0};

  // seq_cst: who registers adds to registered_ and then reads sleeper_, who goes to sleep does it
  // the other way round. So nobody sleeps on the futex while something is registered.
  alignas(64) std::atomic<std::uint32_t> sleeper_{kAwake};
  std::atomic<int> registered_{0};
  // The last Sleep has fetched the events, so the Poll after it need not. Only a hint.
  std::atomic<bool> fetched_{false};

  // Set by Open under mu_, then never changed. acquire and release: publish event_fd_.
  std::atomic<int> epoll_fd_{-1};
  int event_fd_ = -1;

  Mutex mu_{LockRank::kLeaf};
  // What the sleeper has found and not delivered yet.
  WakeList found_ SHOAL_GUARDED_BY(mu_);
  int found_count_ SHOAL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal::core
