// SPDX-License-Identifier: MIT
#include "runtime/lua/allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/lua/arena.h"

namespace shoal::core {
namespace {

// Whether a state has a slot is known where its allocator is called.
enum class Slot : std::uint8_t { kNo, kYes };

// No exchange: the thread that runs the state is the only one that writes.
void SetUsed(Allocator& allocator, std::size_t used) {
  allocator.used.store(used, std::memory_order_relaxed);
}

// Whether the state may have `wanted` bytes, which is beyond one of the two bounds.
bool MayGrow(Allocator& allocator, std::size_t wanted, bool is_object) {
  if (allocator.is_collecting) {
    // The second try: an emergency collection allocates nothing itself.
    allocator.is_collecting = false;
    allocator.CollectInTime();
  } else if (is_object && allocator.collect_at != SIZE_MAX) {
    allocator.is_collecting = true;
    allocator.collect_at = 0;  // the next one comes here, too
    return false;
  }
  if (wanted <= allocator.limit) return true;
  // The error that follows makes garbage of what has grown so large: the next object collects.
  allocator.collect_at = allocator.limit / 2;
  return false;
}

// The cache holds at most so much of what the state uses.
constexpr std::size_t kCacheShare = 4;

// A new block of at least that size. nullptr if memory is short.
template <Slot kSlot>
[[gnu::always_inline]] inline void* Take(Allocator& allocator, std::size_t size) {
  if constexpr (kSlot == Slot::kYes) {
    if (void* const block = allocator.slot.Take(size)) return block;
    void* const block = allocator.cache.Take(size);
    if (block != nullptr) ++allocator.outside;
    return block;
  } else {
    return allocator.arena == nullptr ? allocator.cache.Take(size)
                                      : allocator.arena->Allocate(nullptr, 0, size);
  }
}

// Takes a block back, of a state that uses so many bytes.
template <Slot kSlot>
[[gnu::always_inline]] inline void Keep(Allocator& allocator, void* block, std::size_t size,
                                        std::size_t used) {
  if constexpr (kSlot == Slot::kYes) {
    if (allocator.slot.Holds(block)) return allocator.slot.Keep(block, size);
    --allocator.outside;
  } else if (allocator.arena != nullptr) {
    return allocator.arena->Free(block, size);
  }
  allocator.cache.Keep(block, size, used / kCacheShare);
}

// Makes a block, or moves one. The sizes are those that Lua asked for, none is 0 but the old one of
// a new block.
template <Slot kSlot>
void* Resize(Allocator& allocator, void* block, std::size_t old_size, std::size_t new_size) {
  if (block == nullptr) return Take<kSlot>(allocator, new_size);
  if constexpr (kSlot == Slot::kYes) {
    if (allocator.slot.Holds(block)) {
      if (StateSlot::Rounded(old_size) == StateSlot::Rounded(new_size)) return block;
      void* const made = Take<kSlot>(allocator, new_size);
      if (made == nullptr) return nullptr;
      std::memcpy(made, block, std::min(old_size, new_size));
      allocator.slot.Keep(block, old_size);
      return made;
    }
  } else if (allocator.arena != nullptr) {
    return allocator.arena->Allocate(block, old_size, new_size);
  }
  const std::size_t room = BlockCache::Rounded(new_size);
  return room == BlockCache::Rounded(old_size) ? block : std::realloc(block, room);
}

// Without memory, what the cache holds is given back for a second try.
template <Slot kSlot>
[[gnu::noinline]] void* ResizeAgain(Allocator& allocator, void* block, std::size_t old_size,
                                    std::size_t new_size) {
  if (allocator.cache.bytes() == 0) return nullptr;
  allocator.cache.Drop();
  return Resize<kSlot>(allocator, block, old_size, new_size);
}

template <Slot kSlot>
[[gnu::noinline]] void* Reallocate(Allocator& allocator, void* block, std::size_t old_size,
                                   std::size_t new_size) {
  const std::size_t used = allocator.used.load(std::memory_order_relaxed);
  const std::size_t wanted = used - old_size + new_size;
  if (new_size > old_size && (wanted > allocator.limit || wanted > allocator.collect_at) &&
      !MayGrow(allocator, wanted, false)) {
    return nullptr;
  }
  void* result = Resize<kSlot>(allocator, block, old_size, new_size);
  if (result == nullptr) result = ResizeAgain<kSlot>(allocator, block, old_size, new_size);
  if (result == nullptr) {
    if (new_size > old_size) return nullptr;
    // Lua relies on it that shrinking succeeds. The block goes on being counted as Lua sees it.
    result = block;
  }
  SetUsed(allocator, wanted);
  return result;
}

// Without a block, the old size tells what kind of object is made; 0 is none, as buffers.
template <Slot kSlot>
[[gnu::always_inline]] inline void* Allocate(Allocator& allocator, void* block,
                                             std::size_t old_size, std::size_t new_size) {
  const std::size_t used = allocator.used.load(std::memory_order_relaxed);
  if (block == nullptr) {
    if (new_size == 0) return nullptr;
    const std::size_t wanted = used + new_size;
    if ((wanted > allocator.limit || wanted > allocator.collect_at) &&
        !MayGrow(allocator, wanted, old_size != 0)) {
      return nullptr;
    }
    void* result = Take<kSlot>(allocator, new_size);
    if (result == nullptr) result = ResizeAgain<kSlot>(allocator, nullptr, 0, new_size);
    if (result != nullptr) SetUsed(allocator, wanted);
    return result;
  }
  if (new_size != 0) return Reallocate<kSlot>(allocator, block, old_size, new_size);
  SetUsed(allocator, used - old_size);
  Keep<kSlot>(allocator, block, old_size, used);
  return nullptr;
}

}  // namespace

void* AllocateBlock(void* allocator, void* block, std::size_t old_size, std::size_t new_size) {
  return Allocate<Slot::kNo>(*static_cast<Allocator*>(allocator), block, old_size, new_size);
}

void* AllocateInSlot(void* allocator, void* block, std::size_t old_size, std::size_t new_size) {
  return Allocate<Slot::kYes>(*static_cast<Allocator*>(allocator), block, old_size, new_size);
}

void* AllocateZeroed(void* allocator, void* block, std::size_t old_size, std::size_t new_size) {
  if (new_size == 0) {
    if (block != nullptr) std::memset(block, 0, old_size);
    return AllocateInSlot(allocator, block, old_size, 0);
  }
  if (block != nullptr && StateSlot::Rounded(old_size) == StateSlot::Rounded(new_size)) {
    return AllocateInSlot(allocator, block, old_size, new_size);
  }
  void* const made = AllocateInSlot(allocator, nullptr, block == nullptr ? old_size : 0, new_size);
  if (made == nullptr) return nullptr;
  if (!static_cast<Allocator*>(allocator)->slot.Holds(made)) {
    AllocateInSlot(allocator, made, new_size, 0);
    return nullptr;
  }
  std::memset(made, 0, StateSlot::Rounded(new_size));
  if (block == nullptr) return made;
  std::memcpy(made, block, std::min(old_size, new_size));
  AllocateZeroed(allocator, block, old_size, 0);
  return made;
}

void Allocator::CollectInTime() {
  if (limit == SIZE_MAX) return;
  // Not for less than this, or near the limit there would be nothing but collections.
  const std::size_t least = limit / 16;
  const std::size_t now = used.load(std::memory_order_relaxed);
  const std::size_t room = limit > now ? limit - now : 0;
  collect_at = now + std::max(room / 2, least);
}

Allocator* AllocatorOf(lua_State* L) {
  void* allocator = nullptr;
  const lua_Alloc function = lua_getallocf(L, &allocator);
  const bool is_ours =
      function == AllocateBlock || function == AllocateInSlot || function == AllocateZeroed;
  return is_ours ? static_cast<Allocator*>(allocator) : nullptr;
}

}  // namespace shoal::core
