// SPDX-License-Identifier: MIT
#include "runtime/channel/queue_share.h"

#include <catch2/catch.hpp>
#include <random>

namespace shoal::core {
namespace {

constexpr std::uint32_t kStep = 1000;

TEST_CASE("a share reports in steps") {
  Budget budget(1'000'000);
  WakeList wakes;
  QueueShare share;
  CHECK(share.TryAdd(1000, budget, kStep));
  CHECK(budget.used() == 0);
  CHECK(share.TryAdd(1, budget, kStep));
  CHECK(budget.used() == 501);
  share.Remove(500, budget, kStep, wakes);
  CHECK(budget.used() == 501);
  share.Remove(1, budget, kStep, wakes);
  CHECK(budget.used() == 0);
  CHECK(share.total() == 500);
}

TEST_CASE("a share that becomes empty holds nothing back") {
  Budget budget(1'000'000);
  WakeList wakes;
  QueueShare share;
  for (int i = 0; i < 100; ++i) CHECK(share.TryAdd(333, budget, kStep));
  for (int i = 0; i < 100; ++i) share.Remove(333, budget, kStep, wakes);
  CHECK(share.total() == 0);
  CHECK(budget.used() == 0);
}

TEST_CASE("a share adds nothing for which the budget has no room") {
  Budget budget(10'000);
  QueueShare share;
  CHECK(share.TryAdd(10'900, budget, kStep));
  CHECK(share.TryAdd(90, budget, kStep));
  CHECK_FALSE(share.TryAdd(1000, budget, kStep));
  CHECK(share.total() == 10'990);
  share.Add(1000, budget, kStep);
  CHECK(share.total() == 11'990);
  WakeList wakes;
  share.Remove(11'990, budget, kStep, wakes);
  CHECK(budget.used() == 0);
}

TEST_CASE("a share is never more than a step from what it has reported") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Budget budget(100'000);
  WakeList wakes;
  QueueShare share;
  std::size_t stands = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t bytes = random() % (random() % 50 == 0 ? 20'000 : 300);
    if (random() % 2 == 0) {
      if (share.TryAdd(bytes, budget, kStep)) stands += bytes;
    } else if (random() % 10 == 0 && budget.TryReserve(bytes)) {
      share.AddReserved(bytes);
      stands += bytes;
    } else if (bytes <= stands) {
      share.Remove(bytes, budget, kStep, wakes);
      stands -= bytes;
    }
    const bool right =
        share.total() == stands && budget.used() <= stands && stands - budget.used() <= kStep;
    if (!right) FAIL("at " << i);
  }
  share.Remove(stands, budget, kStep, wakes);
  CHECK(budget.used() == 0);
}

}  // namespace
}  // namespace shoal::core
