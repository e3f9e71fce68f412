// SPDX-License-Identifier: MIT
#include "runtime/process/exit.h"

#include <utility>

#include "runtime/base/check.h"

namespace shoal::core {

bool Exit::Set(ExitKind kind, MessagePtr message, std::string traceback, Ref<Failure> failure) {
  message_ = std::move(message);
  traceback_ = std::move(traceback);
  failure_ = std::move(failure);
  bool joined = false;
  bool uncounted = false;
  {
    WakeList wakes;
    MutexLock lock(mu_);
    SHOAL_CHECK(kind_ == ExitKind::kNone);
    kind_ = kind;
    while (WaitNode* node = joiners_.PopFront()) {
      Waiter& waiter = *node->waiter;
      if (!waiter.TryClaim()) continue;
      waiter.SetOutcome(Status::kOk, node->index);
      wakes.Add(waiter);
      joined = true;
    }
    // Before a joiner runs: it is not to find an error that nobody knows of.
    if (joined && failure_) uncounted = failure_->MarkJoined();
  }
  for (;;) {
    Ref<ExitWatch> watch;
    {
      MutexLock lock(mu_);
      watch = Ref<ExitWatch>::Adopt(watches_.PopFront());
    }
    if (!watch) return uncounted;
    if (watch->joins() && failure_ && failure_->MarkJoined()) uncounted = true;
    watch->OnExit(kind, message_.get(), failure_);
  }
}

Status Exit::JoinOrWait(WaitNode& node) {
  MutexLock lock(mu_);
  if (kind_ != ExitKind::kNone) return Status::kOk;
  node.place = this;
  joiners_.PushBack(node);
  return Status::kPending;
}

void Exit::Withdraw(WaitNode& node) {
  MutexLock lock(mu_);
  if (node.linked()) node.Unlink();
}

Status Exit::Watch(ExitWatch& watch) {
  ExitKind kind = ExitKind::kNone;
  {
    MutexLock lock(mu_);
    kind = kind_;
    if (kind == ExitKind::kNone) {
      watch.AddRef();
      watches_.PushBack(watch);
      return Status::kPending;
    }
  }
  watch.OnExit(kind, message_.get(), failure_);
  return Status::kOk;
}

bool Exit::Unwatch(ExitWatch& watch) {
  {
    MutexLock lock(mu_);
    if (!watch.linked()) return false;
    watch.Unlink();
  }
  watch.Release();
  return true;
}

ExitKind Exit::kind() {
  MutexLock lock(mu_);
  return kind_;
}

}  // namespace shoal::core
