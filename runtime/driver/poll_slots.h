// SPDX-License-Identifier: MIT
// PollSlots are the places in which waits for file descriptors stand: one for each open Descriptor.
//
// The kernel gives back with each event what it was told when the descriptor was registered: the
// index of a slot, and the generation that the slot had. A slot is used again, its memory is never
// freed while the Poller lives, and each use has a generation of its own. So an event that was
// fetched just before a close finds a slot, and sees that it is not the one that is meant.
//
// Threads: any thread may call any member.
// Locks:   mu_ (kPolled); the mutex of a slot has the same rank, and the two are never held
//          together.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

// What a wait is for.
enum class Direction : std::uint8_t { kRead, kWrite };

struct PollSlot {
  static constexpr int kDirections = 2;

  Mutex mu{LockRank::kPolled};
  std::uint32_t index = 0;  // never changes
  std::uint32_t generation SHOAL_GUARDED_BY(mu) = 0;
  std::uint32_t interest SHOAL_GUARDED_BY(mu) = 0;  // the events that the kernel reports
  int fd SHOAL_GUARDED_BY(mu) = -1;                 // -1: nobody uses the slot
  bool registered SHOAL_GUARDED_BY(mu) = false;
  // An edge came while nobody waited.
  bool ready[kDirections] SHOAL_GUARDED_BY(mu) = {false, false};
  PollSlot* next_free = nullptr;  // under PollSlots::mu_
  List<WaitNode, WaitTag> waits[kDirections] SHOAL_GUARDED_BY(mu);
};

class PollSlots {
 public:
  PollSlots() = default;
  // REQUIRES: all slots have been given back.
  ~PollSlots();
  PollSlots(const PollSlots&) = delete;
  PollSlots& operator=(const PollSlots&) = delete;

  // A slot nobody uses; nullptr if memory is short.
  [[nodiscard]] PollSlot* Take();
  // REQUIRES: its generation has been changed, and nothing stands in it.
  void GiveBack(PollSlot& slot);

  // REQUIRES: Take has returned the slot with this index once.
  [[nodiscard]] PollSlot& At(std::uint32_t index) const;

 private:
  // Block k has kFirstBlock << k slots, so few blocks hold very many.
  static constexpr std::uint32_t kFirstBlock = 64;
  static constexpr int kBlocks = 22;

  static int BlockOf(std::uint32_t index);
  static std::uint32_t BeginOf(int block) { return ((1U << block) - 1) * kFirstBlock; }
  [[nodiscard]] bool Grow() SHOAL_REQUIRES_LOCK(mu_);

  // release: publishes the block's slots; acquire in At. (An index comes through the kernel, of
  // which neither the compiler nor the sanitizers know that it orders anything.)
  std::atomic<PollSlot*> blocks_[kBlocks] = {};
  Mutex mu_{LockRank::kPolled};
  int block_count_ SHOAL_GUARDED_BY(mu_) = 0;
  PollSlot* free_ SHOAL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace shoal::core
