// SPDX-License-Identifier: MIT
// StateSlots is the memory for the slots of the states of a runtime. It comes from the system in
// regions of 2 MiB, each a huge page where there are some, and is kept for the next states; regions
// of which nothing is used go back, but for some.
//
// Slots do not begin at the same place in their pages: else the hot words of all states would have
// to share a few sets of the processor's caches.
//
// Threads:   any thread may call any member.
// Ownership: all slots go with it. REQUIRES: none is used then.
// Locks:     of the list of a worker (kLeaf), or that of the regions (kLeaf); never two.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread_annotations.h"

namespace shoal::core {

class StateSlots {
 public:
  // Bytes that can be used of a slot: an image of all libraries, and some KB for what comes. More
  // would be held by each state that waits, as a huge page is in memory or not.
  static constexpr std::size_t kSize = std::size_t{34} << 10;
  // Of the address of a slot: see StateImage.
  static constexpr std::size_t kAlignment = 256;

  // `lists`: how many threads are to take and give back without meeting each other; at least 1.
  // Throws std::bad_alloc.
  explicit StateSlots(int lists);
  ~StateSlots();
  StateSlots(const StateSlots&) = delete;
  StateSlots& operator=(const StateSlots&) = delete;

  // kSize bytes, not initialised, at a multiple of kAlignment. nullptr: memory is short. `list`: of
  // this thread; any number.
  char* Take(int list);
  void GiveBack(char* slot, int list);

  // Bytes that it has from the system.
  [[nodiscard]] std::size_t reserved() const;

 private:
  struct OpenTag;
  struct Region;
  // What stands in front of a slot.
  struct Header {
    Region* region;
    Header* next;
  };
  // Free slots of one thread, most of the time.
  struct FreeList {
    Mutex mu{LockRank::kLeaf};
    Header* first SHOAL_GUARDED_BY(mu) = nullptr;
    std::size_t count SHOAL_GUARDED_BY(mu) = 0;
  };

  static constexpr std::size_t kAtOnce = 16;  // slots that go between a list and the regions
  static constexpr std::size_t kWarm = 256;   // free slots for which regions are kept

  // A chain of kAtOnce slots, or fewer; nullptr: memory is short.
  Header* TakeFromRegions();
  void GiveToRegions(Header* chain);
  bool AddRegion() SHOAL_REQUIRES_LOCK(mu_);

  const std::size_t count_;
  const std::unique_ptr<FreeList[]> lists_;
  mutable Mutex mu_{LockRank::kLeaf};
  // Those of which a slot is free.
  List<Region, OpenTag> open_ SHOAL_GUARDED_BY(mu_);
  std::size_t regions_ SHOAL_GUARDED_BY(mu_) = 0;
  std::size_t free_ SHOAL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal::core
