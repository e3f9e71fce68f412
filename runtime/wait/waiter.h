// SPDX-License-Identifier: MIT
// A Waiter is one wait of one task. It is published in several places (keys, exits, a timer wheel)
// and claimed once: by a message, a deadline, a close or a cancel.
//
// The life of a wait:
//   1 Open()                       the owner; nothing is published, so nobody else sees it
//   2 WaitNodes into WaitPlaces    the owner, under each place's lock
//   3 TryClaim()                   any thread that found a node under its place's lock (or the
//                                  timer under the wheel's): exactly one gets true
//   4 the winner stores the outcome (Complete… below), and after unlocking calls Notify()
//   5 the owner takes it from its completions, withdraws the nodes that are left, reads the outcome
// Nobody but the winner touches a waiter after the lock under which it was found is released, and
// the winner not after Notify(). So the owner may open it again, or free it, after step 5.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/status.h"
#include "runtime/message/message.h"
#include "runtime/wait/timer_node.h"
#include "runtime/wait/wait_reason.h"

namespace shoal::core {

class Waiter;
class WaitNode;

// Where completed waiters go: the process of the task.
class WaitOwner {
 public:
  // Any thread, no lock held. Publishes `waiter` to the owner and makes the owner run.
  virtual void OnComplete(Waiter& waiter) = 0;

 protected:
  ~WaitOwner() = default;
};

// Something that keeps a list of wait nodes under a lock: a shard of a channel, an exit, a budget.
class WaitPlace {
 public:
  // The owner of the wait takes `node` back. Does nothing if it has been unlinked meanwhile.
  virtual void Withdraw(WaitNode& node) = 0;
  // Whether something will come here by itself, in time: who waits here does not wait in vain.
  [[nodiscard]] virtual bool IsFed() const { return false; }

 protected:
  ~WaitPlace() = default;
};

struct WaitTag {};

// One place in which a waiter is published. Guarded by the place's lock while it is published.
class WaitNode : public ListLink<WaitTag> {
 public:
  Waiter* waiter = nullptr;
  WaitPlace* place = nullptr;  // set by the owner when it publishes; null: not published
  std::uint32_t index = 0;     // which of the cases of the wait this is
  std::uint32_t min = 1;       // receivers: how many messages at least …
  std::uint32_t max = 1;       // … and at most; senders: unused
  // Receivers: how many nodes before it, in one array, the first of a wait for several keys stands.
  std::uint32_t offset = 0;
  void* key = nullptr;   // the place's own
  MessageList messages;  // blocked senders: what waits to be sent
  std::size_t need = 0;  // budgets: bytes
};

class Waiter : public TimerNode {
 public:
  explicit Waiter(WaitOwner& owner) : owner_(owner) {}

  // Owner. Starts a wait. REQUIRES: nothing of the last one is published.
  void Open(WaitReason reason) {
    reason_ = reason;
    outcome_ = Status::kPending;
    // relaxed: publishing a node under a lock comes after and orders it.
    claim_.store(kOpen, std::memory_order_relaxed);
  }
  // Owner. No wait is open any more.
  void Shut() { reason_ = WaitReason::kNone; }

  // Any thread, under the lock that guards the node through which it was found. True exactly once.
  [[nodiscard]] bool TryClaim() {
    std::uint8_t open = kOpen;
    if (claim_.compare_exchange_strong(open, kClaimed, std::memory_order_acq_rel)) return true;
    return open != kClaimed && TryClaimBusy();
  }
  // Owner; a hint for others.
  [[nodiscard]] bool claimed() const { return claim_.load(std::memory_order_acquire) == kClaimed; }

  enum class Pair : std::uint8_t { kClaimed, kOwnGone, kOtherGone };
  // The owner of `own` meets `other`, which it found as for TryClaim: claims both or none. So who
  // finds one of them claimed may take it for gone, and nobody has to start again.
  [[nodiscard]] static Pair TryClaimPair(Waiter& own, Waiter& other);

  // The index of an outcome that came through none of the nodes: all are still published.
  static constexpr std::uint32_t kNoNode = UINT32_MAX;
  // The winner of TryClaim, before Notify. `index` is that of the node through which it was found,
  // which the winner has unlinked.
  void SetOutcome(Status outcome, std::uint32_t index = 0) {
    outcome_ = outcome;
    index_ = index;
  }
  MessageList& messages() { return messages_; }  // what was received

  // The winner, without any lock. The waiter is the owner's again from here on.
  void Notify() { owner_.OnComplete(*this); }

  // Owner, after the wait has completed.
  [[nodiscard]] Status outcome() const { return outcome_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] WaitReason reason() const { return reason_; }

  bool OnDue() final;  // claims for the deadline
  void Fire() final;   // outcome kTimeout

 private:
  friend class WakeList;
  friend class Completions;
  static constexpr std::uint8_t kOpen = 0;
  static constexpr std::uint8_t kClaimed = 1;
  // A thread that holds the lock of a place is about to claim it together with another one, or
  // not: a few instructions. Two busy ones are taken in the order of their addresses.
  static constexpr std::uint8_t kBusy = 2;
  [[gnu::noinline]] bool TryClaimBusy();
  bool TryHold();

  WaitOwner& owner_;
  std::atomic<std::uint8_t> claim_{kClaimed};  // the protocol's; publishes nothing but itself
  WaitReason reason_ = WaitReason::kNone;
  Status outcome_ = Status::kPending;
  std::uint32_t index_ = 0;
  Waiter* next_ = nullptr;  // in a WakeList, then in the owner's Completions
  MessageList messages_;
};

// Owner. Takes back all nodes that are still published.
void WithdrawAll(std::span<WaitNode> nodes);

// Waiters that were claimed under a lock and are notified after it: declare it before the lock is
// taken, so that its destructor runs after the unlock.
class WakeList {
 public:
  WakeList() = default;
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;
  ~WakeList() {
    if (!empty()) Flush();
  }
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  void Add(Waiter& waiter) {
    waiter.next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = &waiter;
    last_ = &waiter;
  }
  // Moves all of `other` behind those that are here.
  void Take(WakeList& other) {
    if (other.empty()) return;
    (first_ == nullptr ? first_ : last_->next_) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }
  void Flush();  // REQUIRES: no lock is held

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace shoal::core
