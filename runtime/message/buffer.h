// SPDX-License-Identifier: MIT
// A Buffer is immutable bytes that processes share: a message holds a reference, and nobody copies
// what it refers to. A slice is a Buffer of its own, which keeps the memory of the whole.
//
// Threads:   any, once it is filled; its maker alone before that.
// Ownership: shared by handles, messages and slices.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/base/ref_counted.h"

namespace shoal::core {

// Its own bytes are aligned as those of malloc.
class alignas(std::max_align_t) Buffer final : public RefCounted {
 public:
  // `size` bytes, which the maker writes to room() before anybody else sees the buffer. Null if
  // memory is short.
  static Ref<Buffer> New(std::size_t size);
  [[nodiscard]] std::byte* room() { return reinterpret_cast<std::byte*>(this + 1); }

  // Bytes that stand elsewhere, and stay there as they are until `owner` goes. Null if memory is
  // short.
  static Ref<Buffer> View(std::span<const std::byte> bytes, Ref<RefCounted> owner);

  // `size` bytes of it from `offset` on: itself if these are all. Null if memory is short.
  // REQUIRES: they are in it.
  [[nodiscard]] Ref<Buffer> Slice(std::size_t offset, std::size_t size);

  [[nodiscard]] std::span<const std::byte> bytes() const { return {first_, size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Its block is larger than the object: it goes back to where New has it from.
  static void operator delete(void* block);  // NOLINT(misc-new-delete-overloads): malloc

 private:
  Buffer(const std::byte* first, std::size_t size, Ref<RefCounted> owner);
  ~Buffer() override = default;

  const std::byte* const first_;
  const std::size_t size_;
  const Ref<RefCounted> owner_;  // of the bytes; null: they stand behind this object
};

}  // namespace shoal::core
