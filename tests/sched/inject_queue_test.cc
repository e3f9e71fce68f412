// SPDX-License-Identifier: MIT
#include "runtime/sched/inject_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

struct Numbered final : Runnable {
  void Run() override {}
  int producer = 0;
  int number = 0;
};

TEST_CASE("the inject queue is a FIFO and knows its length") {
  InjectQueue queue;
  Numbered things[3];
  CHECK(queue.Pop() == nullptr);
  for (Numbered& thing : things) queue.Push(thing);
  CHECK(queue.length() == 3);
  CHECK(queue.Pop() == &things[0]);
  queue.Push(things[0]);
  CHECK(queue.Pop() == &things[1]);
  CHECK(queue.Pop() == &things[2]);
  CHECK(queue.Pop() == &things[0]);
  CHECK(queue.Pop() == nullptr);
  CHECK(queue.length() == 0);
}

TEST_CASE("what several threads inject comes out once and in each thread's order") {
  constexpr int kProducers = 3;
  constexpr int kEach = Times(30'000);
  InjectQueue queue;
  const auto things = std::make_unique<Numbered[]>(kProducers * kEach);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        Numbered& thing = things[static_cast<std::size_t>(p) * kEach + static_cast<std::size_t>(i)];
        thing.producer = p;
        thing.number = i;
        queue.Push(thing);
      }
    });
  }
  int expected[kProducers] = {};
  int disordered = 0;
  for (int taken = 0; taken < kProducers * kEach;) {
    auto* thing = static_cast<Numbered*>(queue.Pop());
    if (thing == nullptr) continue;
    ++taken;
    if (expected[thing->producer]++ != thing->number) ++disordered;
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(disordered == 0);
  CHECK(queue.Pop() == nullptr);
}

}  // namespace
}  // namespace shoal::core
