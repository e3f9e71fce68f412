// SPDX-License-Identifier: MIT
#include "runtime/sched/scheduler.h"

#include <new>

#include "runtime/base/check.h"
#include "runtime/base/pin.h"
#include "runtime/sched/drive.h"
#include "runtime/sched/idle.h"
#include "runtime/sched/queues.h"
#include "runtime/sched/rest.h"
#include "runtime/sched/seats.h"
#include "runtime/sched/ticker.h"
#include "runtime/sched/work_loop.h"

namespace shoal::core {

namespace {
constexpr int kMaxWorkers = 1024;
}  // namespace

// The order is that of construction: each part knows only those above it.
struct SchedulerParts {
  SchedulerParts(int workers, IdleSource& source, int signal, Seats::Handover handover)
      : idle(workers, source),
        queues(idle),
        rest(idle, queues, source),
        seats(rest, workers, signal, handover),
        ticker(idle, queues, rest, source, seats, signal),
        loop(idle, queues, rest, ticker, source),
        drive(idle, queues, rest, source, seats) {}

  Idle idle;
  Queues queues;
  Rest rest;
  Seats seats;
  Ticker ticker;
  WorkLoop loop;
  Drive drive;  // kGuests: in place of the ticker and the loop
};

Scheduler::Scheduler(const Options& options) : options_(options) {
  SHOAL_CHECK(options.workers >= 1 && options.workers <= kMaxWorkers);
  SHOAL_CHECK(options.order == Order::kAsWoken || options.workers == 1);
  SHOAL_CHECK(options.threads == Threads::kOwn ||
              (options.workers == 1 && options.signal == 0 && options.order == Order::kAsWoken));
}

Scheduler::~Scheduler() = default;  // Seats checks that no thread is left

// Start and Stop ----------------------------------------------------------------------------------

Status Scheduler::Start() {
  SHOAL_CHECK(parts_ == nullptr);
  if (options_.signal != 0) {
    const Status installed = InstallInterruptHandler(options_.signal);
    if (installed != Status::kOk) return installed;
  }
  const bool drawn = options_.order == Order::kDrawn;
  parts_.reset(new (std::nothrow)
                   SchedulerParts(options_.workers, options_.idle_source, options_.signal,
                                  drawn ? Seats::Handover::kStrict : Seats::Handover::kEarly));
  if (parts_ == nullptr) return Status::kNoMemory;
  Status status = parts_->queues.Init(options_.workers, options_.seed);
  if (drawn && status == Status::kOk) status = parts_->queues.DrawBy(options_.seed);
  if (status == Status::kOk && options_.threads == Threads::kGuests) return status;
  // What it would look after comes by itself in the simulator: see Order.
  if (!drawn && status == Status::kOk) status = parts_->ticker.Start();
  for (int i = 0; status == Status::kOk && i < options_.workers; ++i) {
    status = parts_->seats.Open(parts_->queues.worker(i), parts_->loop);
  }
  if (status != Status::kOk) {
    Stop();
    parts_.reset();
  }
  return status;
}

bool Scheduler::Stop(TimePoint deadline) {
  if (parts_ == nullptr) return true;
  // 1 Nobody looks after the workers any more, so no timer fires on a thread that is no worker.
  parts_->ticker.Stop();
  // 2 Workers end after their present Run. Spare threads end, and no new ones are kept.
  parts_->loop.Stop();
  parts_->seats.Close();
  for (int i = 0; i < parts_->queues.size(); ++i) {
    parts_->seats.EndAbandoned(parts_->queues.worker(i));
  }
  // 3 Parked workers wake and find that; nobody parks any more.
  parts_->idle.Stop();
  if (options_.threads == Threads::kGuests) return parts_->drive.Stop(deadline);
  // 4 With the last seat, AwaitSeat returns to those who wait in it; they leave Run and end.
  return parts_->seats.JoinAll(deadline);
}

Runnable* Scheduler::TakeLeftover() {
  return parts_ == nullptr ? nullptr : parts_->queues.TakeLeftover();
}

RunEnd Scheduler::Run(const RunBounds& bounds) {
  SHOAL_CHECK(options_.threads == Threads::kGuests);
  return parts_ == nullptr ? RunEnd::kClosed : parts_->drive.Run(bounds);
}

// Making things ready -----------------------------------------------------------------------------

namespace {
// The seat of the calling thread in the scheduler with these `seats`; nullptr if none.
inline Worker* SeatHere(const Seats& seats) {
  const WorkerThread* thread = WorkerThread::Current();
  return thread != nullptr && thread->seats() == &seats ? thread->seat() : nullptr;
}

// REQUIRES: a thread of the scheduler.
WorkerThread& ThreadHere(const Seats& seats) {
  WorkerThread* thread = WorkerThread::Current();
  SHOAL_CHECK(thread != nullptr && thread->seats() == &seats);
  return *thread;
}
}  // namespace

void Scheduler::Ready(Runnable& runnable) {
  const Pin pin;
  Worker* worker = SeatHere(parts_->seats);
  if (worker == nullptr) return parts_->queues.Inject(runnable);
  parts_->queues.PutNext(*worker, runnable);
}

void Scheduler::ReadyTail(Runnable& runnable) {
  const Pin pin;
  Worker* worker = SeatHere(parts_->seats);
  if (worker == nullptr) return parts_->queues.Inject(runnable);
  parts_->queues.PutTail(*worker, runnable);
}

void Scheduler::ReadyAgain(Runnable& runnable) {
  const Pin pin;
  Worker* worker = SeatHere(parts_->seats);
  if (worker == nullptr) return parts_->queues.Inject(runnable);
  parts_->queues.PutAgain(*worker, runnable);
}

// Seats -------------------------------------------------------------------------------------------

int Scheduler::CurrentWorker() const {
  const Worker* worker = parts_ == nullptr ? nullptr : SeatHere(parts_->seats);
  return worker == nullptr ? -1 : worker->index();
}

Status Scheduler::LeaveSeat() {
  const Pin pin;
  WorkerThread& thread = ThreadHere(parts_->seats);
  if (options_.threads == Threads::kGuests) return Status::kNoThread;
  return parts_->seats.Holds(thread) ? parts_->seats.Leave(thread) : Status::kOk;
}

bool Scheduler::HoldsSeat() {
  const Pin pin;
  return parts_->seats.Holds(ThreadHere(parts_->seats));
}

void Scheduler::AbandonSeat() {
  WorkerThread& thread = ThreadHere(parts_->seats);
  if (thread.seat() != nullptr) parts_->seats.Abandon(thread);
}

// Interrupts --------------------------------------------------------------------------------------

void Scheduler::Interrupt() {
  if (options_.threads == Threads::kGuests) return parts_->drive.Interrupt();
  parts_->ticker.Interrupt();
}

bool Scheduler::MustLook() const {
  const Worker* worker = SeatHere(parts_->seats);
  if (worker != nullptr && options_.threads == Threads::kGuests) return parts_->drive.MustLook();
  return worker == nullptr || worker->request() != Worker::Request::kNone;
}

void Scheduler::HasLooked() {
  const Pin pin;
  Worker* worker = SeatHere(parts_->seats);
  if (worker == nullptr) return;
  worker->Answer();
  if (options_.threads == Threads::kGuests) parts_->drive.HasLooked();
}

Status Scheduler::AwaitSeat(SeatTicket& ticket) {
  WorkerThread& thread = ThreadHere(parts_->seats);
  SHOAL_CHECK(thread.seat() == nullptr);
  return parts_->seats.Await(thread, ticket);
}

void Scheduler::HandSeat(SeatTicket& ticket) {
  WorkerThread& thread = ThreadHere(parts_->seats);
  SHOAL_CHECK(thread.seat() != nullptr);
  parts_->seats.Hand(thread, ticket);
}

// What happens outside ----------------------------------------------------------------------------

void Scheduler::DeadlineArmed(TimePoint deadline) { parts_->idle.DeadlineArmed(deadline); }

void Scheduler::ArmedEnded() { parts_->rest.ArmedEnded(); }

void Scheduler::ReconsiderRest() { parts_->rest.Reconsider(); }

Duration Scheduler::busy_time() const { return parts_->ticker.busy_time(); }

Scheduler::Counters Scheduler::counters() const {
  Counters sum;
  if (parts_ == nullptr) return sum;
  for (int i = 0; i < parts_->queues.size(); ++i) {
    const Worker& worker = parts_->queues.worker(i);
    sum.dispatches += worker.dispatches();
    sum.steals += worker.steals.value();
    sum.next_steals += worker.next_steals.value();
    sum.parks += worker.parks.value();
  }
  sum.wakes = parts_->idle.wakes();
  sum.ticks = parts_->ticker.ticks();
  sum.rests = parts_->rest.rests();
  sum.threads = parts_->seats.started();
  return sum;
}

}  // namespace shoal::core
