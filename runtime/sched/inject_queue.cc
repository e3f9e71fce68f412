// SPDX-License-Identifier: MIT
#include "runtime/sched/inject_queue.h"

#include "runtime/base/check.h"

namespace shoal::core {

void InjectQueue::Push(Runnable& runnable) {
  MutexLock lock(mu_);
  InjectLink& link = runnable;
  SHOAL_DCHECK(link.behind_ == nullptr && last_ != &link);
  (first_ == nullptr ? first_ : last_->behind_) = &link;
  last_ = &link;
  // relaxed: written under mu_ only.
  length_.store(length_.load(std::memory_order_relaxed) + 1);
}

Runnable* InjectQueue::Pop() {
  if (length() == 0) return nullptr;
  MutexLock lock(mu_);
  InjectLink* link = first_;
  if (link == nullptr) return nullptr;
  first_ = link->behind_;
  link->behind_ = nullptr;
  if (first_ == nullptr) last_ = nullptr;
  length_.store(length_.load(std::memory_order_relaxed) - 1);
  return static_cast<Runnable*>(link);
}

}  // namespace shoal::core
