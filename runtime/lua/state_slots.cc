// SPDX-License-Identifier: MIT
#include "runtime/lua/state_slots.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/lua/block_cache.h"

namespace shoal::core {

namespace {

constexpr std::size_t kRegionSize = std::size_t{2} << 20;  // a huge page
constexpr std::size_t kHeaderSize = StateSlots::kAlignment;
constexpr std::size_t kStride = kHeaderSize + StateSlots::kSize;
// So they begin at all multiples of kAlignment in a page.
static_assert(kStride / StateSlots::kAlignment % 2 == 1);
constexpr std::size_t kSlotsInRegion = kRegionSize / kStride;

// nullptr: the system has none.
char* MapRegion() {
  // Twice as much, of which what is not between two multiples of its size goes back.
  void* const mapped = mmap(nullptr, 2 * kRegionSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(begin) % kRegionSize;
  const std::size_t before = over == 0 ? 0 : kRegionSize - over;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + kRegionSize, kRegionSize - before);
  static_cast<void>(madvise(begin + before, kRegionSize, MADV_HUGEPAGE));
  return begin + before;
}

}  // namespace

struct StateSlots::Region : ListLink<OpenTag> {
  char* memory = nullptr;
  Header* first = nullptr;  // of those that have been given back
  std::size_t fresh = 0;    // how many have been taken once
  std::size_t free = kSlotsInRegion;
};

StateSlots::StateSlots(int lists)
    : count_(static_cast<std::size_t>(lists)), lists_(new FreeList[count_]) {}

StateSlots::~StateSlots() {
  for (std::size_t i = 0; i < count_; ++i) {
    FreeList& list = lists_[i];
    Header* chain = nullptr;
    {
      MutexLock lock(list.mu);
      chain = std::exchange(list.first, nullptr);
    }
    GiveToRegions(chain);
  }
  MutexLock lock(mu_);
  while (Region* const region = open_.PopFront()) {
    SHOAL_CHECK(region->free == kSlotsInRegion);
    munmap(region->memory, kRegionSize);
    delete region;
    --regions_;
  }
  SHOAL_CHECK(regions_ == 0);
}

std::size_t StateSlots::reserved() const {
  MutexLock lock(mu_);
  return regions_ * kRegionSize;
}

#ifdef SHOAL_ADDRESS_SANITIZER

// It is to see who uses a slot that was given back, and what is referred to from there.
char* StateSlots::Take(int) { return static_cast<char*>(std::aligned_alloc(kAlignment, kSize)); }
void StateSlots::GiveBack(char* slot, int) { std::free(slot); }

#else

char* StateSlots::Take(int list) {
  FreeList& mine = lists_[static_cast<std::size_t>(list) % count_];
  Header* slot = nullptr;
  {
    MutexLock lock(mine.mu);
    slot = mine.first;
    if (slot != nullptr) {
      mine.first = slot->next;
      --mine.count;
    }
  }
  if (slot == nullptr) {
    slot = TakeFromRegions();
    if (slot == nullptr) return nullptr;
    Header* last = slot;
    std::size_t count = 0;
    for (; last->next != nullptr; last = last->next) ++count;
    if (count > 0) {
      MutexLock lock(mine.mu);
      last->next = mine.first;
      mine.first = slot->next;
      mine.count += count;
    }
  }
  return reinterpret_cast<char*>(slot) + kHeaderSize;
}

void StateSlots::GiveBack(char* slot, int list) {
  FreeList& mine = lists_[static_cast<std::size_t>(list) % count_];
  auto* const header = reinterpret_cast<Header*>(slot - kHeaderSize);
  Header* chain = nullptr;
  {
    MutexLock lock(mine.mu);
    header->next = mine.first;
    mine.first = header;
    if (++mine.count < 2 * kAtOnce) return;
    // The newest stay: they are in the processor's cache.
    Header* last = header;
    for (std::size_t i = 1; i < kAtOnce; ++i) last = last->next;
    chain = std::exchange(last->next, nullptr);
    mine.count = kAtOnce;
  }
  GiveToRegions(chain);
}

#endif

bool StateSlots::AddRegion() {
  char* const memory = MapRegion();
  if (memory == nullptr) return false;
  auto* const region = new (std::nothrow) Region;
  if (region == nullptr) {
    munmap(memory, kRegionSize);
    return false;
  }
  region->memory = memory;
  open_.PushFront(*region);
  ++regions_;
  free_ += kSlotsInRegion;
  return true;
}

StateSlots::Header* StateSlots::TakeFromRegions() {
  Header* chain = nullptr;
  MutexLock lock(mu_);
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    if (open_.empty() && !AddRegion()) break;
    Region& region = open_.front();
    Header* slot = region.first;
    if (slot != nullptr) {
      region.first = slot->next;
    } else {
      slot = new (region.memory + region.fresh * kStride) Header{&region, nullptr};
      ++region.fresh;
    }
    slot->next = chain;
    chain = slot;
    if (--region.free == 0) static_cast<ListLink<OpenTag>&>(region).Unlink();
    --free_;
  }
  return chain;
}

void StateSlots::GiveToRegions(Header* chain) {
  while (chain != nullptr) {
    Region* unused = nullptr;
    {
      MutexLock lock(mu_);
      for (; chain != nullptr && unused == nullptr;) {
        Header* const slot = std::exchange(chain, chain->next);
        Region& region = *slot->region;
        slot->next = std::exchange(region.first, slot);
        if (region.free++ == 0) open_.PushBack(region);
        ++free_;
        if (region.free < kSlotsInRegion || free_ < kWarm + kSlotsInRegion) continue;
        static_cast<ListLink<OpenTag>&>(region).Unlink();
        free_ -= kSlotsInRegion;
        --regions_;
        unused = &region;
      }
    }
    if (unused == nullptr) return;
    munmap(unused->memory, kRegionSize);
    delete unused;
  }
}

}  // namespace shoal::core
