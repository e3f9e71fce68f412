// SPDX-License-Identifier: MIT
// A Channel is a store of message FIFOs, one for each key.
//
// Invariants, each under its shard's lock:
//   - a key holds fewer messages than any of its waiting receivers asks for;
//   - a key with blocked senders is at its limit, or the first sender's messages do not fit;
//   - messages enter a FIFO in the order of their sends; a blocked sender's when it is let in,
//     in the order in which the senders came;
//   - a key without messages, waiters, blocked senders, own limit, ttl and mark of being closed
//     does not exist, or is one of the few that linger in each shard: 10 million keys used once
//     leave no more memory behind than that.
// A claimed waiter's other nodes may still stand in lists: whoever meets one passes it over.
//
// Threads:   any thread may call any member.
// Ownership: shared by its handles, by messages and by waits; a message in a FIFO is the channel's.
// Locks:     the shard's (kKeyShard). Keys of one shard share it: one lock for look-up and list
//            work together was faster than one for each (tests/bench), and no key outlives its use.
//            Two shards are never locked together. Waiters are claimed under it and notified after.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/channel/budget.h"
#include "runtime/channel/key_name.h"
#include "runtime/channel/shard.h"
#include "runtime/message/message.h"
#include "runtime/message/number.h"
#include "runtime/wait/select.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class ChannelRegistry;
struct RegistryTag {};

class Channel final : public RefCounted, public ListLink<RegistryTag> {
 public:
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  struct Options {
    std::uint64_t limit = kNoLimit;          // messages for each key
    std::size_t bytes = Budget::kUnlimited;  // of all that stands in the channel
    ZeroLimit zero_limit = ZeroLimit::kRendezvous;
  };

  // --- Sending. `messages` is one message, or a batch that goes in whole or not at all; it is
  // --- moved from exactly if the result is kOk (or, for SendOrWait, kPending).

  // kOk; kFull at the key's limit or a budget's; kClosed; kNoMemory.
  Status Send(const KeyName& key, MessageList& messages);

  // As Send, but where that returns kFull it publishes `node` (with node.waiter open) and returns
  // kPending. The waiter completes with:
  //   kOk      the messages were taken in (node.messages is empty), or
  //   kFull    look again, for a budget has room now and it is reserved for this sender (or the
  //            channel was closed): call SendOrWait with node.messages and the same node, which
  //            uses the reservation or gives it back,
  //   kClosed  node.messages holds them again.
  // After any other completion (timeout, cancel) the owner withdraws the node and calls
  // AbandonSend, which gives back a reservation. kNoMemory: nothing was sent.
  Status SendOrWait(const KeyName& key, MessageList& messages, WaitNode& node);
  void AbandonSend(WaitNode& node);

  // Appends `messages` regardless of the limit and of budgets; waiting receivers take from it. kOk,
  // kClosed, kNoMemory. kCancelled: `withdrawn` had been set; nothing was sent. It is read under
  // the lock under which messages are found, so who sets it finds all that was sent: what is not
  // there at his next look never comes.
  Status SendAnyway(const KeyName& key, MessageList& messages,
                    const std::atomic<bool>* withdrawn = nullptr);

  // Drops what stands under `key` and puts `messages` there (none: just clears), regardless of the
  // limit; waiting receivers take from it; blocked senders are let in where there is room. Ends a
  // ttl. kOk, kClosed, kNoMemory.
  Status Replace(const KeyName& key, MessageList& messages);
  // kOk if nothing stood there, kExists otherwise; kClosed; kNoMemory. Regardless of the limit.
  Status SendIfEmpty(const KeyName& key, MessageList& messages);
  // Adds `by` to the one number that stands there (nothing: 0), keeping a ttl; a waiting receiver
  // takes the result. If nothing stood there, `ttl_if_new` (if not kNever) is set as by Expire.
  // kOk with `result` and `generation` (0: no ttl was set), kNotNumber, kClosed, kNoMemory.
  Status Increment(const KeyName& key, const Number& by, TimePoint ttl_if_new, Number* result,
                   std::uint32_t* generation);
  // Puts messages that could not be used back at the head of the key, also when it is closed or
  // full; a waiting receiver takes them. If there is no memory for the key they are dropped.
  void PutBack(const KeyName& key, MessageList& messages);

