// SPDX-License-Identifier: MIT
#include "runtime/sched/drive.h"

#include "runtime/base/futex.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

namespace {
// Of the system, whatever clock the timers have.
TimePoint RealTime() { return std::chrono::steady_clock::now(); }
}  // namespace

RunEnd Drive::Run(const RunBounds& bounds) {
  if (taken_.exchange(1) != 0) return RunEnd::kBusy;
  bounds_ = bounds;
  RunEnd end = RunEnd::kClosed;
  {
    Worker& worker = queues_.worker(0);
    const GuestThread guest(seats_, worker);
    end = Work(worker);
  }
  SHOAL_TEST_POINT("drive.leaves");
  taken_.store(0);
  // Pairs with Stop: it sees the seat free, or is seen.
  if (stop_.load()) FutexWake(taken_, 1);
  return end;
}

RunEnd Drive::Work(Worker& worker) {
  for (;;) {
    // 1 The end; and timers of this worker.
    if (stop_.load()) return RunEnd::kClosed;
    if (bounds_.HasChanged()) return RunEnd::kChanged;
    source_.Turn(worker.index());
    // 2 Something to run.
    if (Runnable* const runnable = Take(worker)) {
      worker.BeginDispatch();
      runnable->Run();
      worker.EndDispatch();
      const TimePoint now = RealTime();
      if (now >= next_tick_) Tick(now);
      if (now < bounds_.deadline) continue;
      return Settle(worker) ? RunEnd::kNothing : RunEnd::kTimeIsUp;
    }
    // 3 Nothing.
    if (!Settle(worker)) continue;
    if (bounds_.when_idle == WhenIdle::kReturn || RealTime() >= bounds_.deadline) {
      return RunEnd::kNothing;
    }
    Sleep(worker);
  }
}

Runnable* Drive::Take(Worker& worker) {
  Runnable* const runnable = queues_.TakeLocal(worker);
  if (runnable != nullptr) return runnable;
  // Timers that others have armed, and what has become ready outside.
  Tick(RealTime());
  return queues_.TakeLocal(worker);
}

bool Drive::Settle(Worker& worker) {
  const std::uint32_t epoch = idle_.activity().epoch;
  return rest_.Check(worker, epoch, &settled_rest_) == Rest::Outcome::kSettled &&
         !rest_.HasChanged(settled_rest_);
}

void Drive::Sleep(Worker& worker) {
  // 1 From here on, who makes something ready, or looks whether all is at rest, wakes it.
  std::uint32_t epoch = idle_.activity().epoch;
  if (idle_.Register(worker, Idle::Searching::kNo, epoch, &epoch) != Idle::Parking::kParked) return;
  SHOAL_TEST_POINT("drive.registered");
  // 2 What came before has to be seen by itself.
  if (queues_.AnyStands() || rest_.HasChanged(settled_rest_) || bounds_.HasChanged() ||
      stop_.load()) {
    idle_.Unregister(worker);
  } else {
    worker.parks.Add();
    if (idle_.Sleep(worker, bounds_.deadline)) source_.Poll();
  }
  // 3 Whoever wakes it counts it as searching, and so does Unregister. It looks at the queues next.
  static_cast<void>(idle_.EndSearch());
}

void Drive::Tick(TimePoint now) {
  next_tick_ = now + kPeriod;
  // What fires here counted as armed until just now, so rest may have been suppressed by it.
  source_.Poll();
  if (queues_.InjectStands()) queues_.NoteInject();
}

bool Drive::OthersWait(const Worker& worker) const {
  return queues_.AnyStands() || worker.next() != nullptr;
}

bool Drive::MustLook() {
  Worker& worker = queues_.worker(0);
  const TimePoint now = RealTime();
  if (now >= next_tick_) Tick(now);
  if (to_look_.exchange(false)) return true;
  if (now >= bounds_.deadline || stop_.load() || bounds_.HasChanged()) return true;
  if (worker.turn() != slice_turn_) {
    slice_turn_ = worker.turn();
    slice_end_ = now + kSlice;
    return false;
  }
  if (now < slice_end_) return false;
  // One that is alone goes on, but what is asked of it later is not put off by a whole slice.
  return OthersWait(worker);
}

bool Drive::Stop(TimePoint deadline) {
  stop_.store(true);
  source_.Interrupt();
  while (taken_.load() != 0) {
    if (deadline != kNever && RealTime() >= deadline) return false;
    FutexWait(taken_, 1, deadline);
  }
  return true;
}

}  // namespace shoal::core
