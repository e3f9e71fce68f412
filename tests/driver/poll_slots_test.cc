// SPDX-License-Identifier: MIT
#include "runtime/driver/poll_slots.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace shoal::core {
namespace {

TEST_CASE("each slot has an index of its own, under which it is found") {
  PollSlots slots;
  std::vector<PollSlot*> taken;
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 1000; ++i) {
    taken.push_back(slots.Take());
    REQUIRE(taken.back() != nullptr);
    indices.insert(taken.back()->index);
  }
  CHECK(indices.size() == taken.size());
  // They are dense, so few blocks are enough.
  CHECK(*indices.rbegin() < 2048);
  for (PollSlot* slot : taken) CHECK(&slots.At(slot->index) == slot);
}

TEST_CASE("a slot that was given back is used again") {
  PollSlots slots;
  PollSlot* const first = slots.Take();
  PollSlot* const second = slots.Take();
  CHECK(first != second);
  slots.GiveBack(*first);
  CHECK(slots.Take() == first);
}

}  // namespace
}  // namespace shoal::core
