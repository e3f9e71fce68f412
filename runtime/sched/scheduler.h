// SPDX-License-Identifier: MIT
// A Scheduler runs Runnables on a fixed number of workers, which steal from each other.
//
// A worker is a seat on which one thread at a time sits. A thread that has to block gives its seat
// to a spare thread and asks for one when it wants to go on, so never more than `workers` threads
// run Lua, and never fewer because some are blocked.
//
// Threads:   any thread may call any member, unless it says otherwise.
// Ownership: Runnables belong to their makers; what still stands in a queue after Stop is given
//            back by TakeLeftover.
// Locks:     kInject and kIdle, inside; Run and the IdleSource are called without any.
//
// Example:
//   Scheduler scheduler({.workers = 4, .idle_source = source});
//   if (scheduler.Start() != Status::kOk) …
//   scheduler.ReadyTail(process);
//   …
//   scheduler.Stop();
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/sched/drive.h"
#include "runtime/sched/idle_source.h"
#include "runtime/sched/runnable.h"
#include "runtime/sched/seat_ticket.h"

namespace shoal::core {

struct SchedulerParts;

class Scheduler {
 public:
  // Who runs next. kDrawn is the simulator: what is ready is drawn by the seed, one thread at a
  // time is inside Run or on the way there, and nobody looks after a worker that is busy for long.
  enum class Order : std::uint8_t { kAsWoken, kDrawn };

  // Whose threads the workers have. kGuests: it starts none; who calls Run is one for that time.
  // Then nothing interrupts what runs but its own calls of MustLook, and no seat can be left.
  enum class Threads : std::uint8_t { kOwn, kGuests };

  struct Options {
    int workers = 1;  // 1 … 1024; kDrawn and kGuests: 1
    IdleSource& idle_source;
    std::uint64_t seed = 1;  // of the order in which victims are looked at, or of kDrawn
    Order order = Order::kAsWoken;
    // Sent to a worker's thread whose dispatch is to be interrupted; 0: none is, and a dispatch has
    // to ask MustLook now and then.
    int signal = 0;
    Threads threads = Threads::kOwn;  // kGuests: not with kDrawn nor a signal
  };

  // Counts since Start; they may be a little behind while workers are busy.
  struct Counters {
    std::uint64_t dispatches = 0;
    std::uint64_t steals = 0;       // Runnables taken from another worker's queue
    std::uint64_t next_steals = 0;  // … from another worker's `next` slot
    std::uint64_t parks = 0;        // sleeps, without those that were called off
    std::uint64_t wakes = 0;        // of parked workers
    std::uint64_t ticks = 0;
    std::uint64_t rests = 0;    // calls of OnQuiescent
    std::uint64_t threads = 0;  // started
  };

  explicit Scheduler(const Options& options);
  // REQUIRES: not started, or Stop has returned true. (If it never does, keep the Scheduler for
  // ever: its threads still use it.)
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Starts a thread for each seat and the tick thread. kNoThread or kNoMemory if not all could be
  // had; those that were started have ended again, and Start may be tried once more. All members
  // below but Stop and CurrentWorker REQUIRE that it has returned kOk.
  Status Start();

  // Lets the workers finish their current Run and ends all threads. Returns true when all have been
  // joined, false if some have not ended by `deadline` (real time): they are inside Run, or blocked
  // without a seat. Then it may be called again. When the last worker has ended, those who wait in
  // AwaitSeat get kClosed. A stopped scheduler stays stopped, and Ready only queues.
  // REQUIRES: not on one of its own threads; one caller at a time.
  bool Stop(TimePoint deadline = kNever);

  // After Stop has returned true: what was ready and has not run, one at a time; nullptr at the
  // end.
  Runnable* TakeLeftover();

  // See Drive::Run. Any thread but one that has a seat in another scheduler. REQUIRES:
  // Threads::kGuests.
  RunEnd Run(const RunBounds& bounds);

