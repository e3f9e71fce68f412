// SPDX-License-Identifier: MIT
// Sending: direct hand-over, limits, rendezvous, budgets, replace, increment, put back.
#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

const KeyName kKey = KeyName::String("k");

TEST_CASE("messages stand in the order of their sends") {
  World world;
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK(SendText(*world.channel, Name("other"), "c") == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "b"});
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  CHECK(ReceiveText(*world.channel, kKey) == "b");
  CHECK(ReceiveText(*world.channel, kKey) == "<empty>");
}

TEST_CASE("a send that fails changes nothing") {
  World world({.limit = 1});
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  MessageList list = One("b");
  CHECK(world.channel->Send(kKey, list) == Status::kFull);
  CHECK(TextsOf(list) == Texts{"b"});
  world.channel->Close();
  CHECK(world.channel->Send(kKey, list) == Status::kClosed);
  CHECK(TextsOf(list) == Texts{"b"});
  CHECK(Standing(*world.channel, kKey) == Texts{"a"});
}

TEST_CASE("a batch goes in whole or not at all") {
  World world({.limit = 3});
  MessageList list = Batch({"a", "b"});
  CHECK(world.channel->Send(kKey, list) == Status::kOk);
  CHECK(list.empty());
  list = Batch({"c", "d"});
  CHECK(world.channel->Send(kKey, list) == Status::kFull);
  CHECK(TextsOf(list) == Texts{"c", "d"});
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "b"});
}

TEST_CASE("a batch is shared by the waiting receivers, and the rest stands") {
  World world({.limit = 3});
  Task first;
  Task second;
  REQUIRE(first.Receive(*world.channel, kKey) == Status::kPending);
  REQUIRE(second.Receive(*world.channel, kKey) == Status::kPending);
  MessageList list = Batch({"a", "b", "c"});
  CHECK(world.channel->Send(kKey, list) == Status::kOk);
  CHECK(first.Finish() == Status::kOk);
  CHECK(second.Finish() == Status::kOk);
  CHECK(first.received() == Texts{"a"});
  CHECK(second.received() == Texts{"b"});
  CHECK(Standing(*world.channel, kKey) == Texts{"c"});
}

TEST_CASE("a sender waits at the limit until there is room") {
  World world({.limit = 1});
  Task first;
  Task second;
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(first.Send(*world.channel, kKey, "b") == Status::kPending);
  REQUIRE(second.Send(*world.channel, kKey, "c") == Status::kPending);
  CHECK(Standing(*world.channel, kKey) == Texts{"a"});
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  CHECK(first.completed());
  CHECK(first.Finish() == Status::kOk);
  CHECK_FALSE(second.completed());
  CHECK(ReceiveText(*world.channel, kKey) == "b");
  CHECK(second.Finish() == Status::kOk);
  CHECK(ReceiveText(*world.channel, kKey) == "c");
}

TEST_CASE("a send does not pass senders that came before it") {
  World world({.limit = 2});
  Task first;
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(first.Send(*world.channel, kKey, Batch({"b", "c"})) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "d") == Status::kFull);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  CHECK(first.Finish() == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"b", "c"});
}

TEST_CASE("when a sender that does not fit gives up, those behind it are let in") {
  World world({.limit = 2});
  Task large;
  Task small;
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(large.Send(*world.channel, kKey, Batch({"b", "c"})) == Status::kPending);
  REQUIRE(small.Send(*world.channel, kKey, "d") == Status::kPending);
  CHECK(large.Claim());
  SECTION("when it takes its node back") {
    CHECK(large.Finish() == Status::kTimeout);
    CHECK(large.unsent() == Texts{"b", "c"});
    CHECK(small.Finish() == Status::kOk);
    CHECK(Standing(*world.channel, kKey) == Texts{"a", "d"});
  }
  SECTION("or when another one meets it before") {
    CHECK(ReceiveText(*world.channel, kKey) == "a");
    CHECK(small.Finish() == Status::kOk);
    CHECK(large.Finish() == Status::kTimeout);
    CHECK(large.unsent() == Texts{"b", "c"});
  }
}

