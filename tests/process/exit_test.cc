// SPDX-License-Identifier: MIT
#include "runtime/process/exit.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace shoal::core;

namespace {

class Owner final : public WaitOwner {
 public:
  void OnComplete(Waiter& waiter) override { completed.push_back(&waiter); }
  std::vector<Waiter*> completed;
};

struct Joiner {
  explicit Joiner(Owner& owner) : waiter(owner) {
    node.waiter = &waiter;
    waiter.Open(WaitReason::kJoin);
  }
  Waiter waiter;
  WaitNode node;
};

}  // namespace

TEST_CASE("an exit completes all who joined before") {
  Exit exit;
  Owner owner;
  Joiner a(owner);
  Joiner b(owner);
  REQUIRE(exit.JoinOrWait(a.node) == Status::kPending);
  REQUIRE(exit.JoinOrWait(b.node) == Status::kPending);
  static_cast<void>(exit.Set(ExitKind::kDone, nullptr, "", {}));
  REQUIRE(owner.completed == std::vector<Waiter*>{&a.waiter, &b.waiter});
  REQUIRE(a.waiter.outcome() == Status::kOk);
}

TEST_CASE("an exit that is set answers at once, as often as asked") {
  Exit exit;
  static_cast<void>(exit.Set(ExitKind::kError, nullptr, "trace", {}));
  Owner owner;
  Joiner joiner(owner);
  REQUIRE(exit.JoinOrWait(joiner.node) == Status::kOk);
  REQUIRE(exit.JoinOrWait(joiner.node) == Status::kOk);
  REQUIRE(exit.kind() == ExitKind::kError);
  REQUIRE(exit.traceback() == "trace");
}

TEST_CASE("a joiner that gave up is not completed") {
  Exit exit;
  Owner owner;
  Joiner joiner(owner);
  REQUIRE(exit.JoinOrWait(joiner.node) == Status::kPending);
  exit.Withdraw(joiner.node);
  static_cast<void>(exit.Set(ExitKind::kDone, nullptr, "", {}));
  REQUIRE(owner.completed.empty());
}

TEST_CASE("a failure is joined by who waits for the exit, not by one whose time had come") {
  for (const bool late : {false, true}) {
    Exit exit;
    Owner owner;
    Joiner joiner(owner);
    const auto failure = Ref<Failure>::Adopt(new Failure("", ""));
    REQUIRE(exit.JoinOrWait(joiner.node) == Status::kPending);
    if (late) REQUIRE(joiner.waiter.TryClaim());
    static_cast<void>(exit.Set(ExitKind::kError, nullptr, "", failure));
    REQUIRE(failure->joined() == !late);
  }
}

namespace {

class CountingWatch final : public ExitWatch {
 public:
  explicit CountingWatch(bool joins = false) : joins_(joins) {}
  void OnExit(ExitKind kind, const Message*, const Ref<Failure>&) override {
    last = kind;
    ++told;
  }
  [[nodiscard]] bool joins() const override { return joins_; }
  ExitKind last = ExitKind::kNone;
  int told = 0;

 private:
  const bool joins_;
};

}  // namespace

TEST_CASE("a failure that had been counted no longer counts when a later exit is joined") {
  Exit exit;
  Owner owner;
  Joiner joiner(owner);
  const auto failure = Ref<Failure>::Adopt(new Failure("", ""));
  REQUIRE(failure->Count());
  REQUIRE(exit.JoinOrWait(joiner.node) == Status::kPending);
  REQUIRE(exit.Set(ExitKind::kError, nullptr, "", failure));
}

TEST_CASE("a watch is told once, when the exit is set, or at once") {
  Exit exit;
  const auto before = Ref<CountingWatch>::Adopt(new CountingWatch);
  const auto after = Ref<CountingWatch>::Adopt(new CountingWatch);
  REQUIRE(exit.Watch(*before) == Status::kPending);
  REQUIRE(before->told == 0);
  static_cast<void>(exit.Set(ExitKind::kCancelled, nullptr, "", {}));
  REQUIRE(before->told == 1);
  REQUIRE(before->last == ExitKind::kCancelled);
  REQUIRE(exit.Watch(*after) == Status::kOk);
  REQUIRE(after->told == 1);
  REQUIRE_FALSE(exit.Unwatch(*before));
}

TEST_CASE("a watch that was taken back is not told") {
  Exit exit;
  const auto watch = Ref<CountingWatch>::Adopt(new CountingWatch);
  REQUIRE(exit.Watch(*watch) == Status::kPending);
  REQUIRE(exit.Unwatch(*watch));
  REQUIRE_FALSE(exit.Unwatch(*watch));
  static_cast<void>(exit.Set(ExitKind::kDone, nullptr, "", {}));
  REQUIRE(watch->told == 0);
}

TEST_CASE("a watch joins a failure if it says so") {
  for (const bool joins : {false, true}) {
    Exit exit;
    const auto watch = Ref<CountingWatch>::Adopt(new CountingWatch(joins));
    const auto failure = Ref<Failure>::Adopt(new Failure("", ""));
    static_cast<void>(exit.Watch(*watch));
    static_cast<void>(exit.Set(ExitKind::kError, nullptr, "", failure));
    REQUIRE(failure->joined() == joins);
  }
}
