// SPDX-License-Identifier: MIT
// An Arena is memory for the states of a simulated run. Where a block stands depends only on what
// was allocated and freed here before: not on other threads, nor on what the C library needs for
// itself. The addresses of Lua's objects are seen by scripts (`tostring(table)`), and the order of
// `pairs` follows from them.
//
// Threads:   one at a time.
// Ownership: all blocks go with the Arena.
#pragma once

#include <array>
#include <cstddef>

namespace shoal::core {

class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Reserves addresses. False: the system has none.
  [[nodiscard]] bool Reserve();

  // As realloc and free, of which the caller knows the sizes (and 0 that of nullptr). Allocate
  // returns nullptr if memory is short; it shrinks any block. REQUIRES: new_size > 0.
  void* Allocate(void* block, std::size_t old_size, std::size_t new_size);
  void Free(void* block, std::size_t size);

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  // Blocks of 16, 32, … 1024 bytes, then of powers of two.
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kSteps = 64;
  static constexpr std::size_t kClasses = kSteps + 30;
  static constexpr std::size_t kSize = std::size_t{1} << 36;
  // What is made usable at a time.
  static constexpr std::size_t kGrowth = std::size_t{1} << 20;

  static std::size_t ClassOf(std::size_t size);
  static std::size_t SizeOf(std::size_t size_class);
  void* Take(std::size_t size_class);
  bool Grow(std::size_t size);

  char* begin_ = nullptr;
  char* next_ = nullptr;    // from here on, nothing has been allocated
  char* usable_ = nullptr;  // … and from here on, nothing is readable
  std::array<FreeBlock*, kClasses> free_{};
};

}  // namespace shoal::core
