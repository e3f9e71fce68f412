// SPDX-License-Identifier: MIT
#include "runtime/process/call.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/base/enough_memory.h"
#include "runtime/message/wire.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/process.h"

namespace shoal::core {

Call::Call(MessagePtr arguments) : arguments_(std::move(arguments)) {}
Call::~Call() = default;

bool Call::begun() {
  MutexLock lock(mu_);
  return begun_;
}

TimePoint Call::cleanup_deadline() {
  MutexLock lock(mu_);
  return cleanup_deadline_;
}

Call::Ended Call::MarkEnded() {
  MutexLock lock(mu_);
  return std::exchange(ended_, true) ? Ended::kBefore : Ended::kNow;
}

void Call::Publish(ExitKind kind, MessagePtr message, std::string traceback) {
  // What has failed is told to the caller alone: the failure is no one's to count or report.
  static_cast<void>(exit_.Set(kind, std::move(message), std::move(traceback), Ref<Failure>()));
}

void Call::Cancel(TimePoint cleanup_deadline) {
  Ref<Process> process;
  {
    MutexLock lock(mu_);
    if (ended_) return;
    cancel_asked_ = true;
    cleanup_deadline_ = std::min(cleanup_deadline_, cleanup_deadline);
    if (begun_) {
      process = process_;
    } else {
      ended_ = true;
    }
  }
  if (process) {
    process->CancelCall(*this);
  } else {
    Publish(ExitKind::kCancelled, nullptr, std::string());
  }
}

void Call::Arrive(Process& process) {
  Ref<Process> before = Ref<Process>::Share(&process);
  MutexLock lock(mu_);
  std::swap(before, process_);
}

bool Call::Begin(Task& task) {
  MutexLock lock(mu_);
  if (ended_) return false;
  begun_ = true;
  task_ = &task;
  return true;
}

bool Call::Leave() {
  task_ = nullptr;
  MutexLock lock(mu_);
  return cancel_asked_;
}

void Call::End(ExitKind kind, MessagePtr message, std::string traceback) {
  if (MarkEnded() == Ended::kNow) Publish(kind, std::move(message), std::move(traceback));
}

void Call::Close() {
  if (MarkEnded() == Ended::kBefore) return;
  closed_ = true;
  Publish(ExitKind::kError, nullptr, std::string());
}

void Call::Drop() {
  Ref<Process> process;
  {
    MutexLock lock(mu_);
    if (ended_) return;
    process = process_;
  }
  task_ = nullptr;
  if (!process) return Close();
  // The process that has dropped it mostly ends just now: the call ends as that does.
  static_cast<void>(process->exit().Watch(*this));
}

void Call::OnExit(ExitKind kind, const Message* message, const Ref<Failure>&) {
  if (kind == ExitKind::kDone) return Close();
  if (kind == ExitKind::kCancelled) return End(kind, nullptr, std::string());
  Ref<Process> process;
  {
    MutexLock lock(mu_);
    process = process_;
  }
  std::string traceback;
  // Without memory for it, there is none.
  static_cast<void>(EnoughMemory([&] { traceback = process->exit().traceback(); }));
  End(kind, MakeExitNotice(process->id(), kind, message), std::move(traceback));
}

MessagePtr MakeAnswerMessage(Call& call) {
  const auto answer = Ref<Answer>::Adopt(TryNew<Answer>(call));
  if (!answer) return nullptr;
  static constexpr std::uint8_t kBytes[] = {wire::kAllocates, 1, wire::kHandle};
  RefCounted* const references[] = {answer.get()};
  return Message::New(std::as_bytes(std::span(kBytes)), references);
}

}  // namespace shoal::core
