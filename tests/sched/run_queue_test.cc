// SPDX-License-Identifier: MIT
#include "runtime/sched/run_queue.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

struct Nothing final : Runnable {
  void Run() override {}
  std::atomic<int> taken{0};
};

bool PushOne(RunQueue& queue, Runnable& runnable) {
  Runnable* const one = &runnable;
  return queue.Push({&one, 1});
}

TEST_CASE("the owner takes from its run queue in the order in which it put in") {
  RunQueue::Store store;
  RunQueue queue(store);
  REQUIRE(queue.valid());
  Nothing things[100];
  CHECK(queue.Pop() == nullptr);
  for (Nothing& thing : things) REQUIRE(PushOne(queue, thing));
  CHECK(queue.length() == 100);
  for (Nothing& thing : things) REQUIRE(queue.Pop() == &thing);
  CHECK(queue.Pop() == nullptr);
  CHECK(queue.length() == 0);
}

TEST_CASE("a thief takes the oldest half, at most 32") {
  RunQueue::Store store;
  RunQueue queue(store);
  Nothing things[101];
  std::array<Runnable*, RunQueue::kMaxSteal> stolen;
  CHECK(queue.Steal(stolen) == 0);
  for (int i = 0; i < 5; ++i) REQUIRE(PushOne(queue, things[i]));
  REQUIRE(queue.Steal(stolen) == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(stolen[i] == &things[i]);
  CHECK(queue.length() == 2);
  for (int i = 5; i < 101; ++i) REQUIRE(PushOne(queue, things[i]));
  CHECK(queue.Steal(stolen) == 32);
  CHECK(stolen[0] == &things[3]);
  CHECK(queue.length() == 66);
  CHECK(queue.Pop() == &things[35]);
  while (queue.Pop() != nullptr) {
  }
}

TEST_CASE("the run queues of one store are apart") {
  RunQueue::Store store;
  RunQueue one(store);
  RunQueue other(store);
  Nothing thing;
  REQUIRE(PushOne(one, thing));
  CHECK(other.length() == 0);
  CHECK(other.Pop() == nullptr);
  CHECK(one.Pop() == &thing);
}

TEST_CASE("an owner and thieves together take each thing once") {
  constexpr int kThings = Times(200'000);
  constexpr int kThieves = 2;
  RunQueue::Store store;
  RunQueue queue(store);
  const auto things = std::make_unique<Nothing[]>(kThings);
  std::atomic<int> taken{0};
  std::vector<std::thread> thieves;
  for (int i = 0; i < kThieves; ++i) {
    thieves.emplace_back([&] {
      std::array<Runnable*, RunQueue::kMaxSteal> stolen;
      while (taken.load() < kThings) {
        const int count = queue.Steal(stolen);
        for (int k = 0; k < count; ++k) {
          static_cast<Nothing*>(stolen[static_cast<std::size_t>(k)])->taken.fetch_add(1);
        }
        taken.fetch_add(count);
      }
    });
  }
  bool pushed = true;
  for (int i = 0; i < kThings; ++i) {
    pushed = pushed && PushOne(queue, things[static_cast<std::size_t>(i)]);
    if (i % 3 != 0) continue;
    if (Runnable* runnable = queue.Pop()) {
      static_cast<Nothing*>(runnable)->taken.fetch_add(1);
      taken.fetch_add(1);
    }
  }
  for (std::thread& thief : thieves) thief.join();
  CHECK(pushed);
  CHECK(taken.load() == kThings);
  int wrong = 0;
  for (std::size_t i = 0; i < kThings; ++i) wrong += things[i].taken.load() != 1;
  CHECK(wrong == 0);
  CHECK(queue.length() == 0);
}

}  // namespace
}  // namespace shoal::core
