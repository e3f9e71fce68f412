// SPDX-License-Identifier: MIT
// A Shard is one part of a channel's keys, with the lock that guards them: the steps of which the
// operations of Channel are made.
//
// Threads: any thread, holding `mu` except for Withdraw.
// Locks:   mu (kKeyShard). Budgets (kBudget) are asked under it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/channel/aftermath.h"
#include "runtime/channel/budget.h"
#include "runtime/channel/key_name.h"
#include "runtime/channel/key_table.h"
#include "runtime/channel/queue_share.h"
#include "runtime/message/message.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

// What a send does at the limit 0.
enum class ZeroLimit : std::uint8_t {
  kRendezvous,  // it meets a receiver
  kBlocks,      // it waits until there is another limit
};

// What the shards of a channel have in common.
struct ShardContext {
  RefCounted* channel;
  const Clock* clock;
  Budget* bytes;         // of the channel; nullptr: none
  Budget* queue_memory;  // of the runtime
  std::uint64_t limit;   // of a key that has none of its own
  std::uint32_t step;    // of the QueueShares
  ZeroLimit zero_limit = ZeroLimit::kRendezvous;
  // The last ttl's; publishes nothing.
  mutable std::atomic<std::uint32_t> last_generation{0};
  // That will send to the channel. Read when all has come to rest; publishes nothing.
  mutable std::atomic<std::uint32_t> timers{0};
};

// What became of messages that were offered.
enum class Offer : std::uint8_t {
  kTaken,
  kAtLimit,
  kNoBytes,
  kNoQueueMemory,
  // Cases of a select only:
  kCompleted,  // another thread has claimed the waiter
};

// On its own cache line: the threads that meet under different keys do not disturb each other.
class alignas(64) Shard final : public WaitPlace {
 public:
  Mutex mu{LockRank::kKeyShard};
  bool closed SHOAL_GUARDED_BY(mu) = false;  // with the whole channel

  // Before all else.
  void Init(const ShardContext& context) { context_ = &context; }

  void Withdraw(WaitNode& node) override SHOAL_EXCLUDES_LOCK(mu);
  [[nodiscard]] bool IsFed() const override { return context_->timers.load() != 0; }

  // --- Keys.

