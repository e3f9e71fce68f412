// SPDX-License-Identifier: MIT
#include "runtime/base/random.h"

#include <catch2/catch.hpp>

using shoal::core::Random;

TEST_CASE("the same seed draws the same numbers") {
  Random first(7);
  Random again(7);
  for (int i = 0; i < 100; ++i) REQUIRE(first.Next() == again.Next());
}

TEST_CASE("neighbouring seeds draw different numbers from the first one on") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    REQUIRE(Random(seed).Next() != Random(seed + 1).Next());
  }
}

TEST_CASE("every number below the bound is drawn, and none above it") {
  Random random(1);
  int counts[5] = {};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = random.Below(5);
    REQUIRE(drawn < 5);
    ++counts[drawn];
  }
  for (const int count : counts) REQUIRE(count > 100);
}
