// SPDX-License-Identifier: MIT
#include "runtime/process/end_case.h"

#include <catch2/catch.hpp>

#include "tests/support/script_runner.h"

using namespace shoal::core;
using shoal::test::RunScript;

namespace {

class Owner final : public WaitOwner {
 public:
  void OnComplete(Waiter&) override { ++completions; }
  int completions = 0;
};

}  // namespace

TEST_CASE("an end that has come is ready, one that comes completes the wait") {
  Owner owner;
  Waiter waiter(owner);
  Exit exit;
  EndCase<Exit> end(exit);
  SelectCase* const cases[] = {&end};
  WaitNode nodes[1];
  std::uint32_t index = 0;
  REQUIRE(SelectOrWait(cases, nodes, waiter, &index) == Status::kPending);
  exit.Set(ExitKind::kDone, nullptr, "", {});
  REQUIRE(owner.completions == 1);
  REQUIRE(end.Completed(nodes[0], waiter.outcome()) == Status::kOk);
  WithdrawAll(nodes);
  REQUIRE(SelectOrWait(cases, nodes, waiter, &index) == Status::kOk);
  REQUIRE(owner.completions == 1);
}

TEST_CASE("an error that a select takes note of is not reported") {
  const auto result = RunScript(R"lua(
    local shoal = require "shoal"
    local i, value, err = shoal.select({ { shoal.channel(), "k" }, { shoal.spawn(error, "x") } })
    assert(i == 2 and value == nil and err == "x")
    i, value, err = shoal.select({ { shoal.task(error, "y") } })
    assert(i == 1 and value == nil and err == "y"))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
}
