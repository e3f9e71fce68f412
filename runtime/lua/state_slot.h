// SPDX-License-Identifier: MIT
// A StateSlot is one piece of memory in which a state begins: the image of which it is a copy
// stands in front, and new blocks behind it. Blocks that are freed are kept for others of their
// size. When there is no room, they come from elsewhere. So a state that has not grown is freed by
// giving back its slot.
//
// Threads:   the one that runs the state.
// Ownership: StateSlots has the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/lua/block_cache.h"

#ifdef SHOAL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace shoal::core {

class StateSlot {
 public:
  // None: nothing can be taken from it.
  StateSlot() = default;
  StateSlot(const StateSlot&) = delete;
  StateSlot& operator=(const StateSlot&) = delete;

  // The memory is empty. Its address is a multiple of 8.
  void Begin(char* begin, std::size_t size) {
    begin_ = next_ = begin;
    end_ = begin + size;
    free_.fill(nullptr);
    Poison(next_, end_);
  }
  // `begin` is the beginning of a copy of all that `original` had used, `used()` bytes of it, with
  // all addresses in it moved.
  void BeginCopy(const StateSlot& original, char* begin, std::size_t size) {
    const std::ptrdiff_t shift = begin - original.begin_;
    begin_ = begin;
    next_ = begin + original.used();
    end_ = begin + size;
    for (std::size_t i = 0; i < kClasses; ++i) {
      FreeBlock* const block = original.free_[i];
      free_[i] = block == nullptr
                     ? nullptr
                     : reinterpret_cast<FreeBlock*>(reinterpret_cast<char*>(block) + shift);
    }
    Poison(next_, end_);
  }
  // What is in it will be copied.
  void EndOriginal() { Unpoison(begin_, next_); }
  // Forgets the memory, of which all may be used again by others.
  void End() {
    Unpoison(begin_, end_);
    begin_ = next_ = end_ = nullptr;
  }

  [[nodiscard]] char* begin() const { return begin_; }
  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(next_ - begin_); }
  // Whether a block stands in it.
  [[nodiscard]] bool Holds(const void* block) const {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(begin_) <
           static_cast<std::uintptr_t>(end_ - begin_);
  }

  // A block for `size` bytes; nullptr if there is no room. REQUIRES: size > 0.
  void* Take(std::size_t size) {
    if (size <= kMost) {
      FreeBlock*& first = free_[ClassOf(size)];
      if (FreeBlock* const block = first) {
        first = block->next;
        return block;
      }
    }
    const std::size_t room = Rounded(size);
    if (room > static_cast<std::size_t>(end_ - next_)) return nullptr;
    char* const block = next_;
    next_ += room;
    Unpoison(block, next_);
    return block;
  }
  // Takes a block of that size back. Large ones can be used again at the end only.
  void Keep(void* block, std::size_t size) {
    char* const begin = static_cast<char*>(block);
    const std::size_t room = Rounded(size);
    if (begin + room == next_) {
      next_ = begin;
      Poison(begin, begin + room);
    } else if (kKeeps && size <= kMost) {
      FreeBlock*& first = free_[ClassOf(size)];
      first = new (block) FreeBlock{first};
    } else {
      Poison(begin, begin + room);
    }
  }
  // What a block for `size` bytes holds.
  static constexpr std::size_t Rounded(std::size_t size) {
    return (size + (kStep - 1)) & ~(kStep - 1);
  }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  // Blocks of 8, 16, … 264 bytes.
  static constexpr std::size_t kStep = 8;
  static constexpr std::size_t kMost = 264;
  static constexpr std::size_t kClasses = kMost / kStep;
  static constexpr std::size_t ClassOf(std::size_t size) { return (size - 1) / kStep; }

#ifdef SHOAL_ADDRESS_SANITIZER
  // It is to see each block that is used after it was freed. (The image's own were freed before.)
  static constexpr bool kKeeps = false;
  static void Poison(const char* begin, const char* end) {
    __asan_poison_memory_region(begin, static_cast<std::size_t>(end - begin));
  }
  static void Unpoison(const char* begin, const char* end) {
    __asan_unpoison_memory_region(begin, static_cast<std::size_t>(end - begin));
  }
#else
  static constexpr bool kKeeps = true;
  static void Poison(const char*, const char*) {}
  static void Unpoison(const char*, const char*) {}
#endif

  char* begin_ = nullptr;
  char* next_ = nullptr;  // from here on, nothing has been taken
  char* end_ = nullptr;
  std::array<FreeBlock*, kClasses> free_{};
};

}  // namespace shoal::core
