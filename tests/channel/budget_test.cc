// SPDX-License-Identifier: MIT
#include "runtime/channel/budget.h"

#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

// A sender that waits for a budget.
struct Sender {
  explicit Sender(Budget& where) : budget(where) { node.waiter = &task.waiter(); }
  ~Sender() { budget.Withdraw(node); }
  Status Wait(std::size_t bytes) {
    task.waiter().Open(WaitReason::kQueueMemory);
    return budget.ReserveOrWait(bytes, node);
  }
  Budget& budget;
  Task task;
  WaitNode node;
};

void Return(Budget& budget, std::size_t bytes) {
  WakeList wakes;
  budget.Return(bytes, wakes);
}

TEST_CASE("a budget gives what fits") {
  Budget budget(100);
  CHECK(budget.TryReserve(60));
  CHECK_FALSE(budget.TryReserve(41));
  CHECK(budget.TryReserve(40));
  CHECK_FALSE(budget.TryReserve(1));
  CHECK(budget.used() == 100);
  Return(budget, 60);
  CHECK(budget.TryReserve(60));
  Return(budget, 100);
}

TEST_CASE("what is larger than the whole budget passes alone") {
  Budget budget(100);
  CHECK(budget.TryReserve(500));
  CHECK_FALSE(budget.TryReserve(1));
  Return(budget, 500);
  CHECK(budget.TryReserve(1));
  CHECK_FALSE(budget.TryReserve(500));
}

TEST_CASE("an unlimited budget gives always") {
  Budget budget(Budget::kUnlimited);
  CHECK(budget.TryReserve(SIZE_MAX / 2));
  CHECK(budget.TryReserve(SIZE_MAX / 2));
}

TEST_CASE("a sender that waits for a budget gets its reservation") {
  Budget budget(100);
  CHECK(budget.TryReserve(100));
  Sender sender(budget);
  REQUIRE(sender.Wait(50) == Status::kPending);
  Return(budget, 40);
  CHECK_FALSE(sender.task.completed());
  Return(budget, 10);
  REQUIRE(sender.task.completed());
  CHECK(sender.task.waiter().outcome() == Status::kFull);
  CHECK(sender.node.key == &budget);
  CHECK(sender.node.need == 50);
  CHECK(budget.used() == 100);
}

TEST_CASE("room that is there when a sender begins to wait is given at once") {
  Budget budget(100);
  Sender sender(budget);
  CHECK(sender.Wait(50) == Status::kOk);
  CHECK(budget.used() == 50);
}

TEST_CASE("waiting senders get room in their order, and small ones pass a large one") {
  Budget budget(100);
  CHECK(budget.TryReserve(100));
  Sender large(budget);
  Sender small(budget);
  Sender last(budget);
  REQUIRE(large.Wait(80) == Status::kPending);
  REQUIRE(small.Wait(20) == Status::kPending);
  REQUIRE(last.Wait(20) == Status::kPending);
  Return(budget, 20);
  CHECK_FALSE(large.task.completed());
  CHECK(small.task.completed());
  CHECK_FALSE(last.task.completed());
  Return(budget, 80);
  CHECK(large.task.completed());
  CHECK_FALSE(last.task.completed());
  CHECK(budget.used() == 100);
}

TEST_CASE("a sender whose deadline has passed gets nothing") {
  Budget budget(100);
  CHECK(budget.TryReserve(100));
  Sender gone(budget);
  Sender next(budget);
  REQUIRE(gone.Wait(60) == Status::kPending);
  REQUIRE(next.Wait(60) == Status::kPending);
  CHECK(gone.task.Claim());
  Return(budget, 100);
  CHECK(gone.task.waiter().outcome() == Status::kTimeout);
  CHECK(gone.node.key == nullptr);
  CHECK(next.task.completed());
  CHECK(budget.used() == 60);
}

TEST_CASE("a sender that was withdrawn gets nothing") {
  Budget budget(100);
  CHECK(budget.TryReserve(100));
  Sender sender(budget);
  REQUIRE(sender.Wait(60) == Status::kPending);
  CHECK(sender.task.Claim());
  budget.Withdraw(sender.node);
  budget.Withdraw(sender.node);
  Return(budget, 100);
  CHECK(budget.used() == 0);
}

TEST_CASE("all waiting senders can be made to look again") {
  Budget budget(100);
  CHECK(budget.TryReserve(100));
  Sender a(budget);
  Sender b(budget);
  REQUIRE(a.Wait(60) == Status::kPending);
  REQUIRE(b.Wait(60) == Status::kPending);
  {
    WakeList wakes;
    budget.WakeAll(wakes);
  }
  CHECK(a.task.completed());
  CHECK(b.task.completed());
  CHECK(a.node.key == nullptr);
  CHECK(budget.used() == 100);
}

}  // namespace
}  // namespace shoal::core
