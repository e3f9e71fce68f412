// SPDX-License-Identifier: MIT
#include "runtime/wait/waiter.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "runtime/base/mutex.h"

using namespace shoal::core;

namespace {

class Owner final : public WaitOwner {
 public:
  void OnComplete(Waiter& waiter) override { completed.push_back(&waiter); }
  std::vector<Waiter*> completed;
};

class Place final : public WaitPlace {
 public:
  void Withdraw(WaitNode& node) override {
    ++withdrawn;
    if (node.linked()) node.Unlink();
  }
  List<WaitNode, WaitTag> list;
  int withdrawn = 0;
};

}  // namespace

TEST_CASE("a waiter can be claimed once for each time it is opened") {
  Owner owner;
  Waiter waiter(owner);
  REQUIRE_FALSE(waiter.TryClaim());
  waiter.Open(WaitReason::kReceive);
  REQUIRE(waiter.TryClaim());
  REQUIRE_FALSE(waiter.TryClaim());
  waiter.Open(WaitReason::kSend);
  REQUIRE(waiter.TryClaim());
  REQUIRE(waiter.reason() == WaitReason::kSend);
}

TEST_CASE("of two waiters both are claimed, or none") {
  Owner owner;
  Waiter waiters[2] = {Waiter(owner), Waiter(owner)};
  for (int own : {0, 1}) {
    Waiter& mine = waiters[own];
    Waiter& other = waiters[1 - own];
    mine.Open(WaitReason::kReceive);
    other.Open(WaitReason::kSend);
    CHECK(Waiter::TryClaimPair(mine, other) == Waiter::Pair::kClaimed);
    CHECK_FALSE(mine.TryClaim());
    CHECK(Waiter::TryClaimPair(mine, other) != Waiter::Pair::kClaimed);
    mine.Open(WaitReason::kReceive);
    CHECK(Waiter::TryClaimPair(mine, other) == Waiter::Pair::kOtherGone);
    CHECK(mine.TryClaim());
    other.Open(WaitReason::kSend);
    CHECK(Waiter::TryClaimPair(mine, other) == Waiter::Pair::kOwnGone);
    CHECK(other.TryClaim());
  }
}

TEST_CASE("of many threads that claim pairs one has both, and one that claims alone has one") {
  Owner owner;
  Waiter waiters[2] = {Waiter(owner), Waiter(owner)};
  for (int round = 0; round < 500; ++round) {
    for (Waiter& waiter : waiters) waiter.Open(WaitReason::kReceive);
    std::atomic<int> claimed[2] = {0, 0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int own : {0, 1}) {
      threads.emplace_back([&, own] {
        while (!go.load()) continue;
        if (Waiter::TryClaimPair(waiters[own], waiters[1 - own]) != Waiter::Pair::kClaimed) return;
        for (std::atomic<int>& count : claimed) count.fetch_add(1);
      });
    }
    if (round % 2 == 0) {
      threads.emplace_back([&] {
        while (!go.load()) continue;
        if (waiters[1].TryClaim()) claimed[1].fetch_add(1);
      });
    }
    go.store(true);
    for (std::thread& thread : threads) thread.join();
    REQUIRE(claimed[1].load() == 1);
    // Without a third, the two do not take each other for gone.
    if (round % 2 == 1) REQUIRE(claimed[0].load() == 1);
  }
}

TEST_CASE("of many threads exactly one claims a waiter") {
  Owner owner;
  Waiter waiter(owner);
  for (int round = 0; round < 200; ++round) {
    waiter.Open(WaitReason::kReceive);
    std::atomic<int> winners{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!go.load()) continue;
        if (waiter.TryClaim()) winners.fetch_add(1);
      });
    }
    go.store(true);
    for (std::thread& thread : threads) thread.join();
    REQUIRE(winners.load() == 1);
  }
}

TEST_CASE("a due timer claims the waiter and completes it with a timeout") {
  Owner owner;
  Waiter waiter(owner);
  waiter.Open(WaitReason::kSleep);
  REQUIRE(waiter.OnDue());
  waiter.Fire();
  REQUIRE(owner.completed == std::vector<Waiter*>{&waiter});
  REQUIRE(waiter.outcome() == Status::kTimeout);
}

TEST_CASE("a timer that is due too late does not count") {
  Owner owner;
  Waiter waiter(owner);
  waiter.Open(WaitReason::kSleep);
  REQUIRE(waiter.TryClaim());
  REQUIRE_FALSE(waiter.OnDue());
}

TEST_CASE("a wake list notifies in the order of the claims, after the lock") {
  Owner owner;
  Waiter first(owner);
  Waiter second(owner);
  Mutex mutex(LockRank::kLeaf);
  {
    WakeList wakes;
    MutexLock lock(mutex);
    wakes.Add(first);
    wakes.Add(second);
    REQUIRE(owner.completed.empty());
  }
  REQUIRE(owner.completed == std::vector<Waiter*>{&first, &second});
}

TEST_CASE("withdrawing takes back the published nodes only") {
  Place place;
  WaitNode nodes[3];
  for (int i : {0, 2}) {
    nodes[i].place = &place;
    place.list.PushBack(nodes[i]);
  }
  nodes[2].Unlink();  // the place has dropped it meanwhile
  WithdrawAll(nodes);
  REQUIRE(place.list.empty());
  REQUIRE(place.withdrawn == 2);
  REQUIRE(nodes[0].place == nullptr);
  WithdrawAll(nodes);
  REQUIRE(place.withdrawn == 2);
}
