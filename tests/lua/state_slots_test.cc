// SPDX-License-Identifier: MIT
#include "runtime/lua/state_slots.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "runtime/lua/block_cache.h"

namespace shoal::core {
namespace {

TEST_CASE("slots are apart, and begin at other places in their pages") {
  StateSlots slots(1);
  std::vector<char*> taken;
  std::set<std::uintptr_t> places;
  for (int i = 0; i < 200; ++i) {
    char* const slot = slots.Take(0);
    REQUIRE(slot != nullptr);
    std::memset(slot, i, StateSlots::kSize);
    taken.push_back(slot);
    places.insert(reinterpret_cast<std::uintptr_t>(slot) % 4096);
  }
  for (int i = 0; i < 200; ++i) {
    CHECK(taken[i][0] == static_cast<char>(i));
    CHECK(taken[i][StateSlots::kSize - 1] == static_cast<char>(i));
  }
#ifndef SHOAL_ADDRESS_SANITIZER
  CHECK(places.size() >= 16);
#endif
  for (char* slot : taken) slots.GiveBack(slot, 0);
}

#ifndef SHOAL_ADDRESS_SANITIZER
TEST_CASE("the memory of many slots goes back to the system, but for some") {
  StateSlots slots(2);
  CHECK(slots.reserved() == 0);
  std::vector<char*> taken;
  for (int i = 0; i < 3000; ++i) taken.push_back(slots.Take(i));
  const std::size_t most = slots.reserved();
  CHECK(most >= 3000 * StateSlots::kSize);
  for (char* slot : taken) slots.GiveBack(slot, 1);
  CHECK(slots.reserved() <= most / 4);
  CHECK(slots.reserved() > 0);
  char* const slot = slots.Take(1);
  CHECK(slot != nullptr);
  slots.GiveBack(slot, 0);
}
#endif

TEST_CASE("threads take slots and give back those of others") {
  StateSlots slots(2);
  std::vector<std::vector<char*>> passed(4);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (char* slot : passed[t]) {
          if (*reinterpret_cast<char**>(slot) != slot) std::abort();
          slots.GiveBack(slot, t);
        }
        passed[t].clear();
        for (int i = 0; i < 100; ++i) {
          char* const slot = slots.Take(t);
          if (slot == nullptr) std::abort();
          *reinterpret_cast<char**>(slot) = slot;
          passed[t].push_back(slot);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<char*> all;
    for (const auto& some : passed) all.insert(some.begin(), some.end());
    REQUIRE(all.size() == 400);
    std::rotate(passed.begin(), passed.begin() + 1, passed.end());
  }
  for (const auto& some : passed) {
    for (char* slot : some) slots.GiveBack(slot, 0);
  }
}

}  // namespace
}  // namespace shoal::core
