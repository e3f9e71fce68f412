// SPDX-License-Identifier: MIT
#include <utility>

#include "runtime/base/check.h"
#include "runtime/channel/channel.h"

namespace shoal::core {

// One attempt under the lock. kFull with `*wanted` set: that budget has no room. With a `node`,
// messages that are at the key's limit wait in it: kPending.
Status Channel::SendOnce(const KeyName& name, MessageList& messages, WaitNode* node,
                         Budget** granted, Budget** wanted) {
  SHOAL_DCHECK(!messages.empty());
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = nullptr;
  const Status found = shard.FindOpen(name, hash, after, &key);
  if (found != Status::kOk) return found;
  Status status = Status::kFull;
  switch (shard.Send(*key, messages, granted, after)) {
    case Offer::kTaken:
      status = Status::kOk;
      break;
    case Offer::kAtLimit:
      if (node == nullptr) break;
      shard.Block(*key, messages, *node);
      status = Status::kPending;
      break;
    case Offer::kNoBytes:
      *wanted = &bytes_;
      break;
    case Offer::kNoQueueMemory:
      *wanted = context_.queue_memory;
      break;
    case Offer::kCompleted:
      break;  // of cases of a select
  }
  shard.FreeIfUnused(*key, after);
  return status;
}

Status Channel::Send(const KeyName& name, MessageList& messages) {
  Budget* granted = nullptr;
  Budget* wanted = nullptr;
  return SendOnce(name, messages, nullptr, &granted, &wanted);
}

Status Channel::SendOrWait(const KeyName& name, MessageList& messages, WaitNode& node) {
  const std::size_t bytes = messages.footprint();
  // 1. A budget has completed the last wait: its reservation is used, or given back below.
  Budget* granted = GrantOf(node);
  for (;;) {
    // 2. Try, or wait at the key's limit.
    Budget* wanted = nullptr;
    const Status status = SendOnce(name, messages, &node, &granted, &wanted);
    if (granted != nullptr) {
      WakeList wakes;
      std::exchange(granted, nullptr)->Return(bytes, wakes);
    }
    if (wanted == nullptr) return status;
    // 3. Wait for a budget, unless room has come just now. Nobody else looks at the messages in
    //    the node while it waits there.
    if (wanted->ReserveOrWait(bytes, node) == Status::kOk) {
      granted = wanted;
      continue;
    }
    // 4. A close that did not find the node there must not be missed.
    if (IsClosed(name) && node.waiter->TryClaim()) {
      wanted->Withdraw(node);
      node.place = nullptr;
      return Status::kClosed;
    }
    if (&node.messages != &messages) node.messages = std::move(messages);
    return Status::kPending;
  }
}

// One attempt under the lock. With `*wanted` set, that budget has no room, and what is returned
// means nothing.
Attempt Channel::OfferCase(const KeyName& name, WaitNode& node, Budget** granted, Budget** wanted) {
  Waiter& waiter = *node.waiter;
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = nullptr;
  const Status found = shard.FindOpen(name, hash, after, &key);
  if (found != Status::kOk) {
    if (!waiter.TryClaim()) return Attempt::kCompleted;
    return found == Status::kClosed ? Attempt::kClosed : Attempt::kNoMemory;
  }
  Attempt attempt = Attempt::kPublished;
  switch (shard.SendCase(*key, node, granted, after)) {
    case Offer::kTaken:
      attempt = Attempt::kHappened;
      break;
    case Offer::kAtLimit:
      shard.Block(*key, node.messages, node);
      break;
    case Offer::kNoBytes:
      *wanted = &bytes_;
      break;
    case Offer::kNoQueueMemory:
      *wanted = context_.queue_memory;
      break;
    case Offer::kCompleted:
      attempt = Attempt::kCompleted;
      break;
  }
  shard.FreeIfUnused(*key, after);
  return attempt;
}

Attempt Channel::PublishSend(const KeyName& name, WaitNode& node) {
  SHOAL_DCHECK(!node.messages.empty());
  const std::size_t bytes = node.messages.footprint();
  Budget* granted = nullptr;
  for (;;) {
    // 1. Try, or wait at the key's limit.
    Budget* wanted = nullptr;
    const Attempt attempt = OfferCase(name, node, &granted, &wanted);
    if (granted != nullptr) {
      WakeList wakes;
      std::exchange(granted, nullptr)->Return(bytes, wakes);
    }
    if (wanted == nullptr) return attempt;
    // 2. Wait for a budget, unless room has come just now.
    if (wanted->ReserveOrWait(bytes, node) == Status::kOk) {
      granted = wanted;
      continue;
    }
    // 3. A close that did not find the node there must not be missed.
    if (!IsClosed(name) || !node.waiter->TryClaim()) return Attempt::kPublished;
    wanted->Withdraw(node);
    node.place = nullptr;
    return Attempt::kClosed;
  }
}

Status Channel::FinishSend(const KeyName& name, WaitNode& node) {
  const std::size_t bytes = node.messages.footprint();
  Budget* granted = GrantOf(node);
  Budget* wanted = nullptr;
  const Status status = SendOnce(name, node.messages, nullptr, &granted, &wanted);
  if (granted != nullptr) {
    WakeList wakes;
    granted->Return(bytes, wakes);
  }
  return status;
}

// The budget that has reserved room for the sender that waited in `node`, or nullptr.
Budget* Channel::GrantOf(WaitNode& node) {
  if (node.key == nullptr) return nullptr;
  if (node.key != &bytes_ && node.key != context_.queue_memory) return nullptr;
  return static_cast<Budget*>(std::exchange(node.key, nullptr));
}

void Channel::AbandonSend(WaitNode& node) {
  WakeList wakes;
  if (Budget* granted = GrantOf(node)) granted->Return(node.need, wakes);
}

Status Channel::SendAnyway(const KeyName& name, MessageList& messages,
                           const std::atomic<bool>* withdrawn) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  // Relaxed: the lock orders it before any look that comes after the store.
  if (withdrawn != nullptr && withdrawn->load(std::memory_order_relaxed)) return Status::kCancelled;
  Key* key = nullptr;
  const Status found = shard.FindOpen(name, hash, after, &key);
  if (found != Status::kOk) return found;
  shard.ForceBack(*key, std::move(messages));
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
  return Status::kOk;
}

