// SPDX-License-Identifier: MIT
#include "runtime/wait/waiter.h"

#include <sched.h>

#include <functional>

namespace shoal::core {

bool Waiter::TryClaimBusy() {
  for (;;) {
    std::uint8_t open = kOpen;
    if (claim_.compare_exchange_weak(open, kClaimed, std::memory_order_acq_rel)) return true;
    if (open == kClaimed) return false;
    if (open == kBusy) sched_yield();
  }
}

// Makes it busy; false if it is claimed.
bool Waiter::TryHold() {
  for (;;) {
    std::uint8_t open = kOpen;
    if (claim_.compare_exchange_weak(open, kBusy, std::memory_order_acq_rel)) return true;
    if (open == kClaimed) return false;
    if (open == kBusy) sched_yield();
  }
}

Waiter::Pair Waiter::TryClaimPair(Waiter& own, Waiter& other) {
  const bool own_first = std::less<>()(&own, &other);
  Waiter& first = own_first ? own : other;
  Waiter& second = own_first ? other : own;
  if (!first.TryHold()) return own_first ? Pair::kOwnGone : Pair::kOtherGone;
  if (!second.TryHold()) {
    first.claim_.store(kOpen, std::memory_order_release);
    return own_first ? Pair::kOtherGone : Pair::kOwnGone;
  }
  first.claim_.store(kClaimed, std::memory_order_release);
  second.claim_.store(kClaimed, std::memory_order_release);
  return Pair::kClaimed;
}

bool Waiter::OnDue() { return TryClaim(); }

void Waiter::Fire() {
  SetOutcome(Status::kTimeout);
  Notify();
}

void WithdrawAll(std::span<WaitNode> nodes) {
  for (WaitNode& node : nodes) {
    if (node.place == nullptr) continue;
    node.place->Withdraw(node);
    node.place = nullptr;
  }
}

void WakeList::Flush() {
  while (first_ != nullptr) {
    // The link is read first: the waiter is its owner's after Notify.
    Waiter* waiter = first_;
    first_ = waiter->next_;
    waiter->Notify();
  }
}

}  // namespace shoal::core
