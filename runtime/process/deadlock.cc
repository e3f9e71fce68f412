// SPDX-License-Identifier: MIT
// What a deadlock check, or a list of all processes, asks of a process. It takes the process as its
// owner for the look, so a completion that comes meanwhile is safe.
#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"

namespace shoal::core {

bool Process::AppendWaits(std::string& report) {
  if (!completions_.TryOwn()) return false;
  // Without memory for it, as much as there is: the process must be given back.
  static_cast<void>(EnoughMemory([&] {
    Task* task = tasks_.empty() ? nullptr : &tasks_.front();
    for (; task != nullptr; task = tasks_.Next(*task)) {
      if (!task->waiting()) continue;
      AppendName(report);
      if (task != body_.get()) report += ", a task";
      report += ": " + task->WaitText();
    }
  }));
  if (!completions_.TryWait()) MakeReady();
  return true;
}

void Process::AppendWaitsOrPhase(std::string& report) {
  if (AppendWaits(report)) return;
  const ProcessPhase now = phase();
  if (now == ProcessPhase::kExited) return;
  AppendName(report);
  report += now == ProcessPhase::kRunning ? ": running" : ": ready";
}

void Process::AppendName(std::string& text) const {
  text += "\n  process " + std::to_string(id_);
  if (!name().empty()) text += " (" + name() + ")";
}

bool Process::AnyTask(bool (Task::*holds)() const) {
  if (!completions_.TryOwn()) return false;
  bool found = false;
  for (Task* task = tasks_.empty() ? nullptr : &tasks_.front(); task != nullptr && !found;
       task = tasks_.Next(*task)) {
    found = (task->*holds)();
  }
  if (!completions_.TryWait()) MakeReady();
  return found;
}

bool Process::WaitsToSend() { return AnyTask(&Task::WaitsToSend); }
bool Process::WaitsForTimer() { return AnyTask(&Task::WaitsForTimer); }

bool Process::BodyWait(WaitReason* reason) {
  if (!completions_.TryOwn()) return false;
  *reason = body_->end() == ExitKind::kNone ? body_->reason() : WaitReason::kNone;
  if (*reason == WaitReason::kSend && WaitsForQueueMemory(*body_)) {
    *reason = WaitReason::kQueueMemory;
  }
  if (!completions_.TryWait()) MakeReady();
  return true;
}

bool Process::WaitsForQueueMemory(const Task& task) const {
  return !task.nodes().empty() && task.nodes()[0].place == &machine_.channels.queue_memory();
}

bool Process::EndBodyWait(const std::string& report) {
  if (!completions_.TryOwn()) return false;
  bool ended = false;
  if (body_->end() == ExitKind::kNone && body_->waiting() && body_->TryClaim()) {
    const bool idle = body_->reason() == WaitReason::kIdle;
    deadlock_report_ = report;
    body_->SetOutcome(idle ? Status::kOk : Status::kDeadlock, Waiter::kNoNode);
    WaitIsOver(*body_);
    ended = true;
  }
  if (ended || !completions_.TryWait()) MakeReady();
  return ended;
}

}  // namespace shoal::core
