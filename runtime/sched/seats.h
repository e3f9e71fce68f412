// SPDX-License-Identifier: MIT
// Seats are the threads of a scheduler: who sits on a worker, who is spare, who is blocked.
//
//   state    its Worker   what it does             left by
//   seated   seat()       works                    LeaveSeat, HandSeat; the end
//   outside  none         may block, runs no Lua   AwaitSeat → waiting; the end of Run → spare
//   robbed   none         is in a long C call      Holds → seated or outside
//   waiting  none         sleeps in AwaitSeat      HandSeat → seated; no seats left → outside
//   spare    none         sleeps                   LeaveSeat of another → seated; Stop → ended
//   ended    none         –                        joined by another thread, or by Stop
//
// A seat that was handed over and has not been taken yet stands in the ticket; its worker is active
// all the time.
//
// Threads: as said at each member.
// Locks:   mu_ (kIdle). Threads are woken, started and joined without it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/base/status.h"
#include "runtime/sched/parker.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/seat_ticket.h"
#include "runtime/sched/worker.h"

namespace shoal::core {

class Seats;
struct ThreadTag {};

// One thread of a scheduler. In the list of the spare ones or of those that have ended, or in none.
class WorkerThread : public ListLink<ThreadTag> {
 public:
  WorkerThread(Seats& seats, int number, Worker* seat) : seats_(seats), number_(number) {
    TakeSeat(seat);
  }

  // The calling thread, if it is one of a scheduler.
  [[nodiscard]] SHOAL_IN_SIGNAL_HANDLER static WorkerThread* Current() { return current_; }

  [[nodiscard]] const Seats* seats() const { return &seats_; }
  // The thread itself; others only while it is spare, under Seats::mu_.
  [[nodiscard]] Worker* seat() const { return seat_; }

  // The thread itself, in a signal handler: does what the tick thread has asked for, if the code
  // that was interrupted can be.
  SHOAL_IN_SIGNAL_HANDLER void OnSignal();

 private:
  friend class Seats;
  friend class GuestThread;

  void TakeSeat(Worker* seat) {
    seat_ = seat;
    if (seat == nullptr) return;
    seat->parker = &parker_;
    seat->SetThread(id_);
  }

  static constinit thread_local WorkerThread* current_;

  Seats& seats_;
  const int number_;
  pthread_t handle_{};  // set by the thread itself, as is
  int id_ = 0;          // … the system's number for it
  // Both are changed while the thread is pinned, or by its own signal handler.
  Worker* seat_ = nullptr;
  Worker* abandoned_ = nullptr;  // the seat that it gave up in a handler and may take back
  bool outside_ = false;         // counted in Rest
  Parker parker_;
};

class Seats {
 public:
  // What a thread does while it has a seat.
  class Loop {
   public:
    // The thread. Returns when it has lost its seat or the scheduler stops.
    virtual void Work(WorkerThread& thread) = 0;

   protected:
    ~Loop() = default;
  };

  // How a seat changes its thread. kEarly: at once, and the old thread goes on beside it. kStrict:
  // the new thread begins when the old one has come to its wait, so one of them at a time does
  // something, and which thread is spare, and where its stack is, does not depend on chance.
  enum class Handover : bool { kEarly, kStrict };

  // Keeps at most `max_spare` spare threads; kStrict: all of them. `signal` is not blocked on the
  // threads; 0: none.
  Seats(Rest& rest, int max_spare, int signal, Handover handover = Handover::kEarly)
      : rest_(rest), max_spare_(max_spare), signal_(signal), handover_(handover) {}
  // REQUIRES: no threads.
  ~Seats();
  Seats(const Seats&) = delete;
  Seats& operator=(const Seats&) = delete;

  // Before Close, one thread. Starts a first thread on `seat`; all threads do what `loop` does.
  // kNoThread, kNoMemory.
  Status Open(Worker& seat, Loop& loop);

