// SPDX-License-Identifier: MIT
// Key is one FIFO of a channel with those who wait at it; KeyTable finds the keys of a shard.
//
// Threads: none of its own; the shard's lock guards the table and the keys in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/channel/key_name.h"
#include "runtime/message/message.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

// TtlTimer is what a layer above has armed for the end of a ttl (Channel::KeepTimer).
//
// Threads: Drop by the thread that has taken it out of its key, once, without a lock.
class TtlTimer {
 public:
  // The key does not need it any more: the ttl has ended, or is another one.
  virtual void Drop() = 0;

 protected:
  virtual ~TtlTimer() = default;

 private:
  friend class Aftermath;
  TtlTimer* next_ = nullptr;
};

struct Key {
  KeyName name;  // its text and handle are the key's own
  std::size_t hash = 0;
  Key* next = nullptr;      // in the list of a table's lingering keys, or of those in no table
  std::uint64_t limit = 0;  // messages
  MessageList messages;     // the FIFO
  List<WaitNode, WaitTag> receivers;
  List<WaitNode, WaitTag> senders;  // blocked; each node's messages wait with it
  TimePoint expiry = kNever;        // of what stands in the FIFO; kNever whenever that is empty
  std::uint32_t generation = 0;     // of the expiry; 0: none
  TtlTimer* timer = nullptr;        // for the expiry; nullptr whenever there is none
  bool closed = false;
  std::uint8_t lingering = 0;  // how many linger from it on in that list; 0: not in it

  static constexpr std::size_t kInlineText = 24;
  char inline_text[kInlineText];

  [[nodiscard]] bool unused(std::uint64_t default_limit) const {
    return messages.empty() && receivers.empty() && senders.empty() && !closed &&
           limit == default_limit;
  }
};

// Open addressing with linear probing; a removal moves the rest of the cluster up, so there are no
// tombstones and a table that is used for ever does not decay.
//
// A few keys that are no longer used linger under their names: who waits under a key again and
// again finds it, instead of adding and removing it each time. A lingering key that is found is
// used like any other, and stays in the list; it is only when Add or Retire come to it that they
// see whether it is unused still. Such keys hold nothing but their own memory.
class KeyTable {
 public:
  KeyTable() = default;
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;
  ~KeyTable();

  [[nodiscard]] Key* Find(const KeyName& name, std::size_t hash) const {
    if (count_ == 0) return nullptr;
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.key == nullptr) return nullptr;
      if (slot.hash == hash && slot.key->name == name) return slot.key;
    }
  }

  // Adds a key, in the place of one that lingers if there is any. `limit` is the one of keys that
  // have none of their own. `owner` is the channel: a handle of it is not counted. nullptr if
  // memory is short. REQUIRES: Find returned nullptr.
  Key* Add(const KeyName& name, std::size_t hash, std::uint64_t limit, const RefCounted* owner);

  // `key` has become unused. Returns nullptr if it lingers; else it was taken out, and the caller
  // must pass it to Destroy once it has unlocked, since that frees memory or drops a handle.
  [[nodiscard]] Key* Retire(Key& key, std::uint64_t limit, const RefCounted* owner) {
    return key.lingering != 0 ? nullptr : RetireNew(key, limit, owner);
  }
  static void Destroy(Key* key);

  // All keys are at(i) of i < slots() that are not null. Adding and removing keys moves them.
  [[nodiscard]] std::size_t slots() const { return slots_ == nullptr ? 0 : std::size_t{mask_} + 1; }
  [[nodiscard]] Key* at(std::size_t slot) const { return slots_[slot].key; }

  // Removes the keys for which `useless(const Key&)` holds, and returns them for the caller to
  // Destroy, linked by `next`.
  template <class Predicate>
  [[nodiscard]] Key* RemoveIf(Predicate useless, const RefCounted* owner) {
    while (lingering_ != nullptr) PopLingering();
    Key* removed = nullptr;
    // The table is made smaller only when the loop is over.
    for (std::size_t i = 0; i < slots();) {
      Key* key = slots_[i].key;
      if (key == nullptr || !useless(*key)) {
        ++i;
        continue;
      }
      // Slot i is looked at again: the removal may have moved another key here.
      RemoveFrom(i);
      ForgetOwner(*key, owner);
      key->next = removed;
      removed = key;
    }
    ShrinkIfSparse();
    return removed;
  }

 private:
  struct Slot {
    std::size_t hash;
    Key* key;  // nullptr: free
  };
  static constexpr std::uint32_t kFirstSlots = 8;
  // As many as a few tasks take and leave by turns, and the first table holds.
  static constexpr std::uint8_t kMaxLingering = 6;

  // Its handle is not counted, so Destroy must not drop it.
  static void ForgetOwner(Key& key, const RefCounted* owner) {
    if (key.name.handle == owner) key.name.handle = nullptr;
  }
  [[nodiscard]] Key* RetireNew(Key& key, std::uint64_t limit, const RefCounted* owner);
  // Takes the last that came out of the list. REQUIRES: there is one.
  Key& PopLingering();
  // Takes one that is unused out of list and table; nullptr if there is none.
  Key* TakeLingering(std::uint64_t limit);
  void TakeOut(const Key& key);
  void RemoveFrom(std::size_t slot);
  [[nodiscard]] bool Resize(std::size_t size);
  void ShrinkIfSparse();

  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;    // number of slots - 1
  std::uint32_t count_ = 0;   // keys
  Key* lingering_ = nullptr;  // linked by `next`, the last that came first
};

}  // namespace shoal::core
