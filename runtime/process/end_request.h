// SPDX-License-Identifier: MIT
// An EndRequest is what others have asked of a process: to end, by when its cleanup must be done,
// and because of which failure. It may be asked for again: the first reason and the earliest time
// count.
//
// Threads: Ask from any thread, Take by the owner of the process.
// Locks:   mu_ (kLeaf).
#pragma once

#include <algorithm>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/process/failure.h"

namespace shoal::core {

class EndRequest {
 public:
  // True if the owner has to be told: there is something new, and it has not been told yet.
  // `failure` is that of a linked process, or null.
  [[nodiscard]] bool Ask(TimePoint cleanup_deadline, Ref<Failure> failure = {}) {
    MutexLock lock(mu_);
    if (asked_ && cleanup_deadline >= cleanup_deadline_) return false;
    if (!std::exchange(asked_, true)) failure_ = std::move(failure);
    cleanup_deadline_ = std::min(cleanup_deadline_, cleanup_deadline);
    return !std::exchange(told_, true);
  }

  // Until when cleanup code may wait. After it, a new Ask tells the owner again.
  [[nodiscard]] TimePoint Take() {
    MutexLock lock(mu_);
    told_ = false;
    return cleanup_deadline_;
  }

  // Why the process is to end; null for a cancel.
  [[nodiscard]] Ref<Failure> failure() {
    MutexLock lock(mu_);
    return failure_;
  }

 private:
  Mutex mu_{LockRank::kLeaf};
  bool asked_ SHOAL_GUARDED_BY(mu_) = false;
  bool told_ SHOAL_GUARDED_BY(mu_) = false;
  Ref<Failure> failure_ SHOAL_GUARDED_BY(mu_);
  TimePoint cleanup_deadline_ SHOAL_GUARDED_BY(mu_) = kNever;
};

}  // namespace shoal::core