  // --- Receiving.

  // Takes `min` to `max` messages. kOk; kEmpty; kClosed (fewer than min, and closed; what is left
  // under a closed key counts as enough).
  Status Receive(const KeyName& key, std::uint32_t min, std::uint32_t max, MessageList* messages);

  // From the first of `keys` that has enough; `index` says which. If none has, publishes `nodes`
  // (one for each key, node.min and node.max set) for `waiter` and returns kPending; then the
  // waiter completes with kOk, index and messages, or kClosed when all keys are closed and empty.
  // Opens `waiter` itself, and sets waiter and index of the nodes. When it returns anything but
  // kPending, no node is published. A blocked sender that it meets is claimed together with this
  // waiter. kNoMemory.
  Status ReceiveOrWait(std::span<const KeyName> keys, std::span<WaitNode> nodes, Waiter& waiter,
                       MessageList* messages, std::uint32_t* index);
  // The same with one key.
  Status ReceiveOrWait(const KeyName& key, WaitNode& node, Waiter& waiter, MessageList* messages);

  // --- Cases of a select (select_case.h), as Publish there. Received are node.min to node.max
  // messages, into
  // --- the messages of the node's waiter; sent are those in the node, which holds them until then.

  Attempt PublishReceive(const KeyName& key, WaitNode& node);
  // The waiter completes as for SendOrWait; after kFull, FinishSend.
  Attempt PublishSend(const KeyName& key, WaitNode& node);
  // The node is withdrawn: as Send, with room that is reserved for it, or gives that back.
  Status FinishSend(const KeyName& key, WaitNode& node);

  // --- Looking.

  // Calls `visit` for the oldest messages, at most `count`, oldest first, under the lock: it must
  // only copy bytes. Blocked senders are not seen.
  void Peek(const KeyName& key, std::size_t count,
            const std::function<void(const Message&)>& visit);
  std::size_t Count(const KeyName& key);
  std::vector<StoredKeyName> Keys();  // those under which messages stand, in no order

  // --- Properties.

  std::uint64_t Limit(const KeyName& key);
  // Returns what it was (and stays, if memory is short); blocked senders are let in where there is
  // room now. kNoLimit: none.
  std::uint64_t SetLimit(const KeyName& key, std::uint64_t limit);
  // What stands there is dropped at `at`. kNotFound if nothing stands there. The ttl ends when the
  // key empties. Each access honours it; ExpireNow also frees the memory when nobody looks.
  Status Expire(const KeyName& key, TimePoint at, std::uint32_t* generation);
  // `timer`, which calls ExpireNow at that time, belongs to the ttl of `generation` from now on: it
  // is dropped when that ends. False: that has ended already, and the timer is still the caller's.
  [[nodiscard]] bool KeepTimer(const KeyName& key, std::uint32_t generation, TtlTimer& timer);
  // kNever: no ttl.
  TimePoint ExpiryOf(const KeyName& key);
  // Drops what stands there if its ttl is still the one of that generation and has passed.
  void ExpireNow(const KeyName& key, std::uint32_t generation);

