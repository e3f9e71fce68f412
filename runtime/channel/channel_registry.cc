// SPDX-License-Identifier: MIT
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/channel/channel.h"

namespace shoal::core {

ChannelRegistry::ChannelRegistry(const Clock& clock, std::size_t queue_memory,
                                 const Channel::Options& defaults)
    : clock_(clock), defaults_(defaults), queue_memory_(queue_memory) {}

ChannelRegistry::~ChannelRegistry() {
  for (Ref<Channel> channel = After(nullptr); channel; channel = After(channel.get())) {
    channel->DropAll();
  }
  MutexLock lock(mu_);
  SHOAL_CHECK(channels_.empty());
}

Ref<Channel> ChannelRegistry::Make(const Channel::Options& options) {
  Ref<Channel> made = New({}, options);
  if (!made) return made;
  MutexLock lock(mu_);
  channels_.PushBack(*made);
  return made;
}

Status ChannelRegistry::Open(const std::string& name, const Channel::Options* options,
                             Ref<Channel>* channel) {
  *channel = Find(name);
  if (!*channel) {
    // Made without the lock: its destructor takes it, should another thread be first.
    Ref<Channel> made = New(name, options == nullptr ? defaults_ : *options);
    if (!made) return Status::kNoMemory;
    Ref<Channel> first = Enter(made);
    *channel = std::move(first);
    if (!*channel) return Status::kNoMemory;
  }
  const Channel::Options& existing = (*channel)->options();
  const bool same =
      options == nullptr || (options->limit == existing.limit && options->bytes == existing.bytes);
  if (same) return Status::kOk;
  *channel = {};
  return Status::kExists;
}

Ref<Channel> ChannelRegistry::Find(const std::string& name) {
  MutexLock lock(mu_);
  return FindLocked(name);
}

void ChannelRegistry::CloseAll() {
  for (Ref<Channel> channel = After(nullptr); channel; channel = After(channel.get())) {
    channel->Close();
  }
}

Ref<Channel> ChannelRegistry::New(const std::string& name, const Channel::Options& options) {
  // relaxed: a number.
  const std::uint64_t id = last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  try {
    return Ref<Channel>::Adopt(new Channel(*this, id, name, options));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

Ref<Channel> ChannelRegistry::Enter(const Ref<Channel>& made) {
  MutexLock lock(mu_);
  if (Ref<Channel> first = FindLocked(made->name())) return first;
  try {
    // A channel of that name whose last handle has just gone loses it to this one. The name is
    // kept as a view, which must not look into the old one.
    names_.erase(made->name());
    names_.emplace(made->name(), made.get());
  } catch (const std::bad_alloc&) {
    return {};
  }
  channels_.PushBack(*made);
  return made;
}

Ref<Channel> ChannelRegistry::FindLocked(const std::string& name) {
  const auto entry = names_.find(name);
  if (entry == names_.end() || !entry->second->TryAddRef()) return {};
  return Ref<Channel>::Adopt(entry->second);
}

void ChannelRegistry::Remove(Channel& channel) {
  MutexLock lock(mu_);
  if (channel.linked()) channel.Unlink();
  const auto entry = names_.find(channel.name());
  if (entry != names_.end() && entry->second == &channel) names_.erase(entry);
}

Ref<Channel> ChannelRegistry::After(Channel* previous) {
  MutexLock lock(mu_);
  Channel* next = nullptr;
  if (previous != nullptr) {
    next = channels_.Next(*previous);
  } else if (!channels_.empty()) {
    next = &channels_.front();
  }
  for (; next != nullptr; next = channels_.Next(*next)) {
    if (next->TryAddRef()) return Ref<Channel>::Adopt(next);
  }
  return {};
}

}  // namespace shoal::core
