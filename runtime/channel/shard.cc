// SPDX-License-Identifier: MIT
#include "runtime/channel/shard.h"

#include <atomic>
#include <utility>

#include "runtime/base/check.h"

namespace shoal::core {

#ifdef NDEBUG
static_assert(sizeof(Shard) == 64);
#endif

void Shard::Withdraw(WaitNode& node) {
  Aftermath after;
  MutexLock lock(mu);
  // Only now it is known whether a claimer has unlinked it meanwhile.
  if (!node.linked()) return;
  Key& key = *static_cast<Key*>(node.key);
  Unlink(node);
  // It may have been the sender that did not fit.
  Settle(key, after);
  FreeIfUnused(key, after);
}

void Shard::Unlink(WaitNode& node) {
  node.Unlink();
  node.key = nullptr;
}

// --- Keys.

Key* Shard::FindWithTtl(Key& key, const KeyName& name, std::size_t hash, Aftermath& after) {
  DropIfExpired(key, after);
  FreeIfUnused(key, after);
  // It may be gone now.
  return keys_.Find(name, hash);
}

void Shard::DropIfExpired(Key& key, Aftermath& after) {
  if (key.expiry == kNever || context_->clock->Now() < key.expiry) return;
  DropMessages(key, after);
  Settle(key, after);
}

void Shard::Retire(Key& key, Aftermath& after) {
  if (Key* dead = keys_.Retire(key, context_->limit, context_->channel)) after.Destroy(dead);
}

void Shard::FreeUnused(Aftermath& after) {
  const std::uint64_t limit = context_->limit;
  after.Destroy(
      keys_.RemoveIf([limit](const Key& key) { return key.unused(limit); }, context_->channel));
}

// --- The FIFO and the budgets.

void Shard::Enter(Key& key, MessageList&& messages) {
  for (Message* message = messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    message->ReleaseSelfReferences(context_->channel);
  }
  key.messages.Append(std::move(messages));
}

Offer Shard::Reserve(std::size_t bytes, Budget** granted, Aftermath& after) {
  Budget* const own = context_->bytes;
  Budget* const shared = context_->queue_memory;
  if (own != nullptr && *granted != own && !own->TryReserve(bytes)) return Offer::kNoBytes;
  if (*granted == shared) {
    share_.AddReserved(bytes);
  } else if (!share_.TryAdd(bytes, *shared, context_->step)) {
    if (own != nullptr && *granted != own) own->Return(bytes, after.wakes);
    return Offer::kNoQueueMemory;
  }
  *granted = nullptr;
  return Offer::kTaken;
}

void Shard::Unreserve(std::size_t bytes, Aftermath& after) {
  if (context_->bytes != nullptr) context_->bytes->Return(bytes, after.wakes);
  share_.Remove(bytes, *context_->queue_memory, context_->step, after.wakes);
}

void Shard::ReserveAnyway(std::size_t bytes) {
  if (context_->bytes != nullptr) context_->bytes->Reserve(bytes);
  share_.Add(bytes, *context_->queue_memory, context_->step);
}

void Shard::ForceBack(Key& key, MessageList&& messages) {
  ReserveAnyway(messages.footprint());
  Enter(key, std::move(messages));
}

void Shard::ForceFront(Key& key, MessageList&& messages) {
  MessageList behind = std::move(key.messages);
  ForceBack(key, std::move(messages));
  key.messages.Append(std::move(behind));
}

MessageList Shard::Take(Key& key, std::size_t count, Aftermath& after) {
  MessageList taken = key.messages.TakeFirst(count);
  for (Message* message = taken.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    message->RestoreSelfReferences(context_->channel);
  }
  Unreserve(taken.footprint(), after);
  if (key.messages.empty() && key.expiry != kNever) EndExpiry(key, after);
  return taken;
}

void Shard::DropMessages(Key& key, Aftermath& after) {
  const std::size_t bytes = key.messages.footprint();
  for (Message* message = key.messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    message->ForgetSelfReferences(context_->channel);
  }
  after.Drop(std::move(key.messages));
  Unreserve(bytes, after);
  if (key.expiry != kNever) EndExpiry(key, after);
}

void Shard::EndExpiry(Key& key, Aftermath& after) {
  key.expiry = kNever;
  after.Drop(std::exchange(key.timer, nullptr));
}

std::uint32_t Shard::SetExpiry(Key& key, TimePoint at, Aftermath& after) {
  SHOAL_DCHECK(!key.messages.empty());
  if (key.expiry != kNever) EndExpiry(key, after);
  key.expiry = at;
  key.generation = 0;
  // 0 is skipped when the count wraps around.
  while (at != kNever && key.generation == 0) {
    key.generation = context_->last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return key.generation;
}

// --- Sending.

Offer Shard::Send(Key& key, MessageList& messages, Budget** granted, Aftermath& after) {
  // A sender that came earlier goes first, also if this one would fit.
  if (!key.senders.empty()) {
    const WaitNode* first = BlockedSender(key, 0, nullptr);
    if (first != nullptr) return SendBehind(key, *first, messages, after);
  }
  if (!key.receivers.empty() && HandOver(key, messages, nullptr, after)) return Offer::kTaken;
  const std::uint64_t standing = key.messages.count();
  if (standing > key.limit || messages.count() > key.limit - standing) return Offer::kAtLimit;
  const Offer offer = Reserve(messages.footprint(), granted, after);
  if (offer == Offer::kTaken) Enter(key, std::move(messages));
  return offer;
}

// The receiver has been claimed and unlinked.
[[gnu::always_inline]] inline void Shard::Give(Key& key, WaitNode& receiver, MessageList& messages,
                                               Aftermath& after) {
  // 1. What stands goes first.
  Waiter& waiter = *receiver.waiter;
  MessageList& received = waiter.messages();
  if (!key.messages.empty()) received = Take(key, receiver.max, after);
  received.AppendFirst(messages, receiver.max - received.count());
  waiter.SetOutcome(Status::kOk, receiver.index);
  after.wakes.Add(waiter);
  // 2. The rest of a batch stands. It is counted even beyond a budget: the receiver is claimed, so
  //    there is no way back.
  if (!messages.empty()) ForceBack(key, std::move(messages));
  if (!key.messages.empty()) Settle(key, after);
}

// A sender waits, and so do receivers only if it cannot meet them: those of the same select. They
// may be met by who comes behind it.
Offer Shard::SendBehind(Key& key, const WaitNode& first, MessageList& messages, Aftermath& after) {
  const bool taken = !key.receivers.empty() && HandOver(key, messages, first.waiter, after);
  return taken ? Offer::kTaken : Offer::kAtLimit;
}

Offer Shard::SendCase(Key& key, WaitNode& node, Budget** granted, Aftermath& after) {
  Waiter& self = *node.waiter;
  MessageList& messages = node.messages;
  const WaitNode* first = key.senders.empty() ? nullptr : BlockedSender(key, 0, nullptr);
  const Waiter* only = first == nullptr ? nullptr : first->waiter;
  // 1. A receiver, but none of this select.
  WaitNode* next = nullptr;
  for (WaitNode* receiver = key.receivers.empty() || !Meets(key) ? nullptr : &key.receivers.front();
       receiver != nullptr; receiver = next) {
    next = key.receivers.Next(*receiver);
    if ((only != nullptr && receiver->waiter != only) || receiver->waiter == &self) continue;
    if (!Suits(key, *receiver, messages.count())) continue;
    const Waiter::Pair pair = Waiter::TryClaimPair(self, *receiver->waiter);
    if (pair == Waiter::Pair::kOwnGone) return Offer::kCompleted;
    Unlink(*receiver);
    if (pair == Waiter::Pair::kOtherGone) continue;
    Give(key, *receiver, messages, after);
    return Offer::kTaken;
  }
  // 2. Room, as in Send.
  if (first != nullptr) return Offer::kAtLimit;
  const std::uint64_t standing = key.messages.count();
  if (standing > key.limit || messages.count() > key.limit - standing) return Offer::kAtLimit;
  const std::size_t bytes = messages.footprint();
  const Offer offer = Reserve(bytes, granted, after);
  if (offer != Offer::kTaken) return offer;
  if (!self.TryClaim()) {
    Unreserve(bytes, after);
    return Offer::kCompleted;
  }
  Enter(key, std::move(messages));
  return Offer::kTaken;
}

// Whether so many messages behind what stands are enough for `receiver`, and the rest can stand.
bool Shard::Suits(const Key& key, const WaitNode& receiver, std::size_t count) {
  const std::size_t total = key.messages.count() + count;
  if (total < receiver.min) return false;
  return total <= receiver.max || total - receiver.max <= key.limit;
}

// Gives `messages`, behind what stands, to the first receiver for whom that is enough; to those of
// the waiter `only`, if it is not null. True if one was claimed; what it did not take stands in the
// FIFO, and others have been served from there.
bool Shard::HandOver(Key& key, MessageList& messages, const Waiter* only, Aftermath& after) {
  if (!Meets(key)) return false;
  WaitNode* next = nullptr;
  for (WaitNode* node = key.receivers.empty() ? nullptr : &key.receivers.front(); node != nullptr;
       node = next) {
    next = key.receivers.Next(*node);
    if (only != nullptr && node->waiter != only) continue;
    if (!Suits(key, *node, messages.count())) continue;
    Unlink(*node);
    // Only if it can be claimed the messages are taken.
    if (!node->waiter->TryClaim()) continue;
    Give(key, *node, messages, after);
    return true;
  }
  return false;
}

void Shard::Block(Key& key, MessageList& messages, WaitNode& node) {
  if (&node.messages != &messages) node.messages = std::move(messages);
  node.place = this;
  node.key = &key;
  key.senders.PushBack(node);
}

// Lets blocked senders in, in their order, while there is room.
void Shard::AdmitSenders(Key& key, Aftermath& after) {
  while (!key.senders.empty()) {
    WaitNode* node = &key.senders.front();
    const std::uint64_t standing = key.messages.count();
    const bool fits = standing <= key.limit && node->messages.count() <= key.limit - standing;
    if (!fits && !node->waiter->claimed()) return;
    Unlink(*node);
    if (!node->waiter->TryClaim()) continue;
    Budget* granted = nullptr;
    const Offer offer = Reserve(node->messages.footprint(), &granted, after);
    if (offer == Offer::kTaken) Enter(key, std::move(node->messages));
    // Without room in a budget it tries again, and waits for the budget then.
    node->waiter->SetOutcome(offer == Offer::kTaken ? Status::kOk : Status::kFull, node->index);
    after.wakes.Add(*node->waiter);
  }
}

// --- Receiving.

WaitNode* Shard::BlockedSender(Key& key, std::uint32_t min, const Waiter* self) {
  if (min > 0 && !Meets(key)) return nullptr;
  WaitNode* node = key.senders.empty() ? nullptr : &key.senders.front();
  // A claimed one stays in the list: when its owner takes it back, those behind it are let in.
  while (node != nullptr && (node->waiter->claimed() || node->waiter == self)) {
    node = key.senders.Next(*node);
  }
  if (node == nullptr || key.messages.count() + node->messages.count() < min) return nullptr;
  return node;
}

Waiter::Pair Shard::TakeWith(Key& key, WaitNode& sender, Waiter* self, std::uint32_t max,
                             MessageList* messages, Aftermath& after) {
  Waiter::Pair pair = Waiter::Pair::kOtherGone;
  if (self != nullptr) {
    pair = Waiter::TryClaimPair(*self, *sender.waiter);
    if (pair == Waiter::Pair::kOwnGone) return pair;
  } else if (sender.waiter->TryClaim()) {
    pair = Waiter::Pair::kClaimed;
  }
  Unlink(sender);
  if (pair == Waiter::Pair::kOtherGone) return pair;
  *messages = Take(key, max, after);
  messages->AppendFirst(sender.messages, max - messages->count());
  if (!sender.messages.empty()) ForceBack(key, std::move(sender.messages));
  sender.waiter->SetOutcome(Status::kOk, sender.index);
  after.wakes.Add(*sender.waiter);
  return pair;
}

void Shard::Await(Key& key, WaitNode& node) {
  node.place = this;
  node.key = &key;
  key.receivers.PushBack(node);
}

// Gives what stands to the receivers for whom it is enough, in their order. True if it took
// something.
bool Shard::ServeReceivers(Key& key, Aftermath& after) {
  bool served = false;
  WaitNode* next = nullptr;
  for (WaitNode* node = key.receivers.empty() ? nullptr : &key.receivers.front();
       node != nullptr && !key.messages.empty(); node = next) {
    next = key.receivers.Next(*node);
    if (!HasEnough(key, node->min)) continue;
    Unlink(*node);
    Waiter& waiter = *node->waiter;
    if (!waiter.TryClaim()) continue;
    waiter.messages() = Take(key, node->max, after);
    waiter.SetOutcome(Status::kOk, node->index);
    after.wakes.Add(waiter);
    served = true;
  }
  return served;
}

// --- Both.

void Shard::Settle(Key& key, Aftermath& after) {
  // Receivers make room for senders, and those bring messages for receivers.
  do {
    if (!key.senders.empty()) AdmitSenders(key, after);
  } while (!key.receivers.empty() && ServeReceivers(key, after));
}

bool Shard::CountClosed(WaitNode& node) {
  WaitNode& first = *(&node - node.offset);
  // acq_rel: of all who count, the last one completes the wait.
  return std::atomic_ref<std::size_t>(first.need).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Shard::CompleteForClose(Key& key, Aftermath& after) {
  // 1. Senders get their messages back: these stay in their nodes.
  while (!key.senders.empty()) {
    WaitNode& node = key.senders.front();
    Unlink(node);
    if (!node.waiter->TryClaim()) continue;
    node.waiter->SetOutcome(Status::kClosed, node.index);
    after.wakes.Add(*node.waiter);
  }
  // 2. What is left is enough now.
  ServeReceivers(key, after);
  // 3. The others end, unless they wait for other keys too. Then their nodes stay, for the case of
  //    a PutBack.
  WaitNode* next = nullptr;
  for (WaitNode* node = key.receivers.empty() ? nullptr : &key.receivers.front(); node != nullptr;
       node = next) {
    next = key.receivers.Next(*node);
    if (!CountClosed(*node)) continue;
    Unlink(*node);
    if (!node->waiter->TryClaim()) continue;
    node->waiter->SetOutcome(Status::kClosed, node->index);
    after.wakes.Add(*node->waiter);
  }
}

void Shard::Clear(Aftermath& after) {
  for (std::size_t i = 0; i < keys_.slots(); ++i) {
    Key* key = keys_.at(i);
    if (key == nullptr) continue;
    SHOAL_DCHECK(key->receivers.empty() && key->senders.empty());
    DropMessages(*key, after);
  }
  after.Destroy(keys_.RemoveIf([](const Key&) { return true; }, context_->channel));
}

}  // namespace shoal::core