  // --- The end. What was sent is still received; senders and receivers of nothing get kClosed.
  // Waiting receivers and blocked senders complete with kClosed; those that wait for a budget with
  // kFull, and SendOrWait then says kClosed. Idempotent.
  void Close();
  void CloseKey(const KeyName& key);
  // relaxed: a hint.
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_relaxed); }

  // A timer that holds a reference will send here: who waits here does not wait in vain.
  void AddTimer() { context_.timers.fetch_add(1); }
  // It will not, and is about to release its reference. True: it was the last.
  bool RemoveTimer() { return context_.timers.fetch_sub(1) == 1; }
  // Only timers refer to the channel, and nobody can find it any more: what they send is lost. For
  // one of them.
  [[nodiscard]] bool IsForgotten() const {
    return name_.empty() && references() == context_.timers.load();
  }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // empty: none
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  friend class ChannelRegistry;
  static constexpr int kShardBits = 3;
  static constexpr std::size_t kShards = std::size_t{1} << kShardBits;

  Channel(ChannelRegistry& registry, std::uint64_t id, std::string name, const Options& options);
  ~Channel() override;

  // The low bits of a hash choose the slot in the table of a shard, the high ones the shard.
  Shard& ShardOf(std::size_t hash) const { return shards_[hash >> (64 - kShardBits)]; }
  Status SendOnce(const KeyName& key, MessageList& messages, WaitNode* node, Budget** granted,
                  Budget** wanted);
  Attempt Publish(const KeyName& key, WaitNode& node, MessageList* messages);
  Attempt OfferCase(const KeyName& key, WaitNode& node, Budget** granted, Budget** wanted);
  Budget* GrantOf(WaitNode& node);
  bool IsClosed(const KeyName& key);
  void DropAll();

  ChannelRegistry& registry_;
  const std::uint64_t id_;
  const std::string name_;
  const Options options_;
  Budget bytes_;
  const ShardContext context_;
  const std::unique_ptr<Shard[]> shards_;
  // A hint for closed(); what counts is the mark in each shard.
  std::atomic<bool> closed_{false};
};

// The channels of a runtime: gives ids, finds names, closes all at the end.
//
// Threads: any thread may call any member.
// Locks:   mu_ (kChannelRegistry). It points to channels without keeping them.
class ChannelRegistry {
 public:
  // `queue_memory` bounds what stands in all channels together; `defaults` are the options of those
  // that are opened without any.
  ChannelRegistry(const Clock& clock, std::size_t queue_memory,
                  const Channel::Options& defaults = {});
  // Drops what stands in channels that keep each other alive. REQUIRES: no handle is left, and
  // nobody waits.
  ~ChannelRegistry();

  // Null if memory is short.
  Ref<Channel> Make(const Channel::Options& options);
  // The channel of that name, got or made. kExists: there is one with another limit or bytes
  // (unless `options` is nullptr: then any will do). kNoMemory.
  Status Open(const std::string& name, const Channel::Options* options, Ref<Channel>* channel);
  Ref<Channel> Find(const std::string& name);  // null if none
  void CloseAll();
  [[nodiscard]] const Channel::Options& defaults() const { return defaults_; }
  [[nodiscard]] Budget& queue_memory() { return queue_memory_; }

 private:
  friend class Channel;
  Ref<Channel> New(const std::string& name, const Channel::Options& options);
  // Lists a named channel; returns the one that was first.
  Ref<Channel> Enter(const Ref<Channel>& made) SHOAL_EXCLUDES_LOCK(mu_);
  Ref<Channel> FindLocked(const std::string& name) SHOAL_REQUIRES_LOCK(mu_);
  void Remove(Channel& channel) SHOAL_EXCLUDES_LOCK(mu_);  // from its destructor
  // The channel behind `previous` (nullptr: the first), to walk through all without the lock.
  Ref<Channel> After(Channel* previous) SHOAL_EXCLUDES_LOCK(mu_);

  const Clock& clock_;
  const Channel::Options defaults_;
  Budget queue_memory_;
  std::atomic<std::uint64_t> last_id_{0};  // publishes nothing
  Mutex mu_{LockRank::kChannelRegistry};
  List<Channel, RegistryTag> channels_ SHOAL_GUARDED_BY(mu_);
  std::unordered_map<std::string_view, Channel*> names_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::core
