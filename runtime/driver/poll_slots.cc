// SPDX-License-Identifier: MIT
#include "runtime/driver/poll_slots.h"

#include <bit>
#include <new>

#include "runtime/base/check.h"

namespace shoal::core {

PollSlots::~PollSlots() {
  for (std::atomic<PollSlot*>& block : blocks_) delete[] block.load();
}

int PollSlots::BlockOf(std::uint32_t index) { return std::bit_width(index / kFirstBlock + 1) - 1; }

PollSlot& PollSlots::At(std::uint32_t index) const {
  const int block = BlockOf(index);
  // acquire: pairs with Grow.
  PollSlot* const slots = blocks_[block].load(std::memory_order_acquire);
  SHOAL_DCHECK(slots != nullptr);
  return slots[index - BeginOf(block)];
}

PollSlot* PollSlots::Take() {
  MutexLock lock(mu_);
  if (free_ == nullptr && !Grow()) return nullptr;
  PollSlot* const slot = free_;
  free_ = slot->next_free;
  return slot;
}

void PollSlots::GiveBack(PollSlot& slot) {
  MutexLock lock(mu_);
  slot.next_free = free_;
  free_ = &slot;
}

bool PollSlots::Grow() {
  if (block_count_ == kBlocks) return false;
  const std::uint32_t size = kFirstBlock << block_count_;
  auto* const slots = new (std::nothrow) PollSlot[size];
  if (slots == nullptr) return false;
  const std::uint32_t begin = BeginOf(block_count_);
  for (std::uint32_t i = size; i-- > 0;) {
    slots[i].index = begin + i;
    slots[i].next_free = free_;
    free_ = &slots[i];
  }
  // release: pairs with At.
  blocks_[block_count_].store(slots, std::memory_order_release);
  ++block_count_;
  return true;
}

}  // namespace shoal::core
