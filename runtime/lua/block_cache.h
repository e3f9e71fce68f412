// SPDX-License-Identifier: MIT
// A BlockCache keeps the small blocks that a state frees, for what it makes next: garbage is freed
// in great numbers at a time and soon asked for again, and on threads other than the main one,
// malloc and free take three times as many instructions as a list.
//
// Blocks come from malloc, in sizes that its blocks have anyway, and go back there with Drop.
//
// Threads:   the one that runs the state.
// Ownership: what stands in it; the state has what was taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define SHOAL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHOAL_ADDRESS_SANITIZER 1
#endif
#endif

namespace shoal::core {

class BlockCache {
 public:
  // The largest block that is kept.
  static constexpr std::size_t kMost = 264;

  BlockCache() = default;
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  ~BlockCache() { Drop(); }

  // What a block for `size` bytes holds: that of the next class, up to kMost.
  static constexpr std::size_t Rounded(std::size_t size) {
    return size > kMost ? size : ClassOf(size) * kStep + kFirst;
  }
  // A block of Rounded(size) bytes. nullptr if memory is short. REQUIRES: size > 0.
  [[gnu::always_inline]] void* Take(std::size_t size) {
    if (size <= kMost) {
      FreeBlock*& first = free_[ClassOf(size)];
      size = Rounded(size);
      if (FreeBlock* const block = first) {
        first = block->next;
        bytes_ -= size;
        return block;
      }
    }
    return std::malloc(size);
  }
  // Takes a block of Rounded(size) bytes back. What is kept is not more than `bound` bytes in all:
  // a share of what the state uses, so that one which waits does not hold much for nothing.
  [[gnu::always_inline]] void Keep(void* block, std::size_t size, std::size_t bound) {
    if (!kKeeps || size > kMost || bytes_ + kMost > bound) return std::free(block);
    FreeBlock*& first = free_[ClassOf(size)];
    first = new (block) FreeBlock{first};
    bytes_ += Rounded(size);
  }
  // Frees all that is kept.
  void Drop() {
    if (bytes_ == 0) return;
    for (FreeBlock*& first : free_) {
      while (first != nullptr) std::free(std::exchange(first, first->next));
    }
    bytes_ = 0;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  // Blocks of 8, 24, 40, … 264 bytes: those of the C library are multiples of 16, less the 8 of its
  // own.
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kFirst = 8;
  static constexpr std::size_t kClasses = (kMost - kFirst) / kStep + 1;
  static constexpr std::size_t ClassOf(std::size_t size) {
    return (size + (kStep - 1 - kFirst)) / kStep;
  }
#ifdef SHOAL_ADDRESS_SANITIZER
  // It is to see each block that is used after it was freed.
  static constexpr bool kKeeps = false;
#else
  static constexpr bool kKeeps = true;
#endif

  std::array<FreeBlock*, kClasses> free_{};
  std::size_t bytes_ = 0;
};

}  // namespace shoal::core
