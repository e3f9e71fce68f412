// SPDX-License-Identifier: MIT
// How processes and tasks are cancelled, and the script's body is interrupted. A request comes in
// through the completions, so that a process that waits takes it in at once, one that is ready when
// it runs, and one that runs when its turn is over.
#include <algorithm>
#include <new>
#include <utility>

#include "runtime/process/cleanup_alarm.h"
#include "runtime/process/process.h"

namespace shoal::core {

void Process::Cancel(Duration cleanup_time) { AskToEnd(cleanup_time, Ref<Failure>()); }

void Process::EndLinked(const Ref<Failure>& failure) { AskToEnd(kCleanupTime, failure); }

void Process::AskToEnd(Duration cleanup_time, Ref<Failure> failure) {
  const TimePoint deadline = DeadlineAfter(machine_.clock.Now(), cleanup_time);
  if (!end_request_.Ask(deadline, std::move(failure))) return;
  // After a Push that returned false, the process may run, end and be freed at any time, but for
  // the caller's reference.
  if (completions_.Push(cancel_request_)) {
    MakeReady();
  } else {
    // It may be in a loop that never waits.
    machine_.scheduler.Interrupt();
  }
}

void Process::CancelSelf(Duration cleanup_time) {
  const TimePoint deadline = DeadlineAfter(machine_.clock.Now(), cleanup_time);
  // The request would be taken in when the turn is over; the caller is to meet it at its next wait.
  if (end_request_.Ask(deadline)) static_cast<void>(completions_.Push(cancel_request_));
  BeginCancel(deadline);
}

void Process::BeginCancel(TimePoint cleanup_deadline) {
  cancelled_ = true;
  cleanup_deadline_ = std::min(cleanup_deadline_, cleanup_deadline);
  // Ending a task that has not started unlinks it: the next one is found first.
  Task* next = tasks_.empty() ? nullptr : &tasks_.front();
  while (next != nullptr) {
    Task& task = *next;
    next = tasks_.Next(task);
    CancelBy(task, cleanup_deadline_);
  }
}

void Process::Interrupt() {
  // Pairs with the store in BeginInterrupt: the request is in no list then.
  if (interrupt_asked_.exchange(true)) return;
  if (completions_.Push(interrupt_request_)) {
    MakeReady();
  } else {
    machine_.scheduler.Interrupt();
  }
}

void Process::BeginInterrupt() {
  interrupt_asked_.store(false);
  if (body_->end_ == ExitKind::kDone) machine_.program_end.EndInterrupted();
  if (body_->end_ != ExitKind::kNone || body_->cleans_up_) return;
  // A body that is suspended for other reasons, or has just been woken, gets it at its next call,
  // or at the end of its slice.
  if (!body_->waiting() || !body_->TryClaim()) {
    interrupted_ = true;
    return;
  }
  deadlock_report_ = "interrupted";
  body_->SetOutcome(Status::kDeadlock, Waiter::kNoNode);
  WaitIsOver(*body_);
}

void Process::LimitCleanup(TimePoint deadline) {
  if (deadline == kNever) return;
  if (cleanup_alarm_ == nullptr) cleanup_alarm_.reset(new (std::nothrow) CleanupAlarm(machine_));
  // Without memory for it, only waits end the cleanup.
  if (cleanup_alarm_ != nullptr) cleanup_alarm_->Set(deadline);
}

void Process::CancelTask(Task& task, Duration cleanup_time) {
  CancelBy(task, DeadlineAfter(machine_.clock.Now(), cleanup_time));
}

void Process::CancelCall(Call& call) {
  if (!call_requests_.Ask(call)) return;
  if (completions_.Push(call_request_)) {
    machine_.scheduler.Ready(*this);
  } else {
    machine_.scheduler.Interrupt();
  }
}

void Process::CancelCalls() {
  while (const Ref<Call> call = call_requests_.Take()) {
    if (Task* const task = call->task()) CancelBy(*task, call->cleanup_deadline());
  }
}

void Process::CancelBy(Task& task, TimePoint cleanup_deadline) {
  if (task.end_ != ExitKind::kNone) return;
  const bool asked = std::exchange(task.cancel_requested_, true);
  const bool sooner = cleanup_deadline < task.cleanup_deadline_;
  if (sooner) task.cleanup_deadline_ = cleanup_deadline;
  if (!task.started_) {
    static_cast<ListLink<ReadyTag>&>(task).Unlink();
    EndTask(task, ExitKind::kCancelled);
  } else if (!task.waiting() || task.IsShielded()) {
    // The next wait raises, or the next one outside the shield.
  } else if (asked) {
    if (sooner) task.ShortenWait();
  } else if (task.TryClaim()) {
    // Where the claim fails, the wait has just completed: the next one raises.
    task.SetOutcome(Status::kCancelled);
    WaitIsOver(task);
  }
}

}  // namespace shoal::core
