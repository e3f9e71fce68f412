// SPDX-License-Identifier: MIT
// A Failure is an error that has ended a process, and those that were linked to it. However many
// they are, it is reported once, and not if somebody has joined one of them; and it counts once at
// the end of the program.
//
// Threads:   any thread may call any member.
// Ownership: shared by the exits of the processes that it ended and by its reports.
// Locks:     mu_ (kLeaf).
#pragma once

#include <string>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"

namespace shoal::core {

class Failure final : public RefCounted {
 public:
  Failure(std::string text, std::string traceback)
      : text_(std::move(text)), traceback_(std::move(traceback)) {}

  // What those say who were linked: "linked process 7 (worker) failed: …".
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& traceback() const { return traceback_; }

  // Somebody knows of it. True if it had been counted: it no longer counts.
  [[nodiscard]] bool MarkJoined() {
    MutexLock lock(mu_);
    joined_ = true;
    return std::exchange(counted_, false);
  }
  [[nodiscard]] bool joined() {
    MutexLock lock(mu_);
    return joined_;
  }
  // True if it is to be counted: nobody knows of it, and it has not been counted.
  [[nodiscard]] bool Count() {
    MutexLock lock(mu_);
    return !joined_ && !std::exchange(counted_, true);
  }
  // True for the first.
  [[nodiscard]] bool MarkReported() {
    MutexLock lock(mu_);
    return !std::exchange(reported_, true);
  }

 private:
  const std::string text_;
  const std::string traceback_;
  Mutex mu_{LockRank::kLeaf};
  bool joined_ SHOAL_GUARDED_BY(mu_) = false;
  bool counted_ SHOAL_GUARDED_BY(mu_) = false;
  bool reported_ SHOAL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal::core
