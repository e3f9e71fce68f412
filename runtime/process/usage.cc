// SPDX-License-Identifier: MIT
// What a process uses, and the end of what it may use.
#include "runtime/process/usage.h"

#include <thread>

#include "runtime/base/enough_memory.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/process.h"

namespace shoal::core {

namespace {
// The simulator, where no time passes in a turn: what one takes by its count of instructions.
constexpr Duration kInstructionTime = std::chrono::nanoseconds(10);
constexpr int kInstructionsOfTurn = 1000;  // the calls in it
}  // namespace

Duration Process::CpuNow() const {
  if (machine_.simulated()) return simulated_cpu_;
  const bool sampled = cpu_limit_ == nullptr && machine_.has_threads;
  return sampled ? machine_.scheduler.busy_time() : machine_.clock.Now().time_since_epoch();
}

void Process::SimulateCpu(int instructions) { simulated_cpu_ += instructions * kInstructionTime; }

void Process::BeginTurn() {
  slices_.Add();
  const Duration now = CpuNow();
  cpu_time_.Begin(now);
  if (machine_.simulated()) SimulateCpu(kInstructionsOfTurn);
  if (cpu_limit_ != nullptr) cpu_limit_->Arm(cpu_time_.Used(now));
}

void Process::EndTurn() {
  if (cpu_limit_ != nullptr) cpu_limit_->Disarm();
  cpu_time_.End(CpuNow());
}

void Process::LookAtCpuLimit() {
  const Duration used = cpu_time_.Used(CpuNow());
  switch (cpu_limit_->Look(used)) {
    case CpuLimit::Due::kNothing:
      return;
    case CpuLimit::Due::kEnd:
      end_text_ = CpuLimitReached(limits().cpu);
      BeginCancel(DeadlineAfter(machine_.clock.Now(), kCleanupTime));
      // Code that runs for the body after its end.
      if (closing_) body_->cancel_requested_ = true;
      break;
    case CpuLimit::Due::kStop:
      for (Task* task = tasks_.empty() ? nullptr : &tasks_.front(); task != nullptr;
           task = tasks_.Next(*task)) {
        task->cleanup_deadline_ = TimePoint::min();
      }
      body_->cleanup_deadline_ = TimePoint::min();
      break;
  }
  cpu_limit_->Disarm();
  cpu_limit_->Arm(used);
}

void Process::KeepLimitAsError() {
  body_->end_ = ExitKind::kError;
  // Without memory for them, there are none.
  static_cast<void>(EnoughMemory([&] {
    exit_text_ = end_text_;
    exit_traceback_ = body_->traceback();
  }));
  exit_message_ = MakeErrorNotice(id_, end_text_);
}

Usage Process::usage() const {
  return {.memory = allocator_.used.load(std::memory_order_relaxed),
          .cpu = cpu_time_.Used(CpuNow()),
          .slices = slices_.value(),
          .sent = sent_.value(),
          .received = received_.value()};
}

std::string Process::WaitingOn(const Process& viewer) {
  // Several may look at one time; each takes a moment.
  constexpr int kTries = 1000;
  if (&viewer == this) return BodyWaitText();
  for (int i = 0; i < kTries && phase() == ProcessPhase::kWaiting; ++i) {
    if (!completions_.TryOwn()) {
      std::this_thread::yield();
      continue;
    }
    std::string text = BodyWaitText();
    if (!completions_.TryWait()) MakeReady();
    return text;
  }
  return {};
}

std::string Process::BodyWaitText() const {
  return body_->end() == ExitKind::kNone && body_->waiting() ? body_->WaitText() : std::string();
}

}  // namespace shoal::core
