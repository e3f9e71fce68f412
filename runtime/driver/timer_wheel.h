// SPDX-License-Identifier: MIT
// A TimerWheel holds the timers of one worker and fires those that are due.
//
//   level  slots of    range
//   0      1 ms        64 ms
//   1      64 ms       4 s
//   2      4 s         4 min
//   3      4 min       5 h
//   4      5 h         12 days
//   5      12 days     2 years
//   far    one list for everything beyond, looked at again every 2 years
//
// A node stands at the level of the highest digit (base 64) in which its tick and `elapsed_`
// differ. When time comes to its slot, it moves down; from level 0 it fires. Arm and Disarm are
// O(1); a node moves at most six times.
//
// Invariants, under mu_:
//   - each node's tick is later than elapsed_ (equal only inside Advance), so its level and slot
//     follow from the two, and Disarm can tell which slot becomes empty;
//   - a bit of occupied_ is set exactly if the slot has nodes;
//   - next_ is the earliest time at which Advance has something to do: at most the first deadline.
//
// A timer never fires before its deadline and, if Advance is called in time, less than 1 ms after.
//
// Threads: Arm and Disarm by the owner of the node, for each node one at a time; Advance by any
//          thread, also several at once. NextDeadline and armed by any thread.
// Locks:   mu_ (kWheel). OnDue is called under it, Fire without.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/wait/timer_node.h"

namespace shoal::core {

class TimerWheel {
 public:
  // No deadline that is armed may be long before `start`.
  explicit TimerWheel(TimePoint start);
  // REQUIRES: nothing is armed.
  ~TimerWheel() = default;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // `node` fires at `deadline`, which is rounded up to a millisecond; a deadline that has passed is
  // due with the next one. kNever: does nothing. REQUIRES: `node` is not armed here or elsewhere.
  void Arm(TimerNode& node, TimePoint deadline);

  // When this returns, the wheel does not touch `node` any more, unless its OnDue has returned
  // true: then Fire is still to come or under way. Nothing happens if the node is not armed. Finds
  // the wheel by itself.
  static void Disarm(TimerNode& node);

  // Fires what is due at `now`: first OnDue, under the lock; if that returned true, Fire. Returns
  // how many were fired. `now` may be behind that of another caller.
  int Advance(TimePoint now);

  // The earliest time at which Advance has something to do; kNever if nothing is armed.
  // Sequentially consistent with Arm.
  [[nodiscard]] TimePoint NextDeadline() const { return TimePoint(Duration(next_.load())); }

  // How many are armed. A node counts until its Fire has returned: see IdleSource::Armed.
  [[nodiscard]] std::int64_t armed() const { return armed_.load(); }
  // The same for the owner's look each turn. relaxed: it sees what it has armed itself; what others
  // have armed here, the timekeeper and the tick thread find.
  [[nodiscard]] bool DueBy(TimePoint now) const {
    return now.time_since_epoch().count() >= next_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool MayHaveArmed() const { return armed_.load(std::memory_order_relaxed) != 0; }

 private:
  using Tick = std::uint64_t;  // milliseconds of the clock
  using Slot = List<TimerNode, TimerTag>;
  static constexpr int kLevels = 6;
  static constexpr int kBits = 6;
  static constexpr int kSlots = 1 << kBits;
  static constexpr int kBatch = 32;  // nodes that are detached under one lock

  struct Place {
    int level;  // kLevels: far
    int slot;
  };
  // The earliest occupied slot and the time at which it has to be looked at.
  struct Expiry {
    Place place;
    Tick tick;
  };

  static Tick TickOf(const TimerNode& node);
  Place PlaceOf(Tick tick) const SHOAL_REQUIRES_LOCK(mu_);
  Slot& SlotAt(Place place) SHOAL_REQUIRES_LOCK(mu_);
  void Insert(TimerNode& node) SHOAL_REQUIRES_LOCK(mu_);
  void Remove(TimerNode& node) SHOAL_REQUIRES_LOCK(mu_);
  bool FindExpiry(Expiry* expiry) const SHOAL_REQUIRES_LOCK(mu_);
  int DetachDue(Tick now, TimerNode** due) SHOAL_REQUIRES_LOCK(mu_);
  void Cascade(Place place) SHOAL_REQUIRES_LOCK(mu_);
  void PublishNext() SHOAL_REQUIRES_LOCK(mu_);

  // Written under mu_, read without: publish nothing but themselves. The stores are seq_cst, so
  // that a thread that arms a timer and then looks whether the timekeeper sleeps too long, and the
  // timekeeper that says how long it sleeps and then looks here again, do not miss each other.
  std::atomic<Duration::rep> next_{kNever.time_since_epoch().count()};
  std::atomic<std::int64_t> armed_{0};

  Mutex mu_{LockRank::kWheel};
  Tick elapsed_ SHOAL_GUARDED_BY(mu_);
  std::uint64_t occupied_[kLevels] SHOAL_GUARDED_BY(mu_) = {};
  Slot slots_[kLevels][kSlots] SHOAL_GUARDED_BY(mu_);
  Slot far_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::core
