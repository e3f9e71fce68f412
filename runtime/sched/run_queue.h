// SPDX-License-Identifier: MIT
// A RunQueue is the FIFO of one worker, from which others steal.
//
// All run queues of a scheduler are sub-queues of one moodycamel::ConcurrentQueue, the Store: an
// explicit producer keeps the order of what it puts in, and anybody may take from it. That queue is
// not linearizable: a dequeue that meets others may find nothing although something is there. So
// each RunQueue counts for itself, and whoever is about to park looks at length(), not at a failed
// dequeue.
//
// Threads: as said at each member. The owner is the thread that holds the seat; a change of the
//          seat's thread orders the old owner's calls before the new one's.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/sched/runnable.h"

namespace shoal::core {

class RunQueue {
 public:
  struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
    // No implicit producers: 1.0.3 never recycles them.
    static const std::size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 0;  // NOLINT: their name
  };
  using Store = moodycamel::ConcurrentQueue<Runnable*, Traits>;

  // At most so many are stolen at a time.
  static constexpr int kMaxSteal = 32;

  explicit RunQueue(Store& store) : store_(store), token_(store) {}
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // False: there was no memory for it; nothing can be pushed.
  [[nodiscard]] bool valid() const { return token_.valid(); }

  // The owner. Appends all or, if there is no memory, none: false.
  [[nodiscard]] bool Push(std::span<Runnable* const> runnables);

  // The owner. Takes the oldest; nullptr if there is none, or if a thief was faster.
  Runnable* Pop();

  // Any thread. Takes the oldest half, at most kMaxSteal, and returns how many.
  int Steal(std::span<Runnable*, kMaxSteal> into);

  // Any thread. How many stand here. Sequentially consistent with Push: either the one who looks
  // sees what was pushed, or the one who pushed sees what the other did before it looked.
  [[nodiscard]] std::size_t length() const {
    const std::uint64_t taken = taken_.load();
    const std::uint64_t pushed = pushed_.load();
    // A thief may count before the owner does.
    return pushed > taken ? static_cast<std::size_t>(pushed - taken) : 0;
  }

 private:
  Store& store_;
  moodycamel::ProducerToken token_;

  // Counted after the enqueue, by the owner alone. seq_cst, paired with the loads in length().
  std::atomic<std::uint64_t> pushed_{0};
  // Counted after the dequeue, so length() is rather too large than too small. On a cache line of
  // its own, as thieves write it.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
};

}  // namespace shoal::core