  // Drops what has expired there. nullptr: there is no such key. One that is there may be unused,
  // since a few linger.
  Key* Find(const KeyName& name, std::size_t hash, Aftermath& after) SHOAL_REQUIRES_LOCK(mu) {
    Key* key = keys_.Find(name, hash);
    if (key == nullptr || key->expiry == kNever) return key;
    return FindWithTtl(*key, name, hash, after);
  }
  // nullptr: memory is short. Inlined into its callers, since a send or receive is hardly more.
  [[gnu::always_inline]] Key* FindOrAdd(const KeyName& name, std::size_t hash, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu) {
    if (Key* key = Find(name, hash, after)) return key;
    return keys_.Add(name, hash, context_->limit, context_->channel);
  }
  // For what sends. kClosed, kNoMemory: there is no such key to send to.
  [[gnu::always_inline]] Status FindOpen(const KeyName& name, std::size_t hash, Aftermath& after,
                                         Key** key) SHOAL_REQUIRES_LOCK(mu) {
    if (closed) return Status::kClosed;
    *key = FindOrAdd(name, hash, after);
    if (*key == nullptr) return Status::kNoMemory;
    return (*key)->closed ? Status::kClosed : Status::kOk;
  }
  // Each operation ends with it for each key that it touched.
  void FreeIfUnused(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu) {
    // In the end each key that is used again and again lingers, so that is asked first.
    if (key.lingering == 0 && key.unused(context_->limit)) Retire(key, after);
  }
  [[nodiscard]] bool IsClosed(const Key& key) const SHOAL_REQUIRES_LOCK(mu) {
    return closed || key.closed;
  }
  [[nodiscard]] const KeyTable& keys() const SHOAL_REQUIRES_LOCK(mu) { return keys_; }
  void DropIfExpired(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  void FreeUnused(Aftermath& after) SHOAL_REQUIRES_LOCK(mu);

  // --- Sending.

  // Takes all of `messages` or nothing. `*granted` is a budget that has reserved room for them
  // (nullptr: none); it becomes null when that is used.
  Offer Send(Key& key, MessageList& messages, Budget** granted, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu);
  // The same with what waits in `node`, which is not linked, but whose waiter may be published
  // elsewhere: kTaken after it has been claimed by this thread.
  Offer SendCase(Key& key, WaitNode& node, Budget** granted, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu);
  // Puts them at the end or the head of the FIFO, beyond limit and budgets. Settle next.
  void ForceBack(Key& key, MessageList&& messages) SHOAL_REQUIRES_LOCK(mu);
  void ForceFront(Key& key, MessageList&& messages) SHOAL_REQUIRES_LOCK(mu);
  void Block(Key& key, MessageList& messages, WaitNode& node) SHOAL_REQUIRES_LOCK(mu);

  // --- Receiving.

  [[nodiscard]] bool HasEnough(const Key& key, std::uint32_t min) const SHOAL_REQUIRES_LOCK(mu) {
    return key.messages.count() >= min || (IsClosed(key) && !key.messages.empty());
  }
  // Takes at most `count` from the FIFO. Settle next.
  MessageList Take(Key& key, std::size_t count, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  // The first blocked sender that is not claimed and none of `self` (a select does not meet
  // itself), if what stands and what it brings is enough; else nullptr. Receivers have a `min` of 1
  // or more; senders ask with 0 who is before them.
  WaitNode* BlockedSender(Key& key, std::uint32_t min, const Waiter* self) SHOAL_REQUIRES_LOCK(mu);
  // Claims that sender, together with `self` if that is not null, and takes what stands and what it
  // brings, at most `max`. If it is gone, its node is unlinked: Settle next.
  Waiter::Pair TakeWith(Key& key, WaitNode& sender, Waiter* self, std::uint32_t max,
                        MessageList* messages, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  void Await(Key& key, WaitNode& node) SHOAL_REQUIRES_LOCK(mu);

  // --- Both.

  void DropMessages(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  // Returns the generation. REQUIRES: something stands there.
  std::uint32_t SetExpiry(Key& key, TimePoint at, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  // Restores the invariants of channel.h after the FIFO, the limit or a list of waits has changed:
  // waiting receivers take what stands, blocked senders are let in.
  void Settle(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  // The key has just been closed, alone or with the channel.
  void CompleteForClose(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  // The channel ends: nobody waits, and what stands is dropped.
  void Clear(Aftermath& after) SHOAL_REQUIRES_LOCK(mu);

  // A receive on several keys ends with kClosed when the last of them is closed. The number of keys
  // that are open yet is kept in the first of its nodes, which stand in one array. It lives as long
  // as any of the nodes is linked, so whoever closes a key under which one is may count it down.
  static void SetOpenKeys(WaitNode& first, std::size_t count) { first.need = count; }
  // True for the last one.
  static bool CountClosed(WaitNode& node);

 private:
  static void Unlink(WaitNode& node);
  // Whether senders and receivers may meet under that key.
  [[nodiscard]] bool Meets(const Key& key) const {
    return key.limit != 0 || context_->zero_limit == ZeroLimit::kRendezvous;
  }
  [[gnu::noinline]] static void EndExpiry(Key& key, Aftermath& after);
  [[gnu::noinline]] void Retire(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  [[gnu::noinline]] Key* FindWithTtl(Key& key, const KeyName& name, std::size_t hash,
                                     Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  static bool Suits(const Key& key, const WaitNode& receiver, std::size_t count);
  bool HandOver(Key& key, MessageList& messages, const Waiter* only, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu);
  Offer SendBehind(Key& key, const WaitNode& first, MessageList& messages, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu);
  void Give(Key& key, WaitNode& receiver, MessageList& messages, Aftermath& after)
      SHOAL_REQUIRES_LOCK(mu);
  bool ServeReceivers(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  void AdmitSenders(Key& key, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  Offer Reserve(std::size_t bytes, Budget** granted, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  void Unreserve(std::size_t bytes, Aftermath& after) SHOAL_REQUIRES_LOCK(mu);
  void ReserveAnyway(std::size_t bytes) SHOAL_REQUIRES_LOCK(mu);
  void Enter(Key& key, MessageList&& messages) SHOAL_REQUIRES_LOCK(mu);

  const ShardContext* context_ = nullptr;
  KeyTable keys_ SHOAL_GUARDED_BY(mu);
  QueueShare share_ SHOAL_GUARDED_BY(mu);
};

}  // namespace shoal::core
