// SPDX-License-Identifier: MIT
// The life, the properties and the end of a channel; channel_send.cc and channel_receive.cc have
// the rest.
#include "runtime/channel/channel.h"

#include <utility>

namespace shoal::core {

Channel::Channel(ChannelRegistry& registry, std::uint64_t id, std::string name,
                 const Options& options)
    : RefCounted(Kind::kChannel),
      registry_(registry),
      id_(id),
      name_(std::move(name)),
      options_(options),
      bytes_(options.bytes),
      context_{this,
               &registry.clock_,
               options.bytes == Budget::kUnlimited ? nullptr : &bytes_,
               &registry.queue_memory_,
               options.limit,
               QueueShare::StepFor(registry.queue_memory_),
               options.zero_limit},
      shards_(std::make_unique<Shard[]>(kShards)) {
  for (std::size_t i = 0; i < kShards; ++i) shards_[i].Init(context_);
}

Channel::~Channel() {
  // Only from here on nobody can find it any more.
  registry_.Remove(*this);
  DropAll();
}

void Channel::DropAll() {
  for (std::size_t i = 0; i < kShards; ++i) {
    Aftermath after;
    MutexLock lock(shards_[i].mu);
    shards_[i].Clear(after);
  }
}

// --- Looking.

void Channel::Peek(const KeyName& name, std::size_t count,
                   const std::function<void(const Message&)>& visit) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  const Key* key = shard.Find(name, hash, after);
  if (key == nullptr) return;
  const Message* message = key->messages.front();
  for (; message != nullptr && count > 0; --count) {
    visit(*message);
    message = MessageList::Next(*message);
  }
}

std::size_t Channel::Count(const KeyName& name) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  const Key* key = shard.Find(name, hash, after);
  return key == nullptr ? 0 : key->messages.count();
}

std::vector<StoredKeyName> Channel::Keys() {
  std::vector<StoredKeyName> names;
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    Aftermath after;
    MutexLock lock(shard.mu);
    for (std::size_t slot = 0; slot < shard.keys().slots(); ++slot) {
      Key* key = shard.keys().at(slot);
      if (key == nullptr) continue;
      shard.DropIfExpired(*key, after);
      if (!key->messages.empty()) names.emplace_back(key->name);
    }
    shard.FreeUnused(after);
  }
  return names;
}

// --- Properties.

std::uint64_t Channel::Limit(const KeyName& name) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  const Key* key = shard.Find(name, hash, after);
  return key == nullptr ? options_.limit : key->limit;
}

std::uint64_t Channel::SetLimit(const KeyName& name, std::uint64_t limit) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.FindOrAdd(name, hash, after);
  if (key == nullptr) return options_.limit;
  const std::uint64_t before = std::exchange(key->limit, limit);
  shard.Settle(*key, after);
  shard.FreeIfUnused(*key, after);
  return before;
}

Status Channel::Expire(const KeyName& name, TimePoint at, std::uint32_t* generation) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.Find(name, hash, after);
  if (key == nullptr || key->messages.empty()) return Status::kNotFound;
  *generation = shard.SetExpiry(*key, at, after);
  return Status::kOk;
}

bool Channel::KeepTimer(const KeyName& name, std::uint32_t generation, TtlTimer& timer) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  Key* key = shard.Find(name, hash, after);
  if (key == nullptr || key->expiry == kNever || key->generation != generation) return false;
  SHOAL_DCHECK(key->timer == nullptr);
  key->timer = &timer;
  return true;
}

TimePoint Channel::ExpiryOf(const KeyName& name) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  const Key* key = shard.Find(name, hash, after);
  return key == nullptr ? kNever : key->expiry;
}

void Channel::ExpireNow(const KeyName& name, std::uint32_t generation) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  MutexLock lock(shard.mu);
  const Key* key = shard.keys().Find(name, hash);
  // Otherwise another timer is on its way for what stands there now.
  if (key == nullptr || key->expiry == kNever || key->generation != generation) return;
  shard.Find(name, hash, after);
}

// --- The end.

void Channel::Close() {
  closed_.store(true, std::memory_order_relaxed);
  Aftermath after;
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    MutexLock lock(shard.mu);
    if (shard.closed) continue;
    shard.closed = true;
    for (std::size_t slot = 0; slot < shard.keys().slots(); ++slot) {
      Key* key = shard.keys().at(slot);
      if (key == nullptr) continue;
      shard.DropIfExpired(*key, after);
      if (!key->closed) shard.CompleteForClose(*key, after);
    }
    shard.FreeUnused(after);
  }
  // Those who wait for room look again, and see that it is closed.
  bytes_.WakeAll(after.wakes);
  registry_.queue_memory_.WakeAll(after.wakes);
}

void Channel::CloseKey(const KeyName& name) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  Aftermath after;
  {
    MutexLock lock(shard.mu);
    Key* key = shard.FindOrAdd(name, hash, after);
    if (key == nullptr || shard.IsClosed(*key)) return;
    key->closed = true;
    shard.CompleteForClose(*key, after);
  }
  bytes_.WakeAll(after.wakes);
  registry_.queue_memory_.WakeAll(after.wakes);
}

bool Channel::IsClosed(const KeyName& name) {
  const std::size_t hash = name.Hash();
  Shard& shard = ShardOf(hash);
  MutexLock lock(shard.mu);
  if (shard.closed) return true;
  const Key* key = shard.keys().Find(name, hash);
  return key != nullptr && key->closed;
}

}  // namespace shoal::core
