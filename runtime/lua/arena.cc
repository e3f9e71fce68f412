// SPDX-License-Identifier: MIT
#include "runtime/lua/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace shoal::core {

Arena::~Arena() {
  if (begin_ != nullptr) munmap(begin_, kSize);
}

bool Arena::Reserve() {
  void* const reserved =
      mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  begin_ = next_ = usable_ = static_cast<char*>(reserved);
  return true;
}

std::size_t Arena::ClassOf(std::size_t size) {
  if (size <= kStep * kSteps) return (size + kStep - 1) / kStep - 1;
  // 1025 … 2048 is the first class behind the steps.
  constexpr auto kStepBits = static_cast<std::size_t>(std::bit_width(kStep * kSteps)) - 1;
  return kSteps + static_cast<std::size_t>(std::bit_width(size - 1)) - kStepBits - 1;
}

std::size_t Arena::SizeOf(std::size_t size_class) {
  if (size_class < kSteps) return (size_class + 1) * kStep;
  return (kStep * kSteps * 2) << (size_class - kSteps);
}

void* Arena::Allocate(void* block, std::size_t old_size, std::size_t new_size) {
  if (new_size > kSize) return nullptr;
  const std::size_t size_class = ClassOf(new_size);
  if (block != nullptr && ClassOf(old_size) == size_class) return block;
  void* const made = Take(size_class);
  if (block == nullptr) return made;
  if (made == nullptr) return new_size <= old_size ? block : nullptr;
  std::memcpy(made, block, std::min(old_size, new_size));
  Free(block, old_size);
  return made;
}

void Arena::Free(void* block, std::size_t size) {
  if (block == nullptr) return;
  FreeBlock*& first = free_[ClassOf(size)];
  first = new (block) FreeBlock{first};
}

void* Arena::Take(std::size_t size_class) {
  if (size_class >= kClasses) return nullptr;
  if (FreeBlock* const block = free_[size_class]) {
    free_[size_class] = block->next;
    return block;
  }
  const std::size_t size = SizeOf(size_class);
  if (size > static_cast<std::size_t>(usable_ - next_) && !Grow(size)) return nullptr;
  void* const block = next_;
  next_ += size;
  return block;
}

bool Arena::Grow(std::size_t size) {
  const std::size_t growth = (size + kGrowth - 1) / kGrowth * kGrowth;
  if (growth > kSize - static_cast<std::size_t>(usable_ - begin_)) return false;
  if (mprotect(usable_, growth, PROT_READ | PROT_WRITE) != 0) return false;
  usable_ += growth;
  return true;
}

}  // namespace shoal::core