Status Channel::Replace(const KeyName& name, MessageList& messages) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = nullptr;
  const Status found = shard.FindOpen(name, hash, after, &key);
  if (found != Status::kOk) return found;
  shard.DropMessages(*key, after);
  if (!messages.empty()) shard.ForceBack(*key, std::move(messages));
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
  return Status::kOk;
}

Status Channel::SendIfEmpty(const KeyName& name, MessageList& messages) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = nullptr;
  const Status found = shard.FindOpen(name, hash, after, &key);
  if (found != Status::kOk) return found;
  if (!key->messages.empty()) return Status::kExists;
  shard.ForceBack(*key, std::move(messages));
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
  return Status::kOk;
}

Status Channel::Increment(const KeyName& name, const Number& by, TimePoint ttl_if_new,
                          Number* result, std::uint32_t* generation) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  MessagePtr fresh;
  *generation = 0;
  for (;;) {
    {
      Aftermath after;
      MutexLock lock(shard.mu);
      if (shard.closed) return Status::kClosed;
      Key* key = shard.Find(name, hash, after);
      if (key != nullptr && key->closed) return Status::kClosed;
      // 1. Something stands there: it is changed in place.
      if (key != nullptr && !key->messages.empty()) {
        Message& standing = *key->messages.front();
        const std::optional<Number> number = NumberOf(standing);
        if (key->messages.count() != 1 || !number) return Status::kNotNumber;
        *result = Add(*number, by);
        RewriteNumber(standing, *result);
        return Status::kOk;
      }
      // 2. Nothing: a message is sent. It was made outside the lock.
      if (fresh != nullptr) {
        if (key == nullptr) key = shard.FindOrAdd(name, hash, after);
        if (key == nullptr) return Status::kNoMemory;
        MessageList messages;
        messages.PushBack(std::move(fresh));
        shard.ForceBack(*key, std::move(messages));
        if (ttl_if_new != kNever) *generation = shard.SetExpiry(*key, ttl_if_new, after);
        shard.Settle(*key, after);
        // A receiver has taken it, so there is no ttl.
        if (key->messages.empty()) *generation = 0;
        shard.FreeIfUnused(*key, after);
        return Status::kOk;
      }
    }
    *result = Add(Number(std::int64_t{0}), by);
    fresh = MakeNumberMessage(*result);
    if (fresh == nullptr) return Status::kNoMemory;
  }
}

void Channel::PutBack(const KeyName& name, MessageList& messages) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.FindOrAdd(name, hash, after);
  if (key == nullptr) {
    after.Drop(std::move(messages));
    return;
  }
  shard.ForceFront(*key, std::move(messages));
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
}

}  // namespace shoal::core
