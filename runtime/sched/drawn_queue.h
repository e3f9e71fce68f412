// SPDX-License-Identifier: MIT
// A DrawnQueue is where everything stands that is ready in the simulator. What runs next is drawn:
// any order in which ready processes may run comes up with some seed, and the same seed brings the
// same order.
//
// Threads: any thread may call any member.
// Locks:   mu_ (kInject).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/random.h"
#include "runtime/sched/runnable.h"

namespace shoal::core {

class DrawnQueue {
 public:
  explicit DrawnQueue(std::uint64_t seed) : random_(seed) {}
  DrawnQueue(const DrawnQueue&) = delete;
  DrawnQueue& operator=(const DrawnQueue&) = delete;

  // Ends the program if there is no memory for it: the simulator has no other place.
  void Push(Runnable& runnable);

  // Any of those that stand here; nullptr if there are none.
  Runnable* Draw();

  // Sequentially consistent with Push, like RunQueue::length.
  [[nodiscard]] std::size_t length() const { return length_.load(); }

 private:
  // Written under mu_; the seq_cst store in Push pairs with the load in length().
  std::atomic<std::size_t> length_{0};
  Mutex mu_{LockRank::kInject};
  Random random_ SHOAL_GUARDED_BY(mu_);
  std::vector<Runnable*> ready_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::core
