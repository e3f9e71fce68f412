// SPDX-License-Identifier: MIT
#include "bindings/cpp/async_call.h"

#include <utility>

#include "bindings/cpp/cell.h"

namespace shoal {

using embed::AsyncCall;

Completion::Completion(const Completion& other) noexcept = default;
Completion::Completion(Completion&& other) noexcept = default;
Completion& Completion::operator=(const Completion& other) noexcept = default;
Completion& Completion::operator=(Completion&& other) noexcept = default;
Completion::~Completion() = default;

bool Completion::Complete(const Result<Values>& results) const noexcept {
  return call_ != nullptr && call_->Complete(results);
}

bool Completion::abandoned() const noexcept { return call_ == nullptr || call_->abandoned(); }

namespace embed {

// The task's half ---------------------------------------------------------------------------------

void AsyncWait::Put(Outcome outcome) {
  core::MessagePtr message(outcome.message);
  core::MutexLock lock(mu_);
  if (abandoned_.load(std::memory_order_relaxed)) {
    // Freed after the unlock: the lock was taken later.
    return;
  }
  message_ = std::move(message);
  end_ = outcome.end;
}

Outcome AsyncWait::Take() {
  core::MutexLock lock(mu_);
  return {.message = message_.release(), .end = end_};
}

void AsyncWait::Abandon() {
  core::MessagePtr unwanted;
  core::MutexLock lock(mu_);
  abandoned_.store(true, std::memory_order_relaxed);
  unwanted = std::move(message_);
}

// The half of Completions -------------------------------------------------------------------------

AsyncCall::AsyncCall(std::shared_ptr<Gate> gate, core::Ref<AsyncWait> wait)
    : gate_(std::move(gate)), wait_(std::move(wait)) {
  gate_->machine().active_hosts.Add();
}

AsyncCall::~AsyncCall() {
  if (completed_.load()) return;
  Complete(Error(Status::kMisuse,
                 "the function has given up: the last copy of its Completion has gone"));
}

bool AsyncCall::Complete(const Result<Values>& results) noexcept {
  if (completed_.exchange(true)) return false;
  const Entry entry(*gate_);
  if (!entry) return false;
  wait_->Put(OutcomeOf(*gate_, results));
  // It has run elsewhere. Those who wait are told.
  core::BlockingPool::RunHere(*wait_);
  core::Machine& machine = entry.machine();
  machine.active_hosts.Remove();
  machine.scheduler.ReconsiderRest();
  return true;
}

bool AsyncCall::abandoned() const { return gate_->closed() || wait_->abandoned(); }

}  // namespace embed

}  // namespace shoal
