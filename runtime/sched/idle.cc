// SPDX-License-Identifier: MIT
#include "runtime/sched/idle.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

Idle::Idle(int workers, IdleSource& source)
    : workers_(workers),
      source_(source),
      state_(kOneActive * static_cast<std::uint64_t>(workers)) {}

Idle::Activity Idle::activity() const {
  const std::uint64_t state = state_.load();
  return {.active = ActiveIn(state), .epoch = static_cast<std::uint32_t>(state >> 32)};
}

bool Idle::HasTimekeeper() {
  MutexLock lock(mu_);
  return timekeeper_ != nullptr;
}

std::uint64_t Idle::wakes() const {
  MutexLock lock(mu_);
  return wakes_;
}

// Waking ------------------------------------------------------------------------------------------

void Idle::WakeOne() {
  Wake wake;
  {
    MutexLock lock(mu_);
    // Somebody may have been woken meanwhile; it searches, and finds what this thread has pushed.
    if (!NobodyLooks(state_.load()) || parked_.empty()) return;
    wake = TakeParked();
  }
  SHOAL_TEST_POINT("idle.woken");
  Send(wake);
}

Idle::Wake Idle::TakeParked() {
  Worker& worker = parked_.front();
  BecomeActive(worker);
  ++wakes_;
  // The timekeeper sleeps elsewhere. The token is posted under the lock: after it, the worker may
  // find by itself that it is active, and its thread may end.
  if (&worker == timekeeper_) return {.wakeup = {}, .interrupt = true};
  return {.wakeup = worker.parker->Post(), .interrupt = false};
}

void Idle::Send(Wake& wake) {
  wake.wakeup.Send();
  if (wake.interrupt) source_.Interrupt();
}

void Idle::BecomeActive(Worker& worker) {
  worker.Unlink();
  state_.fetch_add(kOneActive + kOneSearching + kOneEpoch);
}

void Idle::Stop() {
  for (;;) {
    Wake wake;
    {
      MutexLock lock(mu_);
      stopped_ = true;
      if (parked_.empty()) return;
      wake = TakeParked();
    }
    Send(wake);
  }
}

// Searching ---------------------------------------------------------------------------------------

bool Idle::BeginSearch() {
  // At most half of the workers: more would only get in each other's way.
  const auto limit = static_cast<std::uint32_t>(workers_ + 1) / 2;
  if (SearchingIn(state_.load()) >= limit) return false;
  state_.fetch_add(kOneSearching);
  return true;
}

bool Idle::EndSearch() { return SearchingIn(state_.fetch_sub(kOneSearching)) == 1; }

// Parking -----------------------------------------------------------------------------------------

Idle::Parking Idle::Register(Worker& worker, Searching searching, std::uint64_t settled_epoch,
                             std::uint32_t* epoch) {
  MutexLock lock(mu_);
  if (stopped_) return Parking::kStopped;
  const Activity now = activity();
  *epoch = now.epoch;
  if (now.active == 1 && now.epoch != settled_epoch) return Parking::kLast;
  if (timekeeper_ == nullptr) {
    timekeeper_ = &worker;
    parked_.PushBack(worker);
  } else {
    parked_.PushFront(worker);
  }
  state_.fetch_sub(kOneActive + (searching == Searching::kYes ? kOneSearching : 0));
  return Parking::kParked;
}

bool Idle::Sleep(Worker& worker, TimePoint latest) {
  SHOAL_TEST_POINT("idle.before_sleep");
  if (IsTimekeeper(worker)) {
    SleepAsTimekeeper(latest);
    Unregister(worker);
    return true;
  }
  // What this worker has armed may be due before the timekeeper comes back.
  DeadlineArmed(source_.NextDeadline());
  // A token may be left from a wake that the worker had noticed before.
  while (IsParked(worker)) worker.parker->Park();
  return false;
}

void Idle::SleepAsTimekeeper(TimePoint latest) {
  TimePoint deadline = std::min(source_.NextDeadline(), latest);
  for (;;) {
    // Say it, then look again: who arms an earlier timer now either is seen here or sees this.
    sleeps_until_.store(deadline.time_since_epoch().count());
    SHOAL_TEST_POINT("idle.deadline_said");
    const TimePoint again = source_.NextDeadline();
    if (again >= deadline) break;
    deadline = again;
  }
  source_.Sleep(deadline);
  sleeps_until_.store(kNobodySleeps);
}

void Idle::Unregister(Worker& worker) {
  MutexLock lock(mu_);
  if (timekeeper_ == &worker) timekeeper_ = nullptr;
  // Else somebody else has woken it, and has counted it.
  if (worker.linked()) BecomeActive(worker);
}

bool Idle::IsTimekeeper(const Worker& worker) {
  MutexLock lock(mu_);
  return timekeeper_ == &worker;
}

bool Idle::IsParked(const Worker& worker) {
  MutexLock lock(mu_);
  return worker.linked();
}

}  // namespace shoal::core
