// SPDX-License-Identifier: MIT
// A Budget bounds the bytes that stand in queues: those of one channel (its option `bytes`) or of
// a whole runtime (`queue_memory`).
//
// Threads: any thread may call any member.
// Locks:   mu_ (kBudget), for the waiting senders only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/mutex.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Budget final : public WaitPlace {
 public:
  static constexpr std::size_t kUnlimited = SIZE_MAX;
  explicit Budget(std::size_t limit) : limit_(limit) {}

  // Takes `bytes` if they fit, or if nothing is taken yet (so that one message larger than the
  // whole budget can pass).
  [[nodiscard]] bool TryReserve(std::size_t bytes);
  // Takes `bytes` even beyond the limit: for what may not fail.
  void Reserve(std::size_t bytes);
  // As TryReserve; if they do not fit, publishes `node` (node.waiter set) and returns kPending.
  // When room has come, the waiter is claimed with outcome kFull and index node.index, the bytes
  // are reserved for it, and node.key is this budget.
  Status ReserveOrWait(std::size_t bytes, WaitNode& node);
  // Gives back bytes; claims waiting senders whose need fits now, in order, those that fit.
  void Return(std::size_t bytes, WakeList& wakes);
  // Claims all waiting senders with outcome kFull and without a reservation (node.key is null), so
  // that they look again whether their channel is closed.
  void WakeAll(WakeList& wakes);

  void Withdraw(WaitNode& node) override;
  // relaxed: a number to report.
  [[nodiscard]] std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t limit() const { return limit_; }

 private:
  void Unlink(WaitNode& node) SHOAL_REQUIRES_LOCK(mu_);

  const std::size_t limit_;
  // A waiting sender raises waiting_ and then looks at used_ once more; who returns bytes lowers
  // used_ and then looks at waiting_. Both are seq_cst, so one of them sees the other. They publish
  // nothing else.
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint32_t> waiting_{0};  // how many stand in nodes_, or are about to
  Mutex mu_{LockRank::kBudget};
  List<WaitNode, WaitTag> nodes_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::core
