// SPDX-License-Identifier: MIT
#include "runtime/channel/select_case.h"

#include <catch2/catch.hpp>

#include "tests/channel/select_task.h"

namespace shoal::core {
namespace {

const KeyName kA = KeyName::Integer(1);
const KeyName kB = KeyName::Integer(2);

TEST_CASE("of the cases of a select that are ready the first one happens") {
  World world({.limit = 1});
  Channel& channel = *world.channel;
  REQUIRE(SendText(channel, kB, "b") == Status::kOk);
  Selector selector;
  REQUIRE(selector.Select({{&channel, kA}, {&channel, kB}, {&channel, kA, "a"}}) == Status::kOk);
  CHECK(selector.index() == 1);
  CHECK(selector.received() == Texts{"b"});
  CHECK(channel.Count(kA) == 0);
  REQUIRE(selector.Select({{&channel, kA}, {&channel, kA, "a"}, {&channel, kB}}) == Status::kOk);
  CHECK(selector.index() == 1);
  CHECK(Standing(channel, kA) == Texts{"a"});
}

TEST_CASE("a select completes by the first message and takes all else back") {
  World world({.limit = 0});
  Channel& channel = *world.channel;
  Selector selector;
  REQUIRE(selector.Select({{&channel, kA}, {&channel, kB, "b"}}) == Status::kPending);
  REQUIRE(SendText(channel, kA, "a") == Status::kOk);
  REQUIRE(selector.completed());
  REQUIRE(selector.Finish() == Status::kOk);
  CHECK(selector.index() == 0);
  CHECK(selector.received() == Texts{"a"});
  CHECK(selector.IsUnsent(1));
  CHECK(ReceiveText(channel, kB) == "<empty>");
}

TEST_CASE("a select takes as many messages as its case asks for, or none") {
  World world({.limit = Channel::kNoLimit});
  Channel& channel = *world.channel;
  Selector selector;
  REQUIRE(SendText(channel, kA, "a") == Status::kOk);
  REQUIRE(selector.Select({{&channel, kA, {}, 2, 3}, {&channel, kB}}) == Status::kPending);
  CHECK(channel.Count(kA) == 1);
  REQUIRE(SendText(channel, kA, "b") == Status::kOk);
  REQUIRE(selector.completed());
  REQUIRE(selector.Finish() == Status::kOk);
  CHECK(selector.received() == Texts{"a", "b"});
  for (const char* text : {"c", "d", "e", "f"}) REQUIRE(SendText(channel, kA, text) == Status::kOk);
  REQUIRE(selector.Select({{&channel, kA, {}, 2, 3}}) == Status::kOk);
  CHECK(selector.received() == Texts{"c", "d", "e"});
}

TEST_CASE("a receive meets a select that sends at limit 0") {
  World world({.limit = 0});
  Channel& channel = *world.channel;
  Selector selector;
  REQUIRE(selector.Select({{&channel, kA}, {&channel, kB, "b"}}) == Status::kPending);
  CHECK(ReceiveText(channel, kB) == "b");
  REQUIRE(selector.Finish() == Status::kOk);
  CHECK(selector.index() == 1);
  CHECK_FALSE(selector.IsUnsent(1));
}

TEST_CASE("a select that sends meets one that receives, and the other way round") {
  World world({.limit = 0});
  Channel& channel = *world.channel;
  Selector first;
  Selector second;
  REQUIRE(first.Select({{&channel, kB}, {&channel, kA}}) == Status::kPending);
  REQUIRE(second.Select({{&channel, kA, "x"}, {&channel, kB, "y"}}) == Status::kOk);
  CHECK(second.index() == 0);
  REQUIRE(first.Finish() == Status::kOk);
  CHECK(first.index() == 1);
  CHECK(first.received() == Texts{"x"});
  REQUIRE(first.Select({{&channel, kA, "x"}, {&channel, kB, "y"}}) == Status::kPending);
  REQUIRE(second.Select({{&channel, kB}, {&channel, kA}}) == Status::kOk);
  CHECK(second.received() == Texts{"y"});
  REQUIRE(first.Finish() == Status::kOk);
  CHECK(first.index() == 1);
}

TEST_CASE("a select does not meet itself, and others meet it under the same key") {
  World world({.limit = 0});
  Channel& channel = *world.channel;
  const std::vector<std::vector<CaseOf>> orders = {{{&channel, kA}, {&channel, kA, "own"}},
                                                   {{&channel, kA, "own"}, {&channel, kA}}};
  for (const std::vector<CaseOf>& cases : orders) {
    Selector selector;
    REQUIRE(selector.Select(cases) == Status::kPending);
    CHECK(ReceiveText(channel, kA) == "own");
    REQUIRE(selector.Finish() == Status::kOk);
    REQUIRE(selector.Select(cases) == Status::kPending);
    // Not behind the sender that waits there, for that one is the receiver.
    REQUIRE(SendText(channel, kA, "other") == Status::kOk);
    REQUIRE(selector.Finish() == Status::kOk);
    CHECK(selector.received() == Texts{"other"});
    // Another select that does the same.
    Selector other;
    REQUIRE(selector.Select(cases) == Status::kPending);
    REQUIRE(other.Select(cases) == Status::kOk);
    REQUIRE(selector.Finish() == Status::kOk);
    CHECK(selector.received().size() + other.received().size() == 1);
  }
}

TEST_CASE("a select sends when there is room, in the order of the senders") {
  World world({.limit = 1});
  Channel& channel = *world.channel;
  REQUIRE(SendText(channel, kA, "1") == Status::kOk);
  Selector selector;
  Task behind;
  REQUIRE(selector.Select({{&channel, kB}, {&channel, kA, "2"}}) == Status::kPending);
  REQUIRE(behind.Send(channel, kA, "3") == Status::kPending);
  CHECK(ReceiveText(channel, kA) == "1");
  REQUIRE(selector.completed());
  REQUIRE(selector.Finish() == Status::kOk);
  CHECK(selector.index() == 1);
  CHECK(ReceiveText(channel, kA) == "2");
  CHECK(ReceiveText(channel, kA) == "3");
}

TEST_CASE("who waits behind a select that ends is let in") {
  World world({.limit = 1});
  Channel& channel = *world.channel;
  MessageList two = Batch({"x", "y"});
  REQUIRE(SendText(channel, kA, "1") == Status::kOk);
  Selector selector;
  Task behind;
  REQUIRE(selector.Select({{&channel, kA, "2"}}) == Status::kPending);
  REQUIRE(behind.Send(channel, kA, "3") == Status::kPending);
  REQUIRE(selector.Claim());
  CHECK(ReceiveText(channel, kA) == "1");
  CHECK(behind.completed());
  REQUIRE(selector.Finish() == Status::kTimeout);
  CHECK(selector.IsUnsent(0));
  CHECK(Standing(channel, kA) == Texts{"3"});
}

TEST_CASE("a closed channel is a case that is ready") {
  World world({.limit = 0});
  Channel& channel = *world.channel;
  Ref<Channel> open = world.registry.Make({.limit = 0});
  for (const char* text : {"", "x"}) {
    const KeyName key = text[0] == '\0' ? kA : kB;
    Selector waits;
    REQUIRE(
        waits.Select({{open.get(), kA}, {&channel, key, text}, {&channel, KeyName::Integer(3)}}) ==
        Status::kPending);
    channel.CloseKey(key);
    REQUIRE(waits.completed());
    REQUIRE(waits.Finish() == Status::kClosed);
    CHECK(waits.index() == 1);
    Selector comes;
    REQUIRE(comes.Select({{open.get(), kA}, {&channel, key, text}}) == Status::kClosed);
    CHECK(comes.index() == 1);
  }
}

TEST_CASE("a select waits for room in a budget, and gives back what it does not use") {
  World world({}, 4 * Message::kNodeSize);
  Channel& channel = *world.channel;
  while (SendText(channel, kA, "full") == Status::kOk) continue;
  Selector selector;
  REQUIRE(selector.Select({{&channel, kB}, {&channel, kA, "more"}}) == Status::kPending);
  SECTION("room comes") {
    while (!selector.completed()) REQUIRE(ReceiveText(channel, kA) == "full");
    REQUIRE(selector.Finish() == Status::kOk);
    CHECK(selector.index() == 1);
  }
  SECTION("room comes, but not at the limit of the key") {
    channel.SetLimit(kA, 1);
    while (!selector.completed()) REQUIRE(ReceiveText(channel, kA) == "full");
    const bool again = selector.Finish() == Status::kPending;
    if (again) {
      while (!selector.completed()) REQUIRE(ReceiveText(channel, kA) == "full");
      REQUIRE(selector.Finish() == Status::kOk);
    }
    CHECK(selector.index() == 1);
  }
  SECTION("another case happens") {
    channel.SetLimit(kA, 0);
    MessageList other = One("other");
    REQUIRE(channel.SendAnyway(kB, other) == Status::kOk);
    REQUIRE(selector.completed());
    REQUIRE(selector.Finish() == Status::kOk);
    CHECK(selector.index() == 0);
    CHECK(selector.IsUnsent(1));
  }
  SECTION("the channel is closed") {
    channel.Close();
    REQUIRE(selector.completed());
    REQUIRE(selector.Finish() == Status::kClosed);
  }
  while (ReceiveText(channel, kA)[0] != '<') continue;
  CHECK(world.registry.queue_memory().used() == 0);
}

}  // namespace
}  // namespace shoal::core
