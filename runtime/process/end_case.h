// SPDX-License-Identifier: MIT
// The case of a select in which a process or a task ends.
//
// Threads: the owner of the waiter.
#pragma once

#include "runtime/process/exit.h"
#include "runtime/process/task.h"
#include "runtime/wait/select.h"

namespace shoal::core {

// `End` is Exit or Task. The maker keeps it.
template <class End>
class EndCase final : public SelectCase {
 public:
  explicit EndCase(End& end) : end_(end) {}
  Status Try(WaitNode&) override {
    return KindOf(end_) == ExitKind::kNone ? Status::kEmpty : Status::kOk;
  }
  Attempt Publish(WaitNode& node) override {
    if (end_.JoinOrWait(node) != Status::kOk) return Attempt::kPublished;
    return node.waiter->TryClaim() ? Attempt::kHappened : Attempt::kCompleted;
  }
  Status Completed(WaitNode&, Status outcome) override { return outcome; }

 private:
  static ExitKind KindOf(Exit& exit) { return exit.kind(); }
  static ExitKind KindOf(const Task& task) { return task.end(); }

  End& end_;
};

}  // namespace shoal::core
