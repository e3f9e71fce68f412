// SPDX-License-Identifier: MIT
#include "runtime/base/mutex.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace shoal::core;

namespace {

class Counter {
 public:
  void Add() {
    MutexLock lock(mu_);
    ++count_;
  }
  long count() {
    MutexLock lock(mu_);
    return count_;
  }

 private:
  Mutex mu_{LockRank::kLeaf};
  long count_ SHOAL_GUARDED_BY(mu_) = 0;
};

}  // namespace

TEST_CASE("a mutex lets one thread in at a time") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kRounds; ++j) counter.Add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(counter.count() == long{kThreads} * kRounds);
}

TEST_CASE("locks of rising rank nest") {
  Mutex outer(LockRank::kProcessTable);
  Mutex inner(LockRank::kWheel);
  MutexLock first(outer);
  MutexLock second(inner);
  SUCCEED("no check failed");
}

#ifdef NDEBUG
TEST_CASE("a mutex has four bytes where ranks are not checked") { REQUIRE(sizeof(Mutex) == 4); }
#endif
