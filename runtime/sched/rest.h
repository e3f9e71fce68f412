// SPDX-License-Identifier: MIT
// Rest finds out when everything has come to rest: nothing runs, nothing is ready, and nothing is
// under way that will bring work by itself.
//
// Work moves in circles: what is outside (a timer, a thread between LeaveSeat and AwaitSeat) makes
// something ready; from a queue a worker takes it, becoming active if it was parked; a running
// dispatch arms a timer or leaves its seat. So the check, on the last active worker, is:
//   1 who is outside? is anything armed?     before the queues: who makes something ready counts as
//                                            outside until that has been done
//   2 does anything stand in a queue?
//   3 has no parked worker become active since step 0, when this one was found to be the last?
//     Only an active worker moves work from a queue to the outside, or takes it out of a queue.
// If 1 to 3 find nothing, nothing was anywhere when step 2 began. What comes later comes from a
// thread that was not counted in 1: see IdleSource::Armed.
//
// Nothing is missed either. Idle lets only a worker that has settled the present epoch park as the
// last; a thread that comes back from outside changes outside_ and then looks whether all are
// parked, and the last worker, having registered, looks whether outside_ has changed.
//
// Threads: as said at each member.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "runtime/base/count.h"
#include "runtime/sched/idle.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/queues.h"

namespace shoal::core {

class Rest {
 public:
  Rest(Idle& idle, Queues& queues, IdleSource& source)
      : idle_(idle), queues_(queues), source_(source) {}
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;

  // A thread whose worker is active, before it gives its seat away: it is outside from now on.
  void GoOutside() { outside_.fetch_add(kOne); }
  // The same thread, if it keeps its seat after all.
  void StayInside() { outside_.fetch_sub(kOne); }
  // A thread that is outside: nothing will come from it by itself any more.
  void ComeBack() { Change(kOneChange - kOne); }
  // Any thread: something that counted in Armed() has ended. If nothing has run since, but rest was
  // suppressed, it is reported.
  void ArmedEnded() { Change(kOneChange); }
  // Any thread: rest is to be reported again though nothing may have run.
  void Reconsider() {
    asked_.fetch_add(1);
    Change(kOneChange);
  }

  enum class Outcome : bool {
    kSettled,  // nothing to do: the worker may park for this epoch
    kGoOn      // there is work, or may be
  };
  // The last active worker, at `epoch`. Calls OnQuiescent if everything is at rest and that is new.
  // `seen` is for HasChanged.
  Outcome Check(Worker& worker, std::uint32_t epoch, std::uint64_t* seen);
  // The same worker, after it has registered as parked: whether Check has to be done again.
  [[nodiscard]] bool HasChanged(std::uint64_t seen) const { return outside_.load() != seen; }

  // Waits until no thread is outside. REQUIRES: those that are do not wait for the caller, and come
  // back soon.
  void AwaitNobodyOutside() const {
    while (static_cast<std::uint32_t>(outside_.load()) != 0) sched_yield();
  }

  [[nodiscard]] std::uint64_t rests() const { return rests_.value(); }

 private:
  // outside_: threads that are outside in bits 0 … 31, changes in bits 32 … 63.
  static constexpr std::uint64_t kOne = 1;
  static constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;

  void Change(std::uint64_t by) {
    outside_.fetch_add(by);
    // Pairs with Register and HasChanged: the last worker sees the change, or is seen parked.
    if (idle_.activity().active == 0) idle_.Notify();
  }
  [[nodiscard]] std::uint64_t Dispatches();

  Idle& idle_;
  Queues& queues_;
  IdleSource& source_;

  // seq_cst, as it pairs with Idle's state and with what Armed() reads.
  std::atomic<std::uint64_t> outside_{0};
  // Counted before outside_ is changed, and read after it.
  std::atomic<std::uint64_t> asked_{0};

  // Only the last active worker touches these; Idle::mu_ orders one last worker before the next.
  std::uint64_t reported_asked_ = 0;  // at the last call of OnQuiescent
  std::uint64_t reported_dispatches_ = 0;
  Count rests_;
};

}  // namespace shoal::core
