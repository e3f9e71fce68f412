// SPDX-License-Identifier: MIT
// Idle knows which workers are parked and how many are searching, and wakes them.
//
// A worker is active (runs a dispatch, looks for one, or is about to) or parked. Among the active
// ones, some are searching: they hold no work, and look at everybody's queues before they park. The
// thread that makes something ready wakes a parked worker only if none is searching.
//
// Why no wake-up is lost. Let P push and then Notify, and W be a worker that parks.
//   - P pushes, then reads state_. W registers (state_), then reads the lengths of all queues. All
//     four are seq_cst, so P sees W parked, or W sees the push.
//   - If P saw a searcher S, it woke nobody. S has not left the searching state yet: when it does,
//     because it found something, and is the last, it reads the lengths again and notifies; when
//     because it parks, it does as W. If it was not the last, the argument goes on with the others.
//   - Whoever takes a parked worker out of the list counts it as active and searching in the same
//     step, so no two wake the same one, and no third wakes another in vain.
//
// The timekeeper is the parked worker that sleeps in the IdleSource, with the deadline of the next
// timer, and where sockets become ready; the others sleep on their own futex and without a
// deadline. Invariant: if any worker is parked, there is a timekeeper, or a worker is active. That
// one becomes timekeeper when it parks, and wakes another one for it if it finds work instead. What
// is armed while it runs a dispatch, the tick thread fires.
//
// Threads: as said at each member.
// Locks:   mu_ (kIdle). Threads are woken after it is released.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

class Idle {
 public:
  // How many workers are active, and how often a parked one has become so.
  struct Activity {
    int active = 0;
    std::uint32_t epoch = 0;
  };

  // All `workers` are active.
  Idle(int workers, IdleSource& source);
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;

  // --- Any thread -------------------------------------------------------------------------------

  // After something has been pushed. Wakes a parked worker if no one searches.
  void Notify() {
    if (NobodyLooks(state_.load())) WakeOne();
  }
  // After a timer has been armed by a thread without a seat.
  void DeadlineArmed(TimePoint deadline) {
    // Pairs with the store in SleepAsTimekeeper.
    if (deadline.time_since_epoch().count() < sleeps_until_.load()) source_.Interrupt();
  }
  [[nodiscard]] Activity activity() const;
  [[nodiscard]] bool HasParked() const { return activity().active < workers_; }
  [[nodiscard]] bool HasTimekeeper();
  [[nodiscard]] std::uint64_t wakes() const;

  // --- The thread of a worker -------------------------------------------------------------------

  // Begins to search; false if enough others do.
  [[nodiscard]] bool BeginSearch();
  // Ends it, since something was found. True: it was the last searcher, and has to look whether
  // more is there to be found.
  [[nodiscard]] bool EndSearch();

  enum class Searching : bool { kNo, kYes };
  enum class Parking : std::uint8_t {
    kParked,   // registered; not active nor searching any more
    kLast,     // not registered: all others are parked. See Rest.
    kStopped,  // not registered
  };
  // Registers the worker as parked, unless it is the last one that is active and `settled_epoch` is
  // not the present one. `epoch` is set to the present one.
  Parking Register(Worker& worker, Searching searching, std::uint64_t settled_epoch,
                   std::uint32_t* epoch);
  // After kParked: sleeps until somebody has woken the worker, or, as timekeeper, until it is time.
  // The worker is active and searching then. True: it was timekeeper and has to Poll. The
  // timekeeper is back at `latest` in any case.
  [[nodiscard]] bool Sleep(Worker& worker, TimePoint latest = kNever);
  // After kParked, instead of Sleep: the worker is active and searching again.
  void Unregister(Worker& worker);

  // --- The scheduler ----------------------------------------------------------------------------

  // Nobody parks any more, and all who are parked are woken.
  void Stop();

 private:
  // state_: searching in bits 0 … 15, active in bits 16 … 31, epoch in bits 32 … 63.
  static constexpr std::uint64_t kOneSearching = 1;
  static constexpr std::uint64_t kOneActive = 1 << 16;
  static constexpr std::uint64_t kOneEpoch = std::uint64_t{1} << 32;
  static constexpr Duration::rep kNobodySleeps = TimePoint::min().time_since_epoch().count();
  static std::uint32_t SearchingIn(std::uint64_t state) { return state & 0xffff; }
  static int ActiveIn(std::uint64_t state) { return static_cast<int>(state >> 16 & 0xffff); }

  // What WakeOne has to do when the lock is released.
  struct Wake {
    Wakeup wakeup;
    bool interrupt = false;
  };

  [[nodiscard]] bool NobodyLooks(std::uint64_t state) const {
    return SearchingIn(state) == 0 && ActiveIn(state) < workers_;
  }
  void WakeOne();
  Wake TakeParked() SHOAL_REQUIRES_LOCK(mu_);
  void Send(Wake& wake);
  void BecomeActive(Worker& worker) SHOAL_REQUIRES_LOCK(mu_);
  void SleepAsTimekeeper(TimePoint latest);
  [[nodiscard]] bool IsTimekeeper(const Worker& worker);
  [[nodiscard]] bool IsParked(const Worker& worker);

  const int workers_;
  IdleSource& source_;

  // The protocol's word; see above. `active` and `epoch` change under mu_ only, `searching`
  // anywhere. seq_cst throughout: it pairs with the lengths of the queues.
  std::atomic<std::uint64_t> state_;
  // Until when the timekeeper sleeps; kNobodySleeps if it does not (then it will look at the
  // deadlines before it does). seq_cst: pairs with IdleSource::NextDeadline.
  std::atomic<Duration::rep> sleeps_until_{kNobodySleeps};

  mutable Mutex mu_{LockRank::kIdle};
  // The last parked, whose cache is warm, is first; the timekeeper is last, so that it can stay.
  List<Worker, ParkedTag> parked_ SHOAL_GUARDED_BY(mu_);
  // It sets and clears this itself: it is set until Sleep has returned, so only one sleeps there.
  Worker* timekeeper_ SHOAL_GUARDED_BY(mu_) = nullptr;
  bool stopped_ SHOAL_GUARDED_BY(mu_) = false;
  std::uint64_t wakes_ SHOAL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal::core
