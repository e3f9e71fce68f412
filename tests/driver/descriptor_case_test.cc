// SPDX-License-Identifier: MIT
#include "runtime/driver/descriptor_case.h"

#include <catch2/catch.hpp>
#include <thread>

#include "runtime/base/clock.h"
#include "runtime/driver/poller.h"
#include "runtime/wait/select.h"
#include "tests/driver/polled.h"

namespace shoal::core {
namespace {

struct Fixture {
  SteadyClock clock;
  Poller poller{clock, 1};
};

// A select of one case.
Status Select(OneWait& wait, DescriptorCase& of) {
  SelectCase* const cases[] = {&of};
  std::uint32_t index = 7;
  wait.completed.store(0);
  const Status status = SelectOrWait(cases, {&wait.node, 1}, wait.waiter, &index);
  CHECK((status == Status::kPending || index == 0));
  return status;
}

TEST_CASE_METHOD(Fixture, "a case of a descriptor happens when there is something to read") {
  const SocketPair pair(poller);
  DescriptorCase reads(*pair.near, Direction::kRead);
  OneWait wait;
  CHECK(reads.Try(wait.node) == Status::kEmpty);
  REQUIRE(Select(wait, reads) == Status::kPending);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 1);
  CHECK(reads.Completed(wait.node, wait.outcome()) == Status::kOk);
  // Nothing has been taken: so it happens again, without a wait.
  CHECK(Select(wait, reads) == Status::kOk);
  CHECK(pair.Receive() == "x");
}

TEST_CASE_METHOD(Fixture,
                 "a case of a descriptor starts again if another one has taken what came") {
  const SocketPair pair(poller);
  DescriptorCase reads(*pair.near, Direction::kRead);
  OneWait wait;
  REQUIRE(Select(wait, reads) == Status::kPending);
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 1);
  CHECK(pair.Receive() == "x");
  CHECK(reads.Completed(wait.node, wait.outcome()) == Status::kEmpty);
  REQUIRE(Select(wait, reads) == Status::kPending);
  wait.Withdraw();
}

TEST_CASE_METHOD(Fixture, "an edge from before the look does not make a case happen") {
  const SocketPair pair(poller);
  DescriptorCase reads(*pair.near, Direction::kRead);
  OneWait wait;
  // An edge that is kept, of what is there no more.
  OneWait other;
  REQUIRE(other.Await(*pair.near, Direction::kRead) == Status::kPending);
  OneWait keeps;
  const SocketPair armed(poller);
  REQUIRE(keeps.Await(*armed.near, Direction::kRead) == Status::kPending);
  other.Withdraw();
  REQUIRE(pair.Send("x"));
  CHECK(poller.Poll() == 0);
  CHECK(pair.Receive() == "x");
  CHECK(Select(wait, reads) == Status::kPending);
  CHECK(wait.completed == 0);
  wait.Withdraw();
  keeps.Withdraw();
}

TEST_CASE_METHOD(Fixture, "what comes between the look and the wait is not lost") {
  for (int i = 0; i < Times(2000); ++i) {
    const SocketPair pair(poller);
    DescriptorCase reads(*pair.near, Direction::kRead);
    OneWait wait;
    std::thread sender([&] { static_cast<void>(pair.Send("x")); });
    const Status status = Select(wait, reads);
    sender.join();
    if (status == Status::kPending) {
      REQUIRE(Eventually([&] {
        poller.Poll();
        return wait.completed == 1;
      }));
      CHECK(reads.Completed(wait.node, wait.outcome()) == Status::kOk);
    } else {
      CHECK(status == Status::kOk);
    }
    CHECK_FALSE(poller.Armed());
  }
}

TEST_CASE_METHOD(Fixture, "a case of a descriptor that is full or has been closed says so") {
  const SocketPair pair(poller);
  DescriptorCase writes(*pair.near, Direction::kWrite);
  OneWait wait;
  CHECK(Select(wait, writes) == Status::kOk);
  pair.FillNear();
  REQUIRE(Select(wait, writes) == Status::kPending);
  pair.EmptyFar();
  CHECK(poller.Poll() == 1);
  CHECK(writes.Completed(wait.node, wait.outcome()) == Status::kOk);
  pair.FillNear();
  REQUIRE(Select(wait, writes) == Status::kPending);
  pair.near->Close();
  CHECK(writes.Completed(wait.node, wait.outcome()) == Status::kClosed);
  CHECK(Select(wait, writes) == Status::kClosed);
}

}  // namespace
}  // namespace shoal::core