TEST_CASE("at limit 0 a send returns when it is received") {
  World world({.limit = 0});
  CHECK(SendText(*world.channel, kKey, "a") == Status::kFull);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "a") == Status::kPending);
  CHECK(world.channel->Count(kKey) == 0);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  CHECK(sender.Finish() == Status::kOk);

  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"b"});
}

TEST_CASE("at limit 0 a message is not left behind by a receiver that is gone") {
  World world({.limit = 0});
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(receiver.Claim());
  CHECK(SendText(*world.channel, kKey, "a") == Status::kFull);
  CHECK(world.channel->Count(kKey) == 0);
}

TEST_CASE("at a limit 0 that blocks, a send waits for another limit, also beside a receiver") {
  World world({.limit = 0, .zero_limit = ZeroLimit::kBlocks});
  Channel& channel = *world.channel;
  Task receiver;
  REQUIRE(receiver.Receive(channel, kKey) == Status::kPending);
  CHECK(SendText(channel, kKey, "a") == Status::kFull);
  Task sender;
  REQUIRE(sender.Send(channel, kKey, "b") == Status::kPending);
  Task other;
  REQUIRE(other.Receive(channel, kKey) == Status::kPending);
  CHECK(ReceiveText(channel, kKey) == "<empty>");
  CHECK_FALSE(receiver.completed());
  SECTION("the limit is raised") {
    CHECK(channel.SetLimit(kKey, 1) == 0);
    CHECK(sender.Finish() == Status::kOk);
    CHECK(receiver.Finish() == Status::kOk);
    CHECK(receiver.received() == Texts{"b"});
  }
  SECTION("what is put there without regard to the limit is received") {
    MessageList forced = One("c");
    REQUIRE(channel.Replace(kKey, forced) == Status::kOk);
    CHECK(receiver.Finish() == Status::kOk);
    CHECK(receiver.received() == Texts{"c"});
    CHECK_FALSE(sender.completed());
  }
}

TEST_CASE("raising the limit lets blocked senders in") {
  World world({.limit = 0});
  Task first;
  Task second;
  Task third;
  REQUIRE(first.Send(*world.channel, kKey, "a") == Status::kPending);
  REQUIRE(second.Send(*world.channel, kKey, "b") == Status::kPending);
  REQUIRE(third.Send(*world.channel, kKey, "c") == Status::kPending);
  CHECK(world.channel->SetLimit(kKey, 2) == 0);
  CHECK(first.Finish() == Status::kOk);
  CHECK(second.Finish() == Status::kOk);
  CHECK_FALSE(third.completed());
  CHECK(world.channel->SetLimit(kKey, Channel::kNoLimit) == 2);
  CHECK(third.Finish() == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "b", "c"});
}

// --- Budgets. A message of text takes 128 bytes.

TEST_CASE("the bytes of a channel are bounded exactly") {
  World world({.bytes = 256});
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(SendText(*world.channel, Name("other"), "b") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "c") == Status::kFull);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "c") == Status::kPending);
  CHECK(ReceiveText(*world.channel, Name("other")) == "b");
  REQUIRE(sender.completed());
  CHECK(sender.Finish() == Status::kFull);
  // The room is reserved for it.
  CHECK(SendText(*world.channel, kKey, "d") == Status::kFull);
  CHECK(sender.SendAgain(*world.channel, kKey) == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "c"});
}

TEST_CASE("a reservation that is not used is given back") {
  World world({.bytes = 128});
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "b") == Status::kPending);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  REQUIRE(sender.Finish() == Status::kFull);
  SECTION("when the sender gives up") {
    world.channel->AbandonSend(sender.node());
    world.channel->AbandonSend(sender.node());
  }
  SECTION("when a receiver takes the message directly") {
    Task receiver;
    REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
    CHECK(sender.SendAgain(*world.channel, kKey) == Status::kOk);
    CHECK(receiver.Finish() == Status::kOk);
  }
  SECTION("when the channel was closed meanwhile") {
    Ref<Channel> other = world.registry.Make({});
    world.channel->CloseKey(kKey);
    CHECK(sender.SendAgain(*world.channel, kKey) == Status::kClosed);
    CHECK(sender.unsent() == Texts{"b"});
  }
  CHECK(SendText(*world.channel, Name("other"), "c") == Status::kOk);
  CHECK(SendText(*world.channel, Name("other"), "d") == Status::kFull);
}

