// SPDX-License-Identifier: MIT
#include "runtime/channel/key_table.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/base/check.h"

namespace shoal::core {

namespace {

// Makes `key` stand for a copy of `name`. False if memory is short.
bool SetName(Key& key, const KeyName& name, const RefCounted* owner) {
  key.name = name;
  if (name.text.size() > Key::kInlineText) {
    auto* copy = static_cast<char*>(std::malloc(name.text.size()));
    if (copy == nullptr) return false;
    std::memcpy(copy, name.text.data(), name.text.size());
    key.name.text = {copy, name.text.size()};
  } else if (!name.text.empty()) {
    std::memcpy(key.inline_text, name.text.data(), name.text.size());
    key.name.text = {key.inline_text, name.text.size()};
  }
  if (name.handle != nullptr && name.handle != owner) name.handle->AddRef();
  return true;
}

bool OwnsText(const Key& key) { return key.name.text.size() > Key::kInlineText; }

}  // namespace

KeyTable::~KeyTable() {
  SHOAL_DCHECK(count_ == 0);
  std::free(slots_);
}

Key* KeyTable::Add(const KeyName& name, std::size_t hash, std::uint64_t limit,
                   const RefCounted* owner) {
  Key* key = TakeLingering(limit);
  if (key == nullptr) key = new (std::nothrow) Key;
  if (key == nullptr) return nullptr;
  // At most three quarters full.
  const bool full = slots_ == nullptr || count_ >= mask_ - mask_ / 4;
  if ((full && !Resize(slots_ == nullptr ? kFirstSlots : 2 * slots())) ||
      !SetName(*key, name, owner)) {
    delete key;
    return nullptr;
  }
  key->hash = hash;
  key->limit = limit;
  std::size_t i = hash & mask_;
  while (slots_[i].key != nullptr) i = (i + 1) & mask_;
  slots_[i] = {hash, key};
  ++count_;
  return key;
}

Key* KeyTable::RetireNew(Key& key, std::uint64_t limit, const RefCounted* owner) {
  const auto count = [this] { return lingering_ == nullptr ? 0 : lingering_->lingering; };
  // One that is used again makes room.
  if (count() == kMaxLingering && !lingering_->unused(limit)) PopLingering();
  if (count() < kMaxLingering && !OwnsText(key) && key.name.handle == nullptr) {
    key.lingering = static_cast<std::uint8_t>(count() + 1);
    key.next = lingering_;
    lingering_ = &key;
    return nullptr;
  }
  TakeOut(key);
  ShrinkIfSparse();
  ForgetOwner(key, owner);
  return &key;
}

Key& KeyTable::PopLingering() {
  Key& key = *lingering_;
  lingering_ = std::exchange(key.next, nullptr);
  key.lingering = 0;
  return key;
}

Key* KeyTable::TakeLingering(std::uint64_t limit) {
  while (lingering_ != nullptr) {
    Key& key = PopLingering();
    if (!key.unused(limit)) continue;
    TakeOut(key);
    key.generation = 0;
    return &key;
  }
  return nullptr;
}

void KeyTable::TakeOut(const Key& key) {
  std::size_t i = key.hash & mask_;
  while (slots_[i].key != &key) i = (i + 1) & mask_;
  RemoveFrom(i);
}

void KeyTable::Destroy(Key* key) {
  if (OwnsText(*key)) std::free(const_cast<char*>(key->name.text.data()));
  RefCounted* handle = key->name.handle;
  delete key;
  if (handle != nullptr) handle->Release();
}

void KeyTable::RemoveFrom(std::size_t slot) {
  // Each key behind the gap, up to the next free slot, moves into the gap if its own place is not
  // between the two (cyclically): then the search for it still meets no free slot.
  std::size_t gap = slot;
  for (std::size_t i = (gap + 1) & mask_; slots_[i].key != nullptr; i = (i + 1) & mask_) {
    const std::size_t distance_to_home = (i - slots_[i].hash) & mask_;
    const std::size_t distance_to_gap = (i - gap) & mask_;
    if (distance_to_home < distance_to_gap) continue;
    slots_[gap] = slots_[i];
    gap = i;
  }
  slots_[gap] = {};
  --count_;
}

bool KeyTable::Resize(std::size_t size) {
  if (size - 1 > UINT32_MAX) return false;
  auto* fresh = static_cast<Slot*>(std::calloc(size, sizeof(Slot)));
  if (fresh == nullptr) return false;
  const std::size_t mask = size - 1;
  for (std::size_t old = 0; old < slots(); ++old) {
    if (slots_[old].key == nullptr) continue;
    std::size_t i = slots_[old].hash & mask;
    while (fresh[i].key != nullptr) i = (i + 1) & mask;
    fresh[i] = slots_[old];
  }
  std::free(std::exchange(slots_, fresh));
  mask_ = static_cast<std::uint32_t>(mask);
  return true;
}

void KeyTable::ShrinkIfSparse() {
  // Half as full as after growing, so that a few keys more or less do not make it swing.
  if (slots() <= 8 * kFirstSlots || count_ >= slots() / 8) return;
  // If memory is short it stays large.
  if (!Resize(slots() / 2)) return;
}

}  // namespace shoal::core
