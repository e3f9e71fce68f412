// SPDX-License-Identifier: MIT
#include "runtime/sched/drawn_queue.h"

namespace shoal::core {

void DrawnQueue::Push(Runnable& runnable) {
  MutexLock lock(mu_);
  ready_.push_back(&runnable);
  length_.store(ready_.size());
}

Runnable* DrawnQueue::Draw() {
  MutexLock lock(mu_);
  if (ready_.empty()) return nullptr;
  Runnable*& drawn = ready_[random_.Below(ready_.size())];
  Runnable* const runnable = drawn;
  drawn = ready_.back();
  ready_.pop_back();
  length_.store(ready_.size());
  return runnable;
}

}  // namespace shoal::core
