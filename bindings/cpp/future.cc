// SPDX-License-Identifier: MIT
#include <shoal/future.h>

#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/exit_callback.h"
#include "bindings/cpp/host_call.h"
#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "runtime/base/ref_counted.h"
#include "runtime/process/call.h"

namespace shoal {

using embed::Entry;
using embed::ExitCallback;
using embed::Gate;

namespace {

Result<Values> ResultOf(Gate& gate, core::RefCounted& call) {
  return embed::ResultOf(gate, static_cast<core::Call&>(call));
}

}  // namespace

Future::Future(Error error) noexcept : call_(embed::Cell::MakeHandle(std::move(error))) {}

Error Future::error() const noexcept {
  const embed::Cell* const cell = call_.cell();
  if (cell == nullptr) return {Status::kMisuse, "this future is of no call"};
  return cell->error();
}

Future::State Future::state() const noexcept {
  if (error().status() != Status::kOk) return State::kNone;
  const Entry entry(call_, Handle::Kind::kOther);
  if (!entry) return State::kEnded;
  auto& call = entry.object<core::Call>();
  switch (call.exit().kind()) {
    case core::ExitKind::kDone:
      return State::kDone;
    case core::ExitKind::kError:
      return State::kError;
    case core::ExitKind::kCancelled:
      return State::kCancelled;
    case core::ExitKind::kNone:
      break;
  }
  return call.begun() ? State::kRunning : State::kReady;
}

Result<Values> Future::Join(Timeout timeout) const noexcept {
  if (Error none = error(); none.status() != Status::kOk) return none;
  if (Error wrong = embed::CheckTimeout(timeout); wrong.status() != Status::kOk) return wrong;
  const Entry entry(call_, Handle::Kind::kOther);
  if (!entry) return entry.error();
  auto& call = entry.object<core::Call>();
  Error error = embed::AwaitExit(entry.gate(), call.exit(), timeout, embed::DeadlineOf(timeout));
  if (error.status() != Status::kOk) return error;
  return embed::ResultOf(entry.gate(), call);
}

void Future::Cancel(Timeout cleanup) const noexcept {
  if (error().status() != Status::kOk) return;
  const Entry entry(call_, Handle::Kind::kOther);
  if (entry) entry.object<core::Call>().Cancel(embed::DeadlineOf(cleanup));
}

Status Future::OnDone(Callback callback) const noexcept {
  if (!callback) return Status::kMisuse;
  Error none = error();
  if (none.status() != Status::kOk) return ExitCallback::CallNow(callback, std::move(none));
  const Entry entry(call_, Handle::Kind::kOther);
  if (!entry) return ExitCallback::CallNow(callback, entry.error());
  auto& call = entry.object<core::Call>();
  return ExitCallback::Add(entry, call, call.exit(), &ResultOf, std::move(callback));
}

}  // namespace shoal
