// SPDX-License-Identifier: MIT
#include "runtime/channel/budget.h"

namespace shoal::core {

bool Budget::TryReserve(std::size_t bytes) {
  std::size_t used = used_.load();
  do {
    const bool fits = used == 0 || (used <= limit_ && bytes <= limit_ - used);
    if (!fits) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

void Budget::Reserve(std::size_t bytes) { used_.fetch_add(bytes); }

Status Budget::ReserveOrWait(std::size_t bytes, WaitNode& node) {
  MutexLock lock(mu_);
  waiting_.fetch_add(1);
  if (TryReserve(bytes)) {
    waiting_.fetch_sub(1);
    return Status::kOk;
  }
  node.place = this;
  node.key = nullptr;
  node.need = bytes;
  nodes_.PushBack(node);
  return Status::kPending;
}

void Budget::Return(std::size_t bytes, WakeList& wakes) {
  if (bytes == 0) return;
  used_.fetch_sub(bytes);
  if (waiting_.load() == 0) return;
  MutexLock lock(mu_);
  WaitNode* next = nullptr;
  for (WaitNode* node = nodes_.empty() ? nullptr : &nodes_.front(); node != nullptr; node = next) {
    next = nodes_.Next(*node);
    if (node->waiter->claimed()) {
      Unlink(*node);
      continue;
    }
    if (!TryReserve(node->need)) {
      if (used_.load() >= limit_) return;
      continue;
    }
    Unlink(*node);
    if (node->waiter->TryClaim()) {
      node->key = this;
      node->waiter->SetOutcome(Status::kFull, node->index);
      wakes.Add(*node->waiter);
    } else {
      // Just now taken by its deadline. Nobody has looked in vain for these bytes meanwhile: that
      // needs mu_, and those behind it in the list come next.
      used_.fetch_sub(node->need);
    }
  }
}

void Budget::WakeAll(WakeList& wakes) {
  if (waiting_.load() == 0) return;
  MutexLock lock(mu_);
  while (!nodes_.empty()) {
    WaitNode& node = nodes_.front();
    Unlink(node);
    if (!node.waiter->TryClaim()) continue;
    node.waiter->SetOutcome(Status::kFull, node.index);
    wakes.Add(*node.waiter);
  }
}

void Budget::Withdraw(WaitNode& node) {
  MutexLock lock(mu_);
  if (node.linked()) Unlink(node);
}

void Budget::Unlink(WaitNode& node) {
  node.Unlink();
  waiting_.fetch_sub(1);
}

}  // namespace shoal::core