TEST_CASE("a waiting receiver takes a message for which there is no room to stand") {
  World world({.bytes = 128});
  REQUIRE(SendText(*world.channel, Name("other"), "a") == Status::kOk);
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
}

TEST_CASE("the queue memory bounds all channels together") {
  World world({}, 1000);
  Ref<Channel> other = world.registry.Make({});
  for (int i = 0; i < 3; ++i) REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  for (int i = 0; i < 4; ++i) REQUIRE(SendText(*other, kKey, "b") == Status::kOk);
  CHECK(world.registry.queue_memory().used() == 7 * 128);
  CHECK(SendText(*other, kKey, "c") == Status::kFull);
  Task sender;
  REQUIRE(sender.Send(*other, kKey, "c") == Status::kPending);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  REQUIRE(sender.Finish() == Status::kFull);
  CHECK(sender.SendAgain(*other, kKey) == Status::kOk);
  CHECK(other->Count(kKey) == 5);
  world.channel = {};
  CHECK(world.registry.queue_memory().used() == 5 * 128);
  other = {};
  CHECK(world.registry.queue_memory().used() == 0);
}

TEST_CASE("a sender let in at the limit without room in a budget waits for the budget") {
  World world({.limit = 1, .bytes = 256});
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, std::string(200, 'b')) == Status::kPending);
  REQUIRE(SendText(*world.channel, Name("other"), "c") == Status::kOk);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  REQUIRE(sender.Finish() == Status::kFull);
  REQUIRE(sender.SendAgain(*world.channel, kKey) == Status::kPending);
  CHECK(ReceiveText(*world.channel, Name("other")) == "c");
  REQUIRE(sender.Finish() == Status::kFull);
  CHECK(sender.SendAgain(*world.channel, kKey) == Status::kOk);
  CHECK(world.channel->Count(kKey) == 1);
}

TEST_CASE("senders that wait for a budget see a close") {
  World world({.bytes = 128}, 1'000'000);
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "b") == Status::kPending);
  SECTION("of the channel") { world.channel->Close(); }
  SECTION("of the key") { world.channel->CloseKey(kKey); }
  REQUIRE(sender.Finish() == Status::kFull);
  CHECK(sender.SendAgain(*world.channel, kKey) == Status::kClosed);
  CHECK(sender.unsent() == Texts{"b"});
}

// --- Replace, SendIfEmpty.

TEST_CASE("replace drops what stands, regardless of the limit") {
  World world({.limit = 2});
  MessageList list = Batch({"a", "b"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  list = One("c");
  CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"c"});
  CHECK(world.channel->SetLimit(kKey, 0) == 2);
  list = One("d");
  CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"d"});
  CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  CHECK(world.channel->Count(kKey) == 0);
}

TEST_CASE("replace gives the message to a waiting receiver") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  MessageList list = One("a");
  CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"a"});
  CHECK(world.channel->Count(kKey) == 0);
}

TEST_CASE("replace lets blocked senders in when it makes room") {
  World world({.limit = 2});
  MessageList list = Batch({"a", "b"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "c") == Status::kPending);
  list = One("d");
  CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  CHECK(sender.Finish() == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"d", "c"});
}

TEST_CASE("send-if-empty sends only if nothing stands there") {
  World world({.limit = 0});
  MessageList list = One("a");
  CHECK(world.channel->SendIfEmpty(kKey, list) == Status::kOk);
  list = One("b");
  CHECK(world.channel->SendIfEmpty(kKey, list) == Status::kExists);
  CHECK(TextsOf(list) == Texts{"b"});
  CHECK(Standing(*world.channel, kKey) == Texts{"a"});
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, Name("other")) == Status::kPending);
  CHECK(world.channel->SendIfEmpty(Name("other"), list) == Status::kOk);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"b"});
}

// --- Increment.

