// SPDX-License-Identifier: MIT
// The object; lanes_linda_handle.cc, lanes_linda_wait.cc and lanes_linda_store.cc have the rest.
#include "bindings/lua/lanes_linda.h"

namespace shoal::bindings {

using core::KeyName;
using core::MutexLock;
using core::StoredKeyName;

void Linda::Cancel(CancelHint hint) {
  std::uint64_t state = state_.load();
  if (hint == CancelHint::kNone) {
    while ((state & 1) != 0 && !state_.compare_exchange_weak(state, state + 1)) continue;
    return;
  }
  state = state_.fetch_or(1);
  const std::uint64_t generation = state >> 1;
  if (hint != CancelHint::kWrite) control_->CloseKey(KeyOf(generation, Wait::kRead));
  if (hint != CancelHint::kRead) control_->CloseKey(KeyOf(generation, Wait::kWrite));
}

void Linda::Note(const KeyName& key) {
  const MutexLock lock(mu_);
  if (notes_.find(key) != notes_.end() || notes_.size() >= kMostNotes) return;
  notes_.emplace(StoredKeyName(key), Restriction::kNone);
}

bool Linda::IsNoted(const KeyName& key) {
  const MutexLock lock(mu_);
  return notes_.find(key) != notes_.end();
}

std::vector<StoredKeyName> Linda::Keys() {
  std::vector<StoredKeyName> all = channel_->Keys();
  const MutexLock lock(mu_);
  for (const auto& [name, restriction] : notes_) all.push_back(name);
  return all;
}

Restriction Linda::restriction(const KeyName& key) {
  // relaxed: who restricts a key and then tells another thread does so by what orders it.
  if (!restricts_.load(std::memory_order_relaxed)) return Restriction::kNone;
  const MutexLock lock(mu_);
  const auto found = notes_.find(key);
  return found == notes_.end() ? Restriction::kNone : found->second;
}

void Linda::Restrict(const KeyName& key, Restriction restriction) {
  const MutexLock lock(mu_);
  notes_.insert_or_assign(StoredKeyName(key), restriction);
  restricts_.store(true, std::memory_order_relaxed);
}

}  // namespace shoal::bindings