  // --- Making things ready. `runnable` may run before the call returns. -------------------------

  // Something that was waiting and has been woken. On a worker: it runs next there (what was to run
  // next goes to the tail), as what it waited for is in the cache. It does not wake another worker:
  // this one is about to take it; if it is not, the tick thread sends another after 2.5 to 5 ms.
  // Elsewhere: to the inject queue.
  void Ready(Runnable& runnable);

  // Something new: to the tail of this worker's queue, elsewhere to the inject queue. A parked
  // worker is woken if none is searching.
  void ReadyTail(Runnable& runnable);

  // What runs now and will return from Run after this: to the tail of this worker's queue. As
  // ReadyTail, but no worker is woken if nothing else stands there: this one takes it.
  void ReadyAgain(Runnable& runnable);

  // --- Seats ------------------------------------------------------------------------------------

  // The index of the seat which the calling thread holds in this scheduler; -1 if none.
  [[nodiscard]] int CurrentWorker() const;

  // Whether the calling thread has a seat. One that takes long in a C function may have lost it:
  // the tick thread had it given to another, since others waited. (If nobody sits there yet, it is
  // taken back.) Without, it goes on as after LeaveSeat. REQUIRES: inside Run.
  [[nodiscard]] bool HoldsSeat();
  // What the signal handler does to a thread in a long C function. REQUIRES: inside Run, not
  // pinned.
  void AbandonSeat();

  // Gives the calling worker's seat to a spare thread, which is started if there is none; kOk also
  // if it has lost it already. Until
  // AwaitSeat the thread may block but not run Lua; till then it counts as one that will come back
  // by itself, so OnQuiescent is not called. kNoThread (always, with kGuests), kNoMemory: nothing
  // has changed.
  // REQUIRES: inside Run.
  Status LeaveSeat();

  // Waits without a seat till HandSeat gives one, also one given before. Then kOk: inside Run, with
  // a seat, perhaps another one. kClosed: the scheduler has been stopped, and the last seat has
  // gone. No dispatch goes on but those of such threads, each of which may unwind what is on its
  // stack. REQUIRES: inside Run, after LeaveSeat. One ticket for each blocked thread and wait.
  Status AwaitSeat(SeatTicket& ticket);

  // Gives the calling worker's seat to the thread of `ticket`, which may not yet have come to
  // AwaitSeat. The calling thread becomes a spare when Run returns. REQUIRES: inside Run, with a
  // seat; once for each ticket.
  void HandSeat(SeatTicket& ticket);

  // --- Interrupts: see interrupt.h and ticker.h -------------------------------------------------

  // Something has been asked of a Runnable that may be running: within two ticks, sections that
  // last are interrupted. Any thread.
  void Interrupt();
  // Without a signal: whether the present dispatch is to be interrupted. On a worker, in Run.
  [[nodiscard]] bool MustLook() const;
  // It has been. On a worker, in Run.
  void HasLooked();

  // --- What happens outside ---------------------------------------------------------------------

  // A thread without a seat has armed a timer: the timekeeper must not oversleep it. A worker need
  // not say so: it looks at the deadlines itself before it parks, and the tick thread does before.
  void DeadlineArmed(TimePoint deadline);

  // A thread without a seat has ended something that counted in IdleSource::Armed(). If rest was
  // suppressed by it, OnQuiescent is called now.
  void ArmedEnded();

  // A foreign thread has changed what OnQuiescent looks at: say, it begins an untimed wait. If
  // everything is at rest, or as soon as it is, OnQuiescent is called, though nothing may have run.
  void ReconsiderRest();

  [[nodiscard]] Counters counters() const;
  // A clock that goes while any worker is busy, in steps of a tick (2.5 ms or more): to sample how
  // long something runs, for next to nothing. Any thread.
  [[nodiscard]] Duration busy_time() const;

 private:
  const Options options_;
  std::unique_ptr<SchedulerParts> parts_;
};

}  // namespace shoal::core