Number Increment(Channel& channel, Number by, TimePoint ttl = kNever) {
  Number result;
  std::uint32_t generation;
  REQUIRE(channel.Increment(kKey, by, ttl, &result, &generation) == Status::kOk);
  CHECK((generation != 0) == (ttl != kNever));
  return result;
}

TEST_CASE("increment counts from 0") {
  World world({.limit = 0});
  CHECK(Increment(*world.channel, std::int64_t{5}) == Number(std::int64_t{5}));
  CHECK(Increment(*world.channel, std::int64_t{-7}) == Number(std::int64_t{-2}));
  CHECK(Increment(*world.channel, 0.5) == Number(-1.5));
  MessageList list;
  REQUIRE(world.channel->Receive(kKey, 1, 1, &list) == Status::kOk);
  CHECK(NumberOf(*list.front()) == Number(-1.5));
  CHECK(Increment(*world.channel, 1.5) == Number(1.5));
}

TEST_CASE("increment gives its result to a waiting receiver") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, kKey) == Status::kPending);
  Number result;
  std::uint32_t generation = 7;
  CHECK(world.channel->Increment(kKey, std::int64_t{3}, TimePoint(Duration(1)), &result,
                                 &generation) == Status::kOk);
  CHECK(generation == 0);
  REQUIRE(receiver.completed());
  CHECK(NumberOf(*receiver.waiter().messages().front()) == Number(std::int64_t{3}));
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(world.channel->Count(kKey) == 0);
}

TEST_CASE("increment refuses what is not exactly one number") {
  World world;
  Number result;
  std::uint32_t generation;
  const auto increment = [&] {
    return world.channel->Increment(kKey, std::int64_t{1}, kNever, &result, &generation);
  };
  REQUIRE(SendText(*world.channel, kKey, "text") == Status::kOk);
  CHECK(increment() == Status::kNotNumber);
  MessageList numbers;
  numbers.PushBack(MakeNumberMessage(std::int64_t{1}));
  REQUIRE(world.channel->Replace(kKey, numbers) == Status::kOk);
  CHECK(increment() == Status::kOk);
  numbers.PushBack(MakeNumberMessage(std::int64_t{1}));
  REQUIRE(world.channel->Send(kKey, numbers) == Status::kOk);
  CHECK(increment() == Status::kNotNumber);
  world.channel->Close();
  CHECK(increment() == Status::kClosed);
}

TEST_CASE("increment keeps a ttl, and sets one only if nothing stood there") {
  World world;
  const TimePoint soon = world.clock.Now() + Duration(1000);
  Increment(*world.channel, std::int64_t{1}, soon);
  CHECK(world.channel->ExpiryOf(kKey) == soon);
  Number result;
  std::uint32_t generation;
  CHECK(world.channel->Increment(kKey, std::int64_t{1}, soon + Duration(5), &result, &generation) ==
        Status::kOk);
  CHECK(generation == 0);
  CHECK(world.channel->ExpiryOf(kKey) == soon);
  world.clock.Advance(Duration(1000));
  CHECK(Increment(*world.channel, std::int64_t{1}) == Number(std::int64_t{1}));
  CHECK(world.channel->ExpiryOf(kKey) == kNever);
}

// --- PutBack.

TEST_CASE("what is put back stands first, also beyond the limit") {
  World world({.limit = 1});
  REQUIRE(SendText(*world.channel, kKey, "c") == Status::kOk);
  MessageList list = Batch({"a", "b"});
  world.channel->PutBack(kKey, list);
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "b", "c"});
}

TEST_CASE("what is put back goes to a waiting receiver, also under a closed key") {
  World world;
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, {kKey, Name("other")}) == Status::kPending);
  world.channel->CloseKey(kKey);
  CHECK_FALSE(receiver.completed());
  MessageList list = One("a");
  world.channel->PutBack(kKey, list);
  CHECK(receiver.Finish() == Status::kOk);
  CHECK(receiver.received() == Texts{"a"});
  list = One("b");
  world.channel->PutBack(kKey, list);
  CHECK(ReceiveText(*world.channel, kKey) == "b");
  CHECK(ReceiveText(*world.channel, kKey) == "<closed>");
}

}  // namespace
}  // namespace shoal::core
