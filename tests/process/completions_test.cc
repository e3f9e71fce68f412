// SPDX-License-Identifier: MIT
#include "runtime/process/completions.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

using namespace shoal::core;

namespace {

class Owner final : public WaitOwner {
 public:
  void OnComplete(Waiter&) override {}
};

std::vector<Waiter*> TakeAll(Completions& completions) {
  std::vector<Waiter*> all;
  for (Waiter* w = completions.TakeAll(); w != nullptr; w = Completions::Next(*w)) all.push_back(w);
  return all;
}

}  // namespace

TEST_CASE("completions come out in the order in which they came in") {
  Owner owner;
  Waiter a(owner);
  Waiter b(owner);
  Waiter c(owner);
  Completions completions;
  for (Waiter* waiter : {&a, &b, &c}) REQUIRE_FALSE(completions.Push(*waiter));
  REQUIRE_FALSE(completions.empty());
  REQUIRE(TakeAll(completions) == std::vector<Waiter*>{&a, &b, &c});
  REQUIRE(completions.empty());
}

TEST_CASE("a process with a completion cannot begin to wait") {
  Owner owner;
  Waiter waiter(owner);
  Completions completions;
  REQUIRE_FALSE(completions.Push(waiter));
  REQUIRE_FALSE(completions.TryWait());
  REQUIRE(TakeAll(completions).size() == 1);
  REQUIRE(completions.TryWait());
}

TEST_CASE("the first completion of a waiting process makes it ready, the others do not") {
  Owner owner;
  Waiter a(owner);
  Waiter b(owner);
  Completions completions;
  REQUIRE(completions.TryWait());
  REQUIRE(completions.Push(a));
  REQUIRE_FALSE(completions.Push(b));
  REQUIRE(TakeAll(completions) == std::vector<Waiter*>{&a, &b});
}

TEST_CASE("a waiting process can be taken for a look, and a completion meanwhile is kept") {
  Owner owner;
  Waiter waiter(owner);
  Completions completions;
  REQUIRE_FALSE(completions.TryOwn());
  REQUIRE(completions.TryWait());
  REQUIRE(completions.TryOwn());
  REQUIRE_FALSE(completions.TryOwn());
  REQUIRE_FALSE(completions.Push(waiter));
  REQUIRE_FALSE(completions.TryWait());
  REQUIRE(TakeAll(completions) == std::vector<Waiter*>{&waiter});
}

TEST_CASE("a completion for a process that has exited is dropped") {
  Owner owner;
  Waiter waiter(owner);
  Completions completions;
  completions.Exit();
  REQUIRE_FALSE(completions.Push(waiter));
}

TEST_CASE("no completion is lost and the process has one owner, with many threads pushing") {
  constexpr int kThreads = 3;
  constexpr int kEach = 3000;
  Owner owner;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < kThreads * kEach; ++i) waiters.push_back(std::make_unique<Waiter>(owner));
  Completions completions;
  std::atomic<int> ready{1};  // how many may own the process: 0 or 1
  std::atomic<bool> two_owners{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        if (completions.Push(
                *waiters[static_cast<std::size_t>(t) * kEach + static_cast<std::size_t>(i)]) &&
            ready.fetch_add(1) != 0) {
          two_owners.store(true);
        }
      }
    });
  }
  std::size_t taken = 0;
  while (taken < waiters.size()) {
    if (ready.load() == 0) continue;
    taken += TakeAll(completions).size();
    // The count goes down before the word does: whoever pushes after that counts up again.
    ready.fetch_sub(1);
    if (!completions.TryWait()) ready.fetch_add(1);
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(taken == waiters.size());
  REQUIRE_FALSE(two_owners.load());
}
