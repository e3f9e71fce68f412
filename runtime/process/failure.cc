// SPDX-License-Identifier: MIT
// What a process says of the errors that end it and its tasks.
//
// Threads: MarkJoined from any thread; the rest is for the owner.
#include "runtime/process/failure.h"

#include <string>
#include <utility>

#include "runtime/base/enough_memory.h"
#include "runtime/process/process.h"
#include "runtime/process/task_entry.h"

namespace shoal::core {

Ref<Failure> Process::FailureOf(const std::string& text, const std::string& traceback) {
  Ref<Failure> linked = end_request_.failure();
  if (linked && body_ && body_->end_ == ExitKind::kCancelled) return linked;
  Ref<Failure> failure;
  const bool enough = EnoughMemory([&] {
    std::string whole = "linked process " + std::to_string(id_);
    if (!name().empty()) whole += " (" + name() + ")";
    failure = Ref<Failure>::Adopt(new Failure(whole + " failed: " + text, traceback));
  });
  // Without memory for its text, the failure is still one.
  return enough ? failure : Ref<Failure>::Adopt(TryNew<Failure>(std::string(), std::string()));
}

void Process::MarkJoined() {
  const Ref<Failure>& failure = exit_.failure();
  if (failure && failure->MarkJoined()) machine_.unjoined_errors.fetch_sub(1);
}

void Process::ReportError(const Ref<Failure>& failure, const std::string& text,
                          const std::string& traceback) {
  std::string report;
  const bool enough = EnoughMemory([&] {
    if (!options_.script) {
      report = "process " + std::to_string(id_);
      if (!name().empty()) report += " (" + name() + ")";
      report += ": ";
    }
    report += text;
    if (!traceback.empty()) report += (text.empty() ? "" : "\n") + traceback;
  });
  if (!enough) {
    if (failure->MarkReported()) machine_.log.Write(LogLevel::kError, text);
  } else if (!options_.script) {
    machine_.NoteDeadline(machine_.error_reports.Add(failure, std::move(report)));
  } else if (failure->MarkReported()) {
    machine_.log.Write(LogLevel::kError, report);
  }
}

// Without memory for it, there is no report.
void Process::ReportCleanup(Task& task) {
  static_cast<void>(EnoughMemory([&] { WriteCleanupReport(task); }));
}

void Process::WriteCleanupReport(Task& task) {
  lua_State* L = task.thread_;
  if (lua_checkstack(L, 1) == 0) return;
  // The value has been made before, when the cancel was raised: this needs no memory.
  PushCancelled(L);
  const bool is_cancel = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 1);
  if (is_cancel) return;
  std::string report = task.anchor_ == LUA_NOREF ? "process " : "a task of process ";
  report += std::to_string(id_);
  if (!name().empty()) report += " (" + name() + ")";
  report += ", when it was cancelled: " + ErrorText(L);
  if (!task.traceback().empty()) report += "\n" + std::string(task.traceback());
  machine_.log.Write(LogLevel::kWarning, report);
}

void Process::ReportTask(Task& task) {
  std::string text;
  BeginAside(task);
  {
    const InterruptSection section(running_code_);
    text = ErrorText(task.thread_);
  }
  current_ = nullptr;
  std::string report;
  const bool enough = EnoughMemory([&] {
    report = "a task of process " + std::to_string(id_);
    if (!name().empty()) report += " (" + name() + ")";
    report += ": " + text;
    if (!task.traceback().empty()) report += "\n" + std::string(task.traceback());
  });
  machine_.log.Write(LogLevel::kError, enough ? report : text);
}

}  // namespace shoal::core
