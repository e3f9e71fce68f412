// SPDX-License-Identifier: MIT
#include "runtime/sched/run_queue.h"

#include <algorithm>

#include "runtime/base/test_point.h"

namespace shoal::core {

bool RunQueue::Push(std::span<Runnable* const> runnables) {
  if (SHOAL_TEST_FAULT("run_queue.push")) return false;
  const bool done = runnables.size() == 1
                        ? store_.enqueue(token_, runnables[0])
                        : store_.enqueue_bulk(token_, runnables.data(), runnables.size());
  if (!done) return false;
  SHOAL_TEST_POINT("run_queue.pushed");
  // relaxed: the owner alone writes it.
  pushed_.store(pushed_.load(std::memory_order_relaxed) + runnables.size());
  return true;
}

Runnable* RunQueue::Pop() {
  // An empty queue, the usual case, costs two loads. relaxed: the owner sees its own pushes.
  if (pushed_.load(std::memory_order_relaxed) <= taken_.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  Runnable* runnable = nullptr;
  if (!store_.try_dequeue_from_producer(token_, runnable)) return nullptr;
  taken_.fetch_add(1);
  return runnable;
}

int RunQueue::Steal(std::span<Runnable*, kMaxSteal> into) {
  const std::size_t standing = length();
  if (standing == 0) return 0;
  const std::size_t half = std::min((standing + 1) / 2, into.size());
  const std::size_t count = store_.try_dequeue_bulk_from_producer(token_, into.data(), half);
  SHOAL_TEST_POINT("run_queue.stolen");
  taken_.fetch_add(count);
  return static_cast<int>(count);
}

}  // namespace shoal::core
