// SPDX-License-Identifier: MIT
// An Exit is how a process ended, kept for as long as somebody has its handle.
//
// Threads: any thread may call any member; Set is called once, by the process.
// Locks:   mu_ (kExit). Waiters are claimed under it and notified after; watches are told after it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/message/message.h"
#include "runtime/process/failure.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

enum class ExitKind : std::uint8_t { kNone, kDone, kError, kCancelled };

struct WatchTag {};

// An ExitWatch is told of the end of a process or task, once.
//
// Ownership: shared by what it watches, until that has ended, and by whoever may take it back.
class ExitWatch : public RefCounted, public ListLink<WatchTag> {
 public:
  // On the thread on which it ends (or, if it had ended, on which it was watched), without a lock.
  // `message` is that of Exit, `failure` is null unless it is an error; both are null for tasks.
  virtual void OnExit(ExitKind kind, const Message* message, const Ref<Failure>& failure) = 0;
  // Whether an error that it is told of is known to somebody.
  [[nodiscard]] virtual bool joins() const = 0;
};

class Exit final : public WaitPlace {
 public:
  // Drops references of the message to `self`, which were not counted: the process that is kept by
  // its handles, not by its own results. For its destructor.
  void ForgetSelf(RefCounted* self) {
    if (message_ != nullptr) message_->ForgetSelfReferences(self);
  }

  // Publishes the end, completes all joiners with kOk and tells the watches. `message` holds the
  // results; or, for an error, what a monitor sends (exit_notice.h); or is null (cancelled; or
  // memory was too short for it). `failure` is that of kError; true if it had been counted, and
  // does not count any more since somebody was waiting for this exit.
  bool Set(ExitKind kind, MessagePtr message, std::string traceback, Ref<Failure> failure);

  // kOk if it has ended; else publishes `node` (node.waiter open) and returns kPending.
  Status JoinOrWait(WaitNode& node);
  void Withdraw(WaitNode& node) override;

  // kPending: `watch` will be told. kOk: it has ended, and the watch has been told.
  Status Watch(ExitWatch& watch);
  // True if it was not told, and will not be.
  bool Unwatch(ExitWatch& watch);

  // kNone: it has not ended. After that, the other accessors may be used, and never change.
  [[nodiscard]] ExitKind kind();
  [[nodiscard]] const Message* message() const { return message_.get(); }
  [[nodiscard]] const std::string& traceback() const { return traceback_; }
  [[nodiscard]] const Ref<Failure>& failure() const { return failure_; }

 private:
  Mutex mu_{LockRank::kExit};
  ExitKind kind_ SHOAL_GUARDED_BY(mu_) = ExitKind::kNone;
  List<WaitNode, WaitTag> joiners_ SHOAL_GUARDED_BY(mu_);
  List<ExitWatch, WatchTag> watches_ SHOAL_GUARDED_BY(mu_);  // with a reference each
  // Written once before kind_ is; read only after kind() returned something else than kNone.
  MessagePtr message_;
  std::string traceback_;
  Ref<Failure> failure_;
};

}  // namespace shoal::core
