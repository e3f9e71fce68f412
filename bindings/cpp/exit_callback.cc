// SPDX-License-Identifier: MIT
#include "bindings/cpp/exit_callback.h"

#include <utility>

#include "runtime/base/enough_memory.h"

namespace shoal::embed {

ExitCallback::ExitCallback(ResultCallback callback, core::RefCounted& object, ResultOf result_of,
                           std::shared_ptr<Gate> gate)
    : callback_(std::move(callback)),
      object_(core::Ref<core::RefCounted>::Share(&object)),
      result_of_(result_of),
      gate_(std::move(gate)) {}

Status ExitCallback::Add(const Entry& entry, core::RefCounted& object, core::Exit& exit,
                         ResultOf result_of, ResultCallback callback) {
  const auto watch = core::Ref<ExitCallback>::Adopt(core::TryNew<ExitCallback>(
      std::move(callback), object, result_of, entry.gate().shared_from_this()));
  if (!watch) return Status::kNoMemory;
  static_cast<void>(exit.Watch(*watch));
  return Status::kOk;
}

Status ExitCallback::CallNow(const ResultCallback& callback, Error error) {
  try {
    callback(std::move(error));
  } catch (...) {  // NOLINT(bugprone-empty-catch): what it throws is dropped
  }
  return Status::kOk;
}

void ExitCallback::OnExit(core::ExitKind /*kind*/, const core::Message* /*message*/,
                          const core::Ref<core::Failure>& /*failure*/) {
  Result<Values> result = Status::kClosed;
  {
    // The end of the runtime does not wait for callbacks, but for this.
    const Entry entry(*gate_);
    if (entry) result = result_of_(*gate_, *object_);
  }
  object_ = {};
  const ResultCallback callback = std::move(callback_);
  try {
    callback(std::move(result));
  } catch (...) {  // NOLINT(bugprone-empty-catch): as above
  }
}

}  // namespace shoal::embed