  // The thread, with a seat that it may have got just now: kStrict, waits for the old thread.
  void AwaitOthers() const {
    if (handover_ == Handover::kStrict) rest_.AwaitNobodyOutside();
  }

  // The calling thread's own; see Scheduler.
  Status Leave(WorkerThread& thread);
  Status Await(WorkerThread& thread, SeatTicket& ticket);
  void Hand(WorkerThread& thread, SeatTicket& ticket);
  // Whether it has a seat; one that it has given up in a signal handler and that nobody has got yet
  // is taken back. REQUIRES: inside Run.
  [[nodiscard]] bool Holds(WorkerThread& thread) {
    return thread.seat_ != nullptr || (thread.abandoned_ != nullptr && Reclaim(thread));
  }
  // The calling thread, inside Run and not pinned: gives up the seat without a lock or a system
  // call, for it may be in a signal handler. The tick thread finds it.
  void Abandon(WorkerThread& thread);

  // --- The tick thread.
  // If the seat has been abandoned, puts a thread there, now or at the next call.
  void Refill(Worker& seat);
  // Whether a spare thread is there; starts one if not.
  [[nodiscard]] bool HasSpare();

  // Any thread, when the loop ends by itself: no thread becomes spare any more. When the last
  // thread with a seat has ended, those who wait for a seat are told.
  void Close();
  // After the tick thread has ended: nobody will sit on an abandoned seat any more.
  void EndAbandoned(Worker& seat) {
    if (seat.TakeAbandoned()) EndSeat();
  }
  // After Close. Waits till all threads have ended, and joins them. False at the deadline.
  bool JoinAll(TimePoint deadline);

  [[nodiscard]] std::uint64_t started() const { return started_.load(std::memory_order_relaxed); }

 private:
  enum class Became : bool { kSeated, kEnded };

  static void* Main(void* thread);
  Status StartThread(Worker* seat);  // nullptr: a spare one
  bool Reclaim(WorkerThread& thread);
  // A seat on which nobody is to sit any more.
  void EndSeat();
  // The thread, without a seat: takes back the one it gave up, or waits for one.
  Became FindSeat(WorkerThread& thread);
  Became BecomeSpare(WorkerThread& thread);
  // Takes what the thread was in Rest's count of those outside.
  void ComeBack(WorkerThread& thread);
  void JoinEnded();

  Rest& rest_;
  Loop* loop_ = nullptr;  // set before the first thread is started
  const int max_spare_;
  const int signal_;
  const Handover handover_;

  // Threads that have not ended; a futex for JoinAll. The release in the last decrement publishes
  // all that the thread has done.
  std::atomic<std::uint32_t> alive_{0};
  std::atomic<std::uint64_t> started_{0};  // publishes nothing
  // Seats that have a thread or stand in a ticket. 0: the end; seq_cst: who comes to wait under mu_
  // sees it, or is seen waiting.
  std::atomic<int> seats_left_{0};

  Mutex mu_{LockRank::kIdle};
  bool closed_ SHOAL_GUARDED_BY(mu_) = false;
  int spares_ SHOAL_GUARDED_BY(mu_) = 0;
  List<WorkerThread, ThreadTag> spare_ SHOAL_GUARDED_BY(mu_);
  List<WorkerThread, ThreadTag> ended_ SHOAL_GUARDED_BY(mu_);
  List<SeatTicket, TicketTag> waiting_ SHOAL_GUARDED_BY(mu_);
};

// The calling thread, which somebody else has made, counts as one of the scheduler's as long as
// this lives. It sits on `seat` all the time.
class GuestThread {
 public:
  GuestThread(Seats& seats, Worker& seat);
  ~GuestThread();
  GuestThread(const GuestThread&) = delete;
  GuestThread& operator=(const GuestThread&) = delete;

 private:
  WorkerThread thread_;
  Worker& seat_;
  // What it is else: it may be a thread of another scheduler, which has given away its seat there.
  WorkerThread* const outer_;
  const RuntimeThread::Kind outer_kind_;
};

}  // namespace shoal::core
