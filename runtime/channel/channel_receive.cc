// SPDX-License-Identifier: MIT
#include <utility>

#include "runtime/base/check.h"
#include "runtime/channel/channel.h"

namespace shoal::core {

Status Channel::Receive(const KeyName& name, std::uint32_t min, std::uint32_t max,
                        MessageList* messages) {
  SHOAL_DCHECK(min >= 1 && min <= max);
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.Find(name, hash, after);
  if (key == nullptr) return shard.closed ? Status::kClosed : Status::kEmpty;
  Status status = shard.IsClosed(*key) ? Status::kClosed : Status::kEmpty;
  if (shard.HasEnough(*key, min)) {
    *messages = shard.Take(*key, max, after);
    status = Status::kOk;
  } else {
    // No waiter of ours is published, so there is none to claim before the sender's.
    while (WaitNode* sender = shard.BlockedSender(*key, min, nullptr)) {
      const Waiter::Pair pair = shard.TakeWith(*key, *sender, nullptr, max, messages, after);
      if (pair == Waiter::Pair::kOtherGone) continue;
      status = Status::kOk;
      break;
    }
  }
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
  return status;
}

namespace {

void Prepare(std::span<WaitNode> nodes, Waiter& waiter) {
  std::uint32_t index = 0;
  for (WaitNode& node : nodes) {
    node.waiter = &waiter;
    node.place = nullptr;
    node.index = node.offset = index++;
  }
  Shard::SetOpenKeys(nodes[0], nodes.size());
}

}  // namespace

// Inlined, since a receive on one key is hardly more.
[[gnu::always_inline]] inline Attempt Channel::Publish(const KeyName& name, WaitNode& node,
                                                       MessageList* messages) {
  Waiter& waiter = *node.waiter;
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.FindOrAdd(name, hash, after);
  if (key == nullptr) return waiter.TryClaim() ? Attempt::kNoMemory : Attempt::kCompleted;
  Attempt attempt = Attempt::kPublished;
  bool settled = true;
  // 1. What stands there. The waiter may be published under other keys, so the owner claims it as
  //    anybody else would.
  if (shard.HasEnough(*key, node.min)) {
    attempt = waiter.TryClaim() ? Attempt::kHappened : Attempt::kCompleted;
    if (attempt == Attempt::kHappened) *messages = shard.Take(*key, node.max, after);
  }
  // 2. A blocked sender; the next one, if that is gone.
  while (attempt == Attempt::kPublished && !key->senders.empty()) {
    WaitNode* sender = shard.BlockedSender(*key, node.min, &waiter);
    if (sender == nullptr) break;
    switch (shard.TakeWith(*key, *sender, &waiter, node.max, messages, after)) {
      case Waiter::Pair::kClaimed:
        attempt = Attempt::kHappened;
        break;
      case Waiter::Pair::kOwnGone:
        attempt = Attempt::kCompleted;
        break;
      case Waiter::Pair::kOtherGone:
        settled = false;
        break;
    }
  }
  if (attempt == Attempt::kPublished) {
    if (shard.IsClosed(*key) && Shard::CountClosed(node)) {
      // 3. Nothing, and all are closed.
      attempt = waiter.TryClaim() ? Attempt::kClosed : Attempt::kCompleted;
    } else {
      // 4. Wait, also under a closed key: messages may be put back there.
      shard.Await(*key, node);
    }
  }
  if (attempt != Attempt::kPublished || !settled) {
    shard.Settle(*key, after);
    shard.FreeIfUnused(*key, after);
  }
  return attempt;
}

Status Channel::ReceiveOrWait(const KeyName& name, WaitNode& node, Waiter& waiter,
                              MessageList* messages) {
  waiter.Open(WaitReason::kReceive);
  Prepare({&node, 1}, waiter);
  return StatusOf(Publish(name, node, messages));
}

Status Channel::ReceiveOrWait(std::span<const KeyName> names, std::span<WaitNode> nodes,
                              Waiter& waiter, MessageList* messages, std::uint32_t* index) {
  SHOAL_DCHECK(!names.empty() && names.size() == nodes.size());
  // 1. Look at all before any node is published, since that costs more.
  for (std::uint32_t i = 0; names.size() > 1 && i < names.size(); ++i) {
    const Status status = Receive(names[i], nodes[i].min, nodes[i].max, messages);
    if (status != Status::kOk) continue;
    *index = i;
    return Status::kOk;
  }
  // 2. Nobody sees the waiter and the nodes yet.
  waiter.Open(WaitReason::kReceive);
  Prepare(nodes, waiter);
  // 3. Publish one after the other, until something comes of it.
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const Attempt attempt = Publish(names[i], nodes[i], messages);
    if (attempt == Attempt::kPublished) continue;
    if (attempt == Attempt::kCompleted) break;
    // 4. The waiter is claimed by us: nobody else completes it.
    WithdrawAll(nodes.first(i));
    *index = i;
    return StatusOf(attempt);
  }
  return Status::kPending;
}

Attempt Channel::PublishReceive(const KeyName& name, WaitNode& node) {
  // A case of its own: one closed key is enough.
  node.offset = 0;
  Shard::SetOpenKeys(node, 1);
  return Publish(name, node, &node.waiter->messages());
}

}  // namespace shoal::core
