// SPDX-License-Identifier: MIT
#include "runtime/sched/drawn_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace shoal::core;

namespace {

struct Number final : Runnable {
  void Run() override {}
};

// The order in which four are drawn, as their numbers.
std::vector<std::ptrdiff_t> OrderOf(std::uint64_t seed) {
  DrawnQueue queue(seed);
  Number numbers[4];
  for (Number& number : numbers) queue.Push(number);
  std::vector<std::ptrdiff_t> order;
  while (Runnable* drawn = queue.Draw()) order.push_back(static_cast<Number*>(drawn) - numbers);
  return order;
}

}  // namespace

TEST_CASE("everything is drawn once, and then nothing") {
  DrawnQueue queue(3);
  REQUIRE(queue.Draw() == nullptr);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::ptrdiff_t> order = OrderOf(seed);
    std::sort(order.begin(), order.end());
    REQUIRE(order == std::vector<std::ptrdiff_t>{0, 1, 2, 3});
  }
}

TEST_CASE("the same seed draws the same order, and every order has a seed") {
  std::set<std::vector<std::ptrdiff_t>> orders;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    REQUIRE(OrderOf(seed) == OrderOf(seed));
    orders.insert(OrderOf(seed));
  }
  REQUIRE(orders.size() == 24);
}

TEST_CASE("the length is that of what stands there") {
  DrawnQueue queue(1);
  Number a;
  Number b;
  REQUIRE(queue.length() == 0);
  queue.Push(a);
  queue.Push(b);
  REQUIRE(queue.length() == 2);
  REQUIRE(queue.Draw() != nullptr);
  REQUIRE(queue.length() == 1);
}
