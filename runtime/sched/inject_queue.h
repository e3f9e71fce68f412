// SPDX-License-Identifier: MIT
// The InjectQueue is where work comes in from threads that are no workers. It is a FIFO linked
// through the Runnables, so it never fails: it also takes what a run queue has no memory for.
//
// Threads: any thread may call any member.
// Locks:   mu_ (kInject).
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/base/mutex.h"
#include "runtime/sched/runnable.h"

namespace shoal::core {

class InjectQueue {
 public:
  InjectQueue() = default;
  InjectQueue(const InjectQueue&) = delete;
  InjectQueue& operator=(const InjectQueue&) = delete;

  void Push(Runnable& runnable);

  // The oldest; nullptr if there is none. An empty queue costs one load.
  Runnable* Pop();

  // Sequentially consistent with Push, like RunQueue::length.
  [[nodiscard]] std::size_t length() const { return length_.load(); }

 private:
  // Written under mu_; the seq_cst store in Push pairs with the load in length().
  std::atomic<std::size_t> length_{0};
  Mutex mu_{LockRank::kInject};
  InjectLink* first_ SHOAL_GUARDED_BY(mu_) = nullptr;
  InjectLink* last_ SHOAL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace shoal::core
