// SPDX-License-Identifier: MIT
#include "runtime/sched/seats.h"

#include <unistd.h>

#include <chrono>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/futex.h"
#include "runtime/base/test_point.h"
#include "runtime/base/thread_start.h"

namespace shoal::core {

constinit thread_local WorkerThread* WorkerThread::current_ = nullptr;

// Guests ------------------------------------------------------------------------------------------

GuestThread::GuestThread(Seats& seats, Worker& seat)
    : thread_(seats, 0, &seat),
      seat_(seat),
      outer_(WorkerThread::current_),
      outer_kind_(RuntimeThread::Exchange(RuntimeThread::Kind::kRuntime)) {
  WorkerThread::current_ = &thread_;
}

GuestThread::~GuestThread() {
  WorkerThread::current_ = outer_;
  RuntimeThread::Exchange(outer_kind_);
  seat_.parker = nullptr;
}

Seats::~Seats() { SHOAL_CHECK(alive_.load() == 0); }

// The life of a thread ----------------------------------------------------------------------------

Status Seats::StartThread(Worker* seat) {
  const auto number = static_cast<int>(started_.load(std::memory_order_relaxed));
  std::unique_ptr<WorkerThread> thread(new (std::nothrow) WorkerThread(*this, number, seat));
  if (thread == nullptr) return Status::kNoMemory;
  alive_.fetch_add(1);
  pthread_t handle;
  const Status status = core::StartThread(&Seats::Main, thread.get(), &handle, signal_);
  if (status != Status::kOk) {
    alive_.fetch_sub(1);
    return status;
  }
  started_.fetch_add(1, std::memory_order_relaxed);
  static_cast<void>(thread.release());  // joined and deleted by JoinEnded
  return Status::kOk;
}

void* Seats::Main(void* argument) {
  WorkerThread& thread = *static_cast<WorkerThread*>(argument);
  Seats& seats = thread.seats_;
  WorkerThread::current_ = &thread;
  RuntimeThread::Exchange(RuntimeThread::Kind::kRuntime);
  thread.handle_ = pthread_self();
  thread.id_ = gettid();
  if (thread.seat_ != nullptr) thread.TakeSeat(thread.seat_);
  NameThread("w", thread.number_);
  do {
    seats.loop_->Work(thread);
  } while (thread.seat_ == nullptr && seats.FindSeat(thread) == Became::kSeated);
  if (thread.seat_ != nullptr) seats.EndSeat();
  // Those that ended before this one; the last is joined by Stop.
  seats.JoinEnded();
  WorkerThread::current_ = nullptr;
  {
    MutexLock lock(seats.mu_);
    seats.ended_.PushBack(thread);
  }
  // From here on, another thread may join this one; `seats` stays until it has.
  if (seats.alive_.fetch_sub(1) == 1) FutexWake(seats.alive_, 1);
  return nullptr;
}

Seats::Became Seats::FindSeat(WorkerThread& thread) {
  if (Holds(thread)) {
    // What it was in when it gave the seat up has ended.
    thread.seat_->EndDispatch();
    return Became::kSeated;
  }
  return BecomeSpare(thread);
}

Seats::Became Seats::BecomeSpare(WorkerThread& thread) {
  {
    MutexLock lock(mu_);
    if (!closed_ && (spares_ < max_spare_ || handover_ == Handover::kStrict)) {
      spare_.PushFront(thread);
      ++spares_;
    }
  }
  ComeBack(thread);
  for (;;) {
    {
      MutexLock lock(mu_);
      if (!thread.linked()) return thread.seat_ != nullptr ? Became::kSeated : Became::kEnded;
    }
    thread.parker_.Park();
  }
}

void Seats::JoinEnded() {
  for (;;) {
    std::unique_ptr<WorkerThread> thread;
    {
      MutexLock lock(mu_);
      thread.reset(ended_.PopFront());
    }
    if (thread == nullptr) return;
    pthread_join(thread->handle_, nullptr);
  }
}

// Seats -------------------------------------------------------------------------------------------

Status Seats::Open(Worker& seat, Loop& loop) {
  // Threads of earlier seats read it already.
  if (loop_ == nullptr) loop_ = &loop;
  seats_left_.fetch_add(1);
  const Status status = StartThread(&seat);
  if (status != Status::kOk) EndSeat();
  return status;
}

Status Seats::Leave(WorkerThread& thread) {
  Worker& seat = *thread.seat_;
  // Before the seat can come to rest.
  rest_.GoOutside();
  thread.outside_ = true;
  seat.EndDispatch();
  // 1 A spare thread …
  Wakeup wakeup;
  bool found = false;
  bool closed;
  {
    MutexLock lock(mu_);
    closed = closed_;
    if (WorkerThread* spare = spare_.PopFront()) {
      --spares_;
      spare->TakeSeat(&seat);
      wakeup = spare->parker_.Post();
      found = true;
    }
  }
  wakeup.Send();
  // 2 … or a new one; at the end, nobody is to sit there any more.
  Status status = Status::kOk;
  if (!found && !closed) status = StartThread(&seat);
  if (status == Status::kOk) {
    thread.seat_ = nullptr;
    if (!found && closed) EndSeat();
    return Status::kOk;
  }
  // 3 Neither: as it was.
  thread.TakeSeat(&seat);
  seat.BeginDispatch();
  thread.outside_ = false;
  rest_.StayInside();
  return status;
}

Status Seats::Await(WorkerThread& thread, SeatTicket& ticket) {
  {
    MutexLock lock(mu_);
    if (seats_left_.load() != 0 && ticket.seat_ == nullptr) waiting_.PushBack(ticket);
  }
  SHOAL_TEST_POINT("seats.waiting");
  ComeBack(thread);
  for (;;) {
    {
      MutexLock lock(mu_);
      if (ticket.seat_ != nullptr) {
        thread.TakeSeat(ticket.seat_);
        break;
      }
      if (!ticket.linked()) break;
    }
    ticket.parker_.Park();
  }
  if (thread.seat_ != nullptr) {
    AwaitOthers();
    return Status::kOk;
  }
  rest_.GoOutside();
  thread.outside_ = true;
  return Status::kClosed;
}

void Seats::Hand(WorkerThread& thread, SeatTicket& ticket) {
  Worker& seat = *thread.seat_;
  // This thread is still inside Run, and may make things ready.
  rest_.GoOutside();
  thread.outside_ = true;
  thread.seat_ = nullptr;
  // For the seat, one dispatch ends and another goes on.
  seat.EndDispatch();
  seat.BeginDispatch();
  Wakeup wakeup;
  {
    MutexLock lock(mu_);
    SHOAL_CHECK(ticket.seat_ == nullptr);
    ticket.seat_ = &seat;
    if (ticket.linked()) ticket.Unlink();
    // After the lock is released, the ticket may be gone.
    wakeup = ticket.parker_.Post();
  }
  SHOAL_TEST_POINT("seats.handed");
  wakeup.Send();
}

// Seats given up in a handler ---------------------------------------------------------------------

SHOAL_IN_SIGNAL_HANDLER void WorkerThread::OnSignal() {
  // What is not taken is sent again.
  if (seat_ == nullptr || Pin::IsHeld()) return;
  Interruptible* const target = InterruptSection::Current();
  if (target == nullptr) return;
  const Worker::Request request = seat_->request();
  if (request == Worker::Request::kNone) return;
  target->OnInterrupt();
  seat_->SetTaken(request);
#ifndef SHOAL_THREAD_SANITIZER
  // The sanitizer would not see that this hands over what the seat guards.
  if (request == Worker::Request::kLeave) seats_.Abandon(*this);
#endif
}

void Seats::Abandon(WorkerThread& thread) {
  Worker& seat = *thread.seat_;
  // Before anybody can get the seat: as in Leave.
  rest_.GoOutside();
  thread.outside_ = true;
  thread.abandoned_ = &seat;
  thread.seat_ = nullptr;
  seat.SetAbandoned();
}

bool Seats::Reclaim(WorkerThread& thread) {
  Worker& seat = *std::exchange(thread.abandoned_, nullptr);
  // Perhaps another thread has been there meanwhile, and has given it up as well: just as good.
  if (!seat.TakeAbandoned()) return false;
  thread.TakeSeat(&seat);
  // Of one that goes on, something may be asked again.
  seat.EndDispatch();
  seat.BeginDispatch();
  thread.outside_ = false;
  rest_.StayInside();
  return true;
}

void Seats::Refill(Worker& seat) {
  if (!seat.TakeAbandoned()) return;
  seat.EndDispatch();
  Wakeup wakeup;
  bool found = false;
  {
    MutexLock lock(mu_);
    if (WorkerThread* spare = spare_.PopFront()) {
      --spares_;
      spare->TakeSeat(&seat);
      wakeup = spare->parker_.Post();
      found = true;
    }
  }
  wakeup.Send();
  // No thread can be had: at the next tick, perhaps.
  if (!found && StartThread(&seat) != Status::kOk) seat.SetAbandoned();
}

bool Seats::HasSpare() {
  {
    MutexLock lock(mu_);
    if (!spare_.empty()) return true;
    if (closed_) return false;
  }
  // It will be there at the next tick.
  static_cast<void>(StartThread(nullptr));
  return false;
}

void Seats::ComeBack(WorkerThread& thread) {
  if (!thread.outside_) return;
  thread.outside_ = false;
  rest_.ComeBack();
}

// The end -----------------------------------------------------------------------------------------

void Seats::Close() {
  for (;;) {
    Wakeup wakeup;
    {
      MutexLock lock(mu_);
      closed_ = true;
      WorkerThread* spare = spare_.PopFront();
      if (spare == nullptr) return;
      --spares_;
      wakeup = spare->parker_.Post();
    }
    wakeup.Send();
  }
}

void Seats::EndSeat() {
  // Only who has a seat hands one over. So when the last is gone, no ticket is touched any more,
  // and those who wait can be told.
  if (seats_left_.fetch_sub(1) != 1) return;
  for (;;) {
    Wakeup wakeup;
    {
      MutexLock lock(mu_);
      SeatTicket* ticket = waiting_.PopFront();
      if (ticket == nullptr) return;
      wakeup = ticket->parker_.Post();
    }
    wakeup.Send();
  }
}

bool Seats::JoinAll(TimePoint deadline) {
  for (;;) {
    const std::uint32_t alive = alive_.load();
    if (alive == 0) break;
    if (deadline != kNever && std::chrono::steady_clock::now() >= deadline) return false;
    FutexWait(alive_, alive, deadline);
  }
  JoinEnded();
  return true;
}

}  // namespace shoal::core
