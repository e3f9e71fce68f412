// SPDX-License-Identifier: MIT
// An IdleSource is what else can bring work than the workers themselves: timers, sockets, hosts.
// The scheduler asks it each turn and sleeps in it; `runtime` joins it with the driver.
#pragma once

#include "runtime/base/clock.h"

namespace shoal::core {

// Threads: as said at each member. No lock of the scheduler is held in any call, so all of them may
// call Scheduler::Ready.
//
// Memory order: NextDeadline, Armed and what makes them change are sequentially consistent. That is
// how a timer that is armed just when the timekeeper goes to sleep is seen by one of the two.
class IdleSource {
 public:
  // The thread of `worker`, with its seat, at the start of each turn: fires what that worker has
  // armed and is due. Cheap if nothing is armed: a clock reading costs as much as a whole turn.
  virtual void Turn(int worker) = 0;

  // Fires everything that is due, whoever has armed it, without waiting. The timekeeper calls it
  // with its seat after each Sleep; the tick thread every 2.5 ms while a worker is busy.
  virtual void Poll() = 0;

  // When the timekeeper has to be back: the earliest deadline (or a lower bound), kNever if none.
  // Any runtime thread.
  [[nodiscard]] virtual TimePoint NextDeadline() = 0;

  // Whether an idle worker has to sleep here, if there is one: a deadline, or something that
  // becomes ready elsewhere. Sequentially consistent, too. Any runtime thread.
  [[nodiscard]] virtual bool NeedsTimekeeper() = 0;

  // The timekeeper: the idle worker that sleeps here rather than on its own futex. One at a time.
  // Returns at the deadline, after Interrupt, or for no reason at all.
  virtual void Sleep(TimePoint deadline) = 0;

  // Any thread. Makes Sleep return: the one that goes on, else the next one at once.
  virtual void Interrupt() = 0;

  // Whether something may still come from here: a timer, an armed socket, a busy pool thread, a
  // host outside of the runtime's waits. It suppresses OnQuiescent. Any worker.
  //
  // It is asked *before* the queues are looked at. So whoever brings work must count here until its
  // Ready() has returned: a timer till after Fire, a host till after it has done its last call.
  [[nodiscard]] virtual bool Armed() = 0;

  // Everything is at rest: all other workers are parked, all queues are empty, no thread is between
  // LeaveSeat and AwaitSeat, and Armed() was false. Called once for each time that things come to
  // rest, on the last worker, which holds its seat. It may make something ready.
  //
  // A foreign thread that does not count in Armed() may call Ready() at the same time.
  virtual void OnQuiescent() = 0;

 protected:
  ~IdleSource() = default;
};

}  // namespace shoal::core
