// SPDX-License-Identifier: MIT
// An AsyncCall is one call of an AsyncFunction: the task waits for it as for a job that blocks, and
// whoever has a Completion ends it.
//
// What the task waits for (AsyncWait) touches nothing of the runtime by itself, so it may outlive
// it; what it holds, results, does not: it is taken out by the task, or dropped inside the gate.
//
// Threads: any.
#pragma once

#include <shoal/function.h>

#include <atomic>
#include <memory>

#include "bindings/cpp/function_call.h"
#include "bindings/cpp/gate.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/message/message.h"
#include "runtime/process/descriptor_wait.h"

namespace shoal::embed {

// The task's half. Locks: mu_ (kLeaf), and those of the job.
class AsyncWait final : public core::BlockingJob {
 public:
  // Of the job: nothing is left to do when it ends.
  void Run() override {}

  // The outcome, once; before the job ends. Frees it if nobody wants it any more. REQUIRES: inside
  // the gate.
  void Put(Outcome outcome);
  // The task, when it has ended: what it was.
  [[nodiscard]] Outcome Take();
  // Nobody will take it any more.
  void Abandon();
  [[nodiscard]] bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

 private:
  core::Mutex mu_{core::LockRank::kLeaf};
  core::MessagePtr message_ SHOAL_GUARDED_BY(mu_);
  Outcome::End end_ SHOAL_GUARDED_BY(mu_) = Outcome::End::kReturn;
  // Written under mu_, and read there; a hint without.
  std::atomic<bool> abandoned_{false};
};

// The half of Completions.
class AsyncCall {
 public:
  // It counts as something that will bring work, until it completes. REQUIRES: inside the gate.
  AsyncCall(std::shared_ptr<Gate> gate, core::Ref<AsyncWait> wait);
  // Fails, if it has not been completed.
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  bool Complete(const Result<Values>& results) noexcept;
  [[nodiscard]] bool abandoned() const;

 private:
  const std::shared_ptr<Gate> gate_;
  const core::Ref<AsyncWait> wait_;
  // The first one counts; publishes nothing.
  std::atomic<bool> completed_{false};
};

}  // namespace shoal::embed
