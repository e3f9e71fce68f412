// SPDX-License-Identifier: MIT
#include "runtime/process/process.h"

#include <shoal/process.h>

#include <new>
#include <string>
#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/exit_callback.h"
#include "bindings/cpp/host_call.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/value_reader.h"
#include "runtime/base/enough_memory.h"
#include "runtime/process/exit.h"
#include "runtime/process/monitor.h"

namespace shoal {

using core::ExitKind;
using embed::Entry;
using embed::ExitCallback;

namespace {

// A call of a process.
class Call {
 public:
  explicit Call(const Process& process) : entry_(process, Handle::Kind::kProcess) {}
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(entry_); }
  [[nodiscard]] const Error& error() const { return entry_.error(); }
  [[nodiscard]] embed::Gate& gate() const { return entry_.gate(); }
  [[nodiscard]] core::Process& process() const { return entry_.object<core::Process>(); }

 private:
  const Entry entry_;
};

// Waits for the end. kOk, or why not.
Error AwaitEnd(const Call& call, Timeout timeout) {
  Error error = embed::CheckTimeout(timeout);
  if (error.status() != Status::kOk) return error;
  return embed::AwaitExit(call.gate(), call.process().exit(), timeout, embed::DeadlineOf(timeout));
}

// What a process that has ended has come to.
Result<Values> EndOf(embed::Gate& gate, core::RefCounted& object) {
  auto& process = static_cast<core::Process&>(object);
  core::Exit& exit = process.exit();
  process.MarkJoined();
  switch (exit.kind()) {
    case ExitKind::kCancelled:
    case ExitKind::kNone:
      return Status::kCancelled;
    case ExitKind::kDone:
      return embed::DecodeValues(*exit.message(), gate);
    case ExitKind::kError:
      break;
  }
  return embed::FailureOf(gate, exit);
}

}  // namespace

Error Process::error() const noexcept {
  return cell() == nullptr ? Error(Status::kMisuse, "this handle stands for no process")
                           : cell()->error();
}

std::uint64_t Process::id() const noexcept {
  const Call call(*this);
  return call ? call.process().id() : 0;
}

std::string Process::name() const {
  const Call call(*this);
  return call ? call.process().name() : std::string();
}

Result<Values> Process::Join(Timeout timeout) const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  Error error = AwaitEnd(call, timeout);
  if (error.status() != Status::kOk) return error;
  return EndOf(call.gate(), call.process());
}

Status Process::OnDone(ResultCallback callback) const noexcept {
  if (!callback) return Status::kMisuse;
  Error none = error();
  if (none.status() != Status::kOk) return ExitCallback::CallNow(callback, std::move(none));
  const Entry entry(*this, Handle::Kind::kProcess);
  if (!entry) return ExitCallback::CallNow(callback, entry.error());
  auto& process = entry.object<core::Process>();
  return ExitCallback::Add(entry, process, process.exit(), &EndOf, std::move(callback));
}

Result<void> Process::Cancel() const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  call.process().Cancel();
  return {};
}

Result<void> Process::Cancel(Timeout timeout) const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  Error error = embed::CheckTimeout(timeout);
  if (error.status() != Status::kOk) return error;
  call.process().Cancel(timeout.time());
  return AwaitEnd(call, timeout);
}

Result<Monitor> Process::SendEndTo(const Channel& channel, const Key& key) const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  const Entry target(channel, Kind::kChannel);
  if (!target) return target.error();
  if (&target.gate() != &call.gate()) {
    return Error(Status::kMisuse, "the channel is one of another runtime");
  }
  core::KeyName name = core::KeyName::Boolean(false);
  Error error = embed::ToKeyName(key, call.gate(), &name);
  if (error.status() != Status::kOk) return error;
  auto monitor = core::Ref<core::Monitor>::Adopt(core::TryNew<core::Monitor>(
      target.object<core::Channel>(), name, call.process().id(), core::Monitor::Form::kNotice));
  if (!monitor) return Status::kNoMemory;
  // Before it can have told: what cannot be taken back is not watched.
  Handle handle =
      embed::Cell::MakeHandle(call.gate(), core::Ref<core::RefCounted>::Share(monitor.get()));
  if (!handle) return Status::kNoMemory;
  if (call.process().exit().Watch(*monitor) == core::Status::kOk) call.process().MarkJoined();
  return Monitor(*this, std::move(handle));
}

bool Monitor::Cancel() const noexcept {
  const Entry process(process_, Handle::Kind::kProcess);
  const Entry monitor(monitor_, Handle::Kind::kOther);
  if (!process || !monitor) return false;
  return process.object<core::Process>().exit().Unwatch(monitor.object<core::Monitor>());
}

Result<ProcessState> Process::State() const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  // Before the end is looked at: it may come in between.
  const core::ProcessPhase phase = call.process().phase();
  switch (call.process().exit().kind()) {
    case ExitKind::kDone:
      return ProcessState::kDone;
    case ExitKind::kError:
      return ProcessState::kError;
    case ExitKind::kCancelled:
      return ProcessState::kCancelled;
    case ExitKind::kNone:
      break;
  }
  switch (phase) {
    case core::ProcessPhase::kReady:
      return ProcessState::kReady;
    case core::ProcessPhase::kWaiting:
      return ProcessState::kWaiting;
    default:
      return ProcessState::kRunning;
  }
}

Result<ProcessStats> Process::Stats() const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  const core::Usage usage = call.process().usage();
  return ProcessStats{.memory = usage.memory,
                      .cpu = usage.cpu,
                      .slices = usage.slices,
                      .sent = usage.sent,
                      .received = usage.received};
}

}  // namespace shoal
