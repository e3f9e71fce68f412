// SPDX-License-Identifier: MIT
// The members of Runtime by which the program adds modules, globals and classes, and those for
// engines.
#include <shoal/runtime.h>

#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/modules.h"
#include "bindings/cpp/runtime_state.h"
#include "runtime/base/enough_memory.h"
#include "runtime/base/runtime_thread.h"

namespace shoal {

namespace {

// Calls `add` with the modules and the gate, inside the gate.
template <class Add>
Error AddInside(const Runtime& runtime, Add add) noexcept {
  if (!runtime) return runtime.error();
  embed::RuntimeState& state = *runtime.state();
  const embed::Entry entry(*state.gate);
  if (!entry) return entry.error();
  Error error;
  if (!core::EnoughMemory([&] { error = add(state.modules, *state.gate); })) {
    return Status::kNoMemory;
  }
  return error;
}

RunState FromCore(core::RunState state) {
  switch (state) {
    case core::RunState::kReady:
      return RunState::kReady;
    case core::RunState::kWaiting:
      return RunState::kWaiting;
    case core::RunState::kEmpty:
      return RunState::kEmpty;
    case core::RunState::kBusy:
    case core::RunState::kClosed:
      break;
  }
  return RunState::kBusy;
}

core::WhenIdle ToCore(WhenIdle when_idle) {
  return when_idle == WhenIdle::kSleep ? core::WhenIdle::kSleep : core::WhenIdle::kReturn;
}

}  // namespace

Result<void> Runtime::AddModule(std::string name, int (*open)(lua_State* L)) noexcept {
  return AddInside(*this, [&](embed::Modules& modules, embed::Gate& /*gate*/) {
    return modules.Add(std::move(name), open);
  });
}

Result<void> Runtime::AddModule(Module module) noexcept {
  return AddInside(*this, [&](embed::Modules& modules, embed::Gate& gate) {
    return modules.Add(gate, std::move(module));
  });
}

Result<void> Runtime::AddLuaModule(std::string name, std::string source) noexcept {
  return AddInside(*this, [&](embed::Modules& modules, embed::Gate& /*gate*/) {
    return modules.AddSource(std::move(name), std::move(source));
  });
}

Result<void> Runtime::SetMember(const std::string& name,
                                const std::function<Module::Member()>& make) noexcept {
  return AddInside(*this, [&](embed::Modules& modules, embed::Gate& gate) {
    return modules.SetGlobal(gate, name, make());
  });
}

Result<std::shared_ptr<const embed::ObjectClass>> Runtime::AddDraft(
    embed::ClassDraft& draft) noexcept {
  std::shared_ptr<const embed::ObjectClass> added;
  const Error error = AddInside(*this, [&](embed::Modules& modules, embed::Gate& gate) {
    added = modules.Add(gate, std::move(draft));
    return Error();
  });
  if (error.status() != Status::kOk) return error;
  return added;
}

Result<RunState> Runtime::RunFor(std::chrono::nanoseconds time, WhenIdle when_idle) noexcept {
  if (!*this) return error();
  // The Runtime may end meanwhile, on another thread.
  const std::shared_ptr<embed::RuntimeState> state = state_;
  if (state->options.workers != 0) {
    return Error(Status::kMisuse, "RunFor is for runtimes with Options::workers = 0");
  }
  if (core::RuntimeThread::IsCurrent()) {
    return Error(Status::kMisuse, "RunFor must not be called by a function of a process");
  }
  const embed::Entry entry(*state->gate);
  if (!entry) return entry.error();
  const core::RunState left = state->core->RunFor(time, ToCore(when_idle));
  if (left == core::RunState::kClosed) return Status::kClosed;
  return FromCore(left);
}

std::optional<std::chrono::nanoseconds> Runtime::TimeToTimer() noexcept {
  if (!*this) return std::nullopt;
  const embed::Entry entry(*state_->gate);
  if (!entry) return std::nullopt;
  const core::Duration left = state_->core->TimeToDeadline();
  if (left == core::Duration::max()) return std::nullopt;
  return left;
}

}  // namespace shoal
