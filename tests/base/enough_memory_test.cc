// SPDX-License-Identifier: MIT
#include "runtime/base/enough_memory.h"

#include <catch2/catch.hpp>
#include <new>

using namespace shoal::core;

namespace {

struct Greedy {
  explicit Greedy(bool fails) {
    if (fails) throw std::bad_alloc();
  }
};

}  // namespace

TEST_CASE("a lack of memory becomes an outcome") {
  int steps = 0;
  CHECK(EnoughMemory([&steps] { ++steps; }));
  CHECK_FALSE(EnoughMemory([&steps] {
    ++steps;
    throw std::bad_alloc();
  }));
  CHECK(steps == 2);
}

TEST_CASE("an object whose constructor lacks memory is not made") {
  CHECK(TryNew<Greedy>(true) == nullptr);
  Greedy* made = TryNew<Greedy>(false);
  CHECK(made != nullptr);
  delete made;
}
