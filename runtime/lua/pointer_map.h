// SPDX-License-Identifier: MIT
// PointerMap maps addresses to numbers; clearing it costs nothing.
//
// Threads: no locking; that of its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace shoal::core {

// Open addressing with linear probing; entries of an older stamp are empty.
class PointerMap {
 public:
  PointerMap() = default;
  PointerMap(const PointerMap&) = delete;
  PointerMap& operator=(const PointerMap&) = delete;
  ~PointerMap() { std::free(entries_); }

  // The value of `key`; if there is none, it becomes `value` and `is_new` is set. The pointer is
  // valid till the next Insert; nullptr if memory is short.
  [[nodiscard]] std::size_t* Insert(const void* key, std::size_t value, bool& is_new) {
    if (count_ * 2 >= capacity_ && !Grow()) return nullptr;
    Entry* const entry = Find(key);
    is_new = entry->stamp != stamp_;
    if (is_new) {
      *entry = {key, value, stamp_};
      ++count_;
    }
    return &entry->value;
  }

  [[nodiscard]] bool Contains(const void* key) { return count_ != 0 && Find(key)->stamp == stamp_; }

  void Clear() {
    if (count_ == 0) return;
    count_ = 0;
    ++stamp_;
  }
  void Free() {
    std::free(entries_);
    entries_ = nullptr;
    count_ = capacity_ = 0;
  }
  [[nodiscard]] std::size_t memory() const { return capacity_ * sizeof(Entry); }

 private:
  struct Entry {
    const void* key;
    std::size_t value;
    std::uint64_t stamp;
  };

  // The entry of `key`, or the empty one where it belongs. REQUIRES: there is an empty one.
  [[nodiscard]] Entry* Find(const void* key) {
    // Objects of Lua are aligned to 16 bytes; the multiplication spreads the rest (Fibonacci).
    const std::uint64_t hash = (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9E3779B97F4A7C15U;
    std::size_t i = static_cast<std::size_t>(hash >> 32) & (capacity_ - 1);
    while (entries_[i].stamp == stamp_ && entries_[i].key != key) i = (i + 1) & (capacity_ - 1);
    return &entries_[i];
  }

  bool Grow() {
    constexpr std::size_t kFirst = 32;
    const std::size_t old_capacity = capacity_;
    const std::size_t capacity = old_capacity == 0 ? kFirst : old_capacity * 2;
    auto* const entries = static_cast<Entry*>(std::calloc(capacity, sizeof(Entry)));
    if (entries == nullptr) return false;
    Entry* const old = entries_;
    entries_ = entries;
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].stamp == stamp_) *Find(old[i].key) = old[i];
    }
    std::free(old);
    return true;
  }

  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t count_ = 0;
  std::uint64_t stamp_ = 1;
};

}  // namespace shoal::core
