// SPDX-License-Identifier: MIT
#include "runtime/wait/select.h"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

using namespace shoal::core;

namespace {

class Owner final : public WaitOwner {
 public:
  void OnComplete(Waiter&) override {}
};

// Does what it is told, and counts the nodes that are published.
class ScriptedCase final : public SelectCase, public WaitPlace {
 public:
  Status Try(WaitNode&) override {
    ++tries;
    return ready;
  }
  Attempt Publish(WaitNode& node) override {
    const Attempt attempt = attempts.empty() ? Attempt::kPublished : attempts.front();
    if (!attempts.empty()) attempts.erase(attempts.begin());
    if (attempt == Attempt::kPublished) {
      node.place = this;
      list.PushBack(node);
    } else if (attempt != Attempt::kCompleted) {
      REQUIRE(node.waiter->TryClaim());
    }
    return attempt;
  }
  Status Completed(WaitNode&, Status outcome) override { return outcome; }
  void Withdraw(WaitNode& node) override {
    if (node.linked()) node.Unlink();
  }

  Status ready = Status::kEmpty;
  std::vector<Attempt> attempts;
  List<WaitNode, WaitTag> list;
  int tries = 0;
};

struct Three {
  Status Select() { return SelectOrWait(pointers, nodes, waiter, &index); }

  Owner owner;
  Waiter waiter{owner};
  std::array<ScriptedCase, 3> cases;
  std::array<SelectCase*, 3> pointers{&cases[0], &cases[1], &cases[2]};
  std::array<WaitNode, 3> nodes;
  std::uint32_t index = 99;
};

}  // namespace

TEST_CASE("the first case that is ready happens, and none behind it is tried") {
  Three three;
  three.cases[1].ready = Status::kClosed;
  three.cases[2].ready = Status::kOk;
  CHECK(three.Select() == Status::kClosed);
  CHECK(three.index == 1);
  CHECK(three.cases[2].tries == 0);
}

TEST_CASE("a select of which no case is ready is published in all places") {
  Three three;
  REQUIRE(three.Select() == Status::kPending);
  for (ScriptedCase& one : three.cases) CHECK_FALSE(one.list.empty());
  CHECK(three.waiter.TryClaim());
  WithdrawAll(three.nodes);
}

TEST_CASE("a case that happens while it is published takes the others back") {
  Three three;
  three.cases[1].attempts = {Attempt::kHappened};
  REQUIRE(three.Select() == Status::kOk);
  CHECK(three.index == 1);
  for (ScriptedCase& one : three.cases) CHECK(one.list.empty());
}

TEST_CASE("a select that has been completed meanwhile publishes nothing more") {
  Three three;
  three.cases[1].attempts = {Attempt::kCompleted};
  REQUIRE(three.Select() == Status::kPending);
  CHECK(three.cases[2].list.empty());
  WithdrawAll(three.nodes);
}
