// SPDX-License-Identifier: MIT
#include <shoal/runtime.h>

#include <memory>
#include <utility>

#include "bindings/cpp/runtime_state.h"
#include "runtime/base/check.h"
#include "runtime/base/enough_memory.h"
#include "runtime/base/runtime_thread.h"

namespace shoal {

using embed::RuntimeState;

namespace {

const Error& NotThere() {
  static const Error kNoMemory(Status::kNoMemory);
  return kNoMemory;
}

void End(std::shared_ptr<RuntimeState>& state) {
  if (state == nullptr) return;
  if (!state->End()) RuntimeState::Keep(state);
  state.reset();
}

}  // namespace

Runtime::Runtime() noexcept : Runtime(Options()) {}

Runtime::Runtime(const Options& options) noexcept {
  if (!core::EnoughMemory([&] { state_ = std::make_shared<RuntimeState>(options); })) return;
  state_->Start();
}

Runtime::~Runtime() { End(state_); }

Runtime::Runtime(Runtime&& other) noexcept = default;

Runtime& Runtime::operator=(Runtime&& other) noexcept {
  if (this == &other) return *this;
  End(state_);
  state_ = std::move(other.state_);
  return *this;
}

const Error& Runtime::error() const noexcept {
  return state_ == nullptr ? NotThere() : state_->error;
}

int Runtime::workers() const noexcept {
  return *this && state_->options.workers != 0 ? state_->core->machine().workers : 0;
}

}  // namespace shoal
