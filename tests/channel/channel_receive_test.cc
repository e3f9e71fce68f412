// SPDX-License-Identifier: MIT
// Receiving: several keys, batches, deadlines, rendezvous.
#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

const KeyName kKey = KeyName::String("k");

TEST_CASE("a waiting receiver gets the next message") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(receiver.completions() == 1);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"a"});
  CHECK(world.channel->Count(kKey) == 0);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK(receiver.completions() == 1);
}

TEST_CASE("waiting receivers are served in order") {
  World world;
  Task tasks[3];
  for (Task& task : tasks) REQUIRE(task.Receive(*world.channel, kKey) == Status::kPending);
  for (Task& task : tasks) {
    CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
    CHECK(task.Finish() == Status::kOk);
  }
}

TEST_CASE("a receive that finds a message does not wait") {
  World world;
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  Task receiver;
  CHECK(receiver.Receive(*world.channel, kKey) == Status::kOk);
  CHECK(receiver.received() == Texts{"a"});
  CHECK_FALSE(receiver.completed());
}

TEST_CASE("a receive on several keys takes from the first in their order") {
  World world;
  REQUIRE(SendText(*world.channel, Name("b"), "1") == Status::kOk);
  REQUIRE(SendText(*world.channel, Name("c"), "2") == Status::kOk);
  Task receiver;
  CHECK(receiver.Receive(*world.channel, {Name("a"), Name("c"), Name("b")}) == Status::kOk);
  CHECK(receiver.index() == 1);
  CHECK(receiver.received() == Texts{"2"});
}

TEST_CASE("a receive on several keys takes one message") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, {Name("a"), Name("b"), Name("c")}) == Status::kPending);
  CHECK(SendText(*world.channel, Name("b"), "1") == Status::kOk);
  CHECK(SendText(*world.channel, Name("a"), "2") == Status::kOk);
  CHECK(receiver.completions() == 1);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.index() == 1);
  CHECK(receiver.received() == Texts{"1"});
  CHECK(SendText(*world.channel, Name("c"), "3") == Status::kOk);
  CHECK(Standing(*world.channel, Name("a")) == Texts{"2"});
  CHECK(Standing(*world.channel, Name("c")) == Texts{"3"});
}

TEST_CASE("one key may be given twice") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, {kKey, kKey}) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "1") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "2") == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.index() == 0);
  CHECK(Standing(*world.channel, kKey) == Texts{"2"});
}

TEST_CASE("a receiver whose deadline has passed takes nothing") {
  World world;
  Task gone;
  Task next;
  REQUIRE(gone.Receive(*world.channel, kKey) == Status::kPending);
  REQUIRE(next.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(gone.Claim());
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(gone.Finish() == Status::kTimeout);
  CHECK(next.Finish() == Status::kOk);
  CHECK(next.received() == Texts{"a"});
}

TEST_CASE("a deadline that comes after a message does not count") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK_FALSE(receiver.Claim());
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"a"});
}

TEST_CASE("a withdrawn receiver may wait again") {
  World world;
  Task receiver;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(receiver.Receive(*world.channel, {kKey, Name("other")}) == Status::kPending);
    CHECK(receiver.Claim());
    CHECK(receiver.Finish() == Status::kTimeout);
  }
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(world.channel->Count(kKey) == 1);
}

TEST_CASE("a batch receive takes what stands, at most max") {
  World world;
  MessageList list = Batch({"a", "b", "c"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  CHECK(world.channel->Receive(kKey, 4, 5, &list) == Status::kEmpty);
  CHECK(world.channel->Receive(kKey, 1, 2, &list) == Status::kOk);
  CHECK(TextsOf(list) == Texts{"a", "b"});
  CHECK(world.channel->Receive(kKey, 1, 2, &list) == Status::kOk);
  CHECK(TextsOf(list) == Texts{"c"});
}

TEST_CASE("a receiver that waits for several messages is completed when they stand") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey, 3, 4) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK_FALSE(receiver.completed());
  CHECK(world.channel->Count(kKey) == 2);
  MessageList list = Batch({"c", "d", "e"});
  CHECK(world.channel->Send(kKey, list) == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"a", "b", "c", "d"});
  CHECK(Standing(*world.channel, kKey) == Texts{"e"});
}

TEST_CASE("a receiver that wants more does not keep others from what stands") {
  World world;
  Task many;
  Task one;
  REQUIRE(many.Receive(*world.channel, kKey, 3, 3) == Status::kPending);
  REQUIRE(one.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK_FALSE(many.completed());
  CHECK(one.Finish() == Status::kOk);
  CHECK(one.received() == Texts{"a"});
}

TEST_CASE("a receiver may ask for more than the limit: the last one comes directly") {
  World world({.limit = 2});
  MessageList list = Batch({"a", "b"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  Task receiver;
  Task sender;
  SECTION("from a send") {
    REQUIRE(receiver.Receive(*world.channel, kKey, 3, 3) == Status::kPending);
    CHECK(SendText(*world.channel, kKey, "c") == Status::kOk);
    CHECK(receiver.Finish() == Status::kOk);
  }
  SECTION("from a blocked sender") {
    REQUIRE(sender.Send(*world.channel, kKey, "c") == Status::kPending);
    REQUIRE(receiver.Receive(*world.channel, kKey, 3, 3) == Status::kOk);
    CHECK(sender.Finish() == Status::kOk);
  }
  CHECK(receiver.received() == Texts{"a", "b", "c"});
}

// --- Rendezvous.

TEST_CASE("a receive on several keys meets a blocked sender") {
  World world({.limit = 0});
  Task sender;
  Task receiver;
  REQUIRE(sender.Send(*world.channel, Name("b"), "1") == Status::kPending);
  CHECK(receiver.Receive(*world.channel, {Name("a"), Name("b")}) == Status::kOk);
  CHECK(receiver.index() == 1);
  CHECK(receiver.received() == Texts{"1"});
  CHECK(sender.Finish() == Status::kOk);
  CHECK(SendText(*world.channel, Name("a"), "2") == Status::kFull);
}

TEST_CASE("a receiver that meets a sender whose deadline has passed goes on to the next one") {
  World world({.limit = 0});
  Task gone;
  Task next;
  Task receiver;
  REQUIRE(gone.Send(*world.channel, kKey, "1") == Status::kPending);
  REQUIRE(next.Send(*world.channel, kKey, "2") == Status::kPending);
  CHECK(gone.Claim());
  SECTION("with one key") { CHECK(receiver.Receive(*world.channel, kKey) == Status::kOk); }
  SECTION("with two keys") {
    CHECK(receiver.Receive(*world.channel, {Name("other"), kKey}) == Status::kOk);
  }
  CHECK(receiver.received() == Texts{"2"});
  CHECK(gone.Finish() == Status::kTimeout);
  CHECK(gone.unsent() == Texts{"1"});
}

TEST_CASE("a rendezvous receiver that waits is met by a sender on any of its keys") {
  World world({.limit = 0});
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, {Name("a"), Name("b")}) == Status::kPending);
  Task sender;
  CHECK(sender.Send(*world.channel, Name("b"), "1") == Status::kOk);
  CHECK(sender.Send(*world.channel, Name("a"), "2") == Status::kPending);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.index() == 1);
  CHECK(sender.Claim());
  CHECK(sender.Finish() == Status::kTimeout);
}

}  // namespace
}  // namespace shoal::core
