// SPDX-License-Identifier: MIT
// Looking, properties, expiry, close, and what a channel keeps alive.
#include "runtime/channel/channel.h"

#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

const KeyName kKey = KeyName::String("k");

TEST_CASE("peek sees the oldest messages and takes nothing") {
  World world({.limit = 3});
  MessageList list = Batch({"a", "b", "c"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  Task blocked;
  REQUIRE(blocked.Send(*world.channel, kKey, "d") == Status::kPending);
  Texts seen;
  world.channel->Peek(kKey, 2, [&](const Message& message) { seen.push_back(TextOf(message)); });
  CHECK(seen == Texts{"a", "b"});
  CHECK(Standing(*world.channel, kKey) == Texts{"a", "b", "c"});
  CHECK(Standing(*world.channel, Name("none")).empty());
}

TEST_CASE("keys are those under which messages stand") {
  World world({.limit = 1});
  Task receiver;
  REQUIRE(receiver.Receive(*world.channel, Name("waits")) == Status::kPending);
  world.channel->SetLimit(Name("limited"), 5);
  world.channel->CloseKey(Name("closed"));
  REQUIRE(SendText(*world.channel, KeyName::Integer(7), "a") == Status::kOk);
  REQUIRE(SendText(*world.channel, Name("text"), "a") == Status::kOk);
  const std::vector<StoredKeyName> keys = world.channel->Keys();
  REQUIRE(keys.size() == 2);
  const auto has = [&](const KeyName& name) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const StoredKeyName& key) { return key.view() == name; });
  };
  CHECK(has(KeyName::Integer(7)));
  CHECK(has(Name("text")));
}

TEST_CASE("a key may have a limit of its own") {
  World world({.limit = 1});
  CHECK(world.channel->Limit(kKey) == 1);
  CHECK(world.channel->SetLimit(kKey, 2) == 1);
  CHECK(world.channel->Limit(kKey) == 2);
  CHECK(world.channel->Limit(Name("other")) == 1);
  CHECK(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  CHECK(SendText(*world.channel, kKey, "c") == Status::kFull);
  CHECK(world.channel->SetLimit(kKey, 1) == 2);
  CHECK(ReceiveText(*world.channel, kKey) == "a");
  CHECK(SendText(*world.channel, kKey, "c") == Status::kFull);
}

// --- Expiry.

TEST_CASE("what stands there is dropped when its ttl has passed") {
  World world;
  std::uint32_t generation = 0;
  const TimePoint at = world.clock.Now() + Duration(100);
  CHECK(world.channel->Expire(kKey, at, &generation) == Status::kNotFound);
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  CHECK(world.channel->Expire(kKey, at, &generation) == Status::kOk);
  CHECK(generation != 0);
  CHECK(world.channel->ExpiryOf(kKey) == at);
  REQUIRE(SendText(*world.channel, kKey, "b") == Status::kOk);
  world.clock.Advance(Duration(99));
  CHECK(world.channel->Count(kKey) == 2);
  world.clock.Advance(Duration(1));
  SECTION("for a receive") { CHECK(ReceiveText(*world.channel, kKey) == "<empty>"); }
  SECTION("for a waiting receive") {
    Task receiver;
    CHECK(receiver.Receive(*world.channel, kKey) == Status::kPending);
  }
  SECTION("for a look") { CHECK(Standing(*world.channel, kKey).empty()); }
  SECTION("for a count") { CHECK(world.channel->Count(kKey) == 0); }
  SECTION("for the list of keys") { CHECK(world.channel->Keys().empty()); }
  SECTION("for send-if-empty") {
    MessageList list = One("c");
    CHECK(world.channel->SendIfEmpty(kKey, list) == Status::kOk);
    CHECK(Standing(*world.channel, kKey) == Texts{"c"});
  }
  SECTION("for a send") {
    CHECK(SendText(*world.channel, kKey, "c") == Status::kOk);
    CHECK(Standing(*world.channel, kKey) == Texts{"c"});
  }
  SECTION("for another ttl") {
    CHECK(world.channel->Expire(kKey, kNever, &generation) == Status::kNotFound);
  }
  SECTION("for a close") {
    world.channel->Close();
    CHECK(ReceiveText(*world.channel, kKey) == "<closed>");
  }
  CHECK(world.channel->ExpiryOf(kKey) == kNever);
}

TEST_CASE("a ttl ends when the key empties, and when it is replaced or taken away") {
  World world;
  std::uint32_t generation = 0;
  const TimePoint at = world.clock.Now() + Duration(100);
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(world.channel->Expire(kKey, at, &generation) == Status::kOk);
  SECTION("empties") {
    CHECK(ReceiveText(*world.channel, kKey) == "a");
    CHECK(SendText(*world.channel, kKey, "b") == Status::kOk);
  }
  SECTION("replaced") {
    MessageList list = One("b");
    CHECK(world.channel->Replace(kKey, list) == Status::kOk);
  }
  SECTION("taken away") {
    CHECK(world.channel->Expire(kKey, kNever, &generation) == Status::kOk);
    CHECK(generation == 0);
  }
  CHECK(world.channel->ExpiryOf(kKey) == kNever);
  world.clock.Advance(Duration(200));
  CHECK(world.channel->Count(kKey) == 1);
}

TEST_CASE("expire-now frees the memory of its own generation only") {
  World world({}, 1000);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  const TimePoint now = world.clock.Now();
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(world.channel->Expire(kKey, now + Duration(100), &first) == Status::kOk);
  world.channel->ExpireNow(kKey, first);
  CHECK(world.channel->Count(kKey) == 1);
  REQUIRE(world.channel->Expire(kKey, now + Duration(300), &second) == Status::kOk);
  CHECK(first != second);
  world.clock.Advance(Duration(100));
  world.channel->ExpireNow(kKey, first);
  CHECK(world.channel->Count(kKey) == 1);
  world.clock.Advance(Duration(200));
  world.channel->ExpireNow(kKey, first);
  CHECK(world.registry.queue_memory().used() == 128);
  world.channel->ExpireNow(kKey, second);
  CHECK(world.registry.queue_memory().used() == 0);
  world.channel->ExpireNow(Name("none"), second);
}

TEST_CASE("expiry makes room for blocked senders") {
  World world({.limit = 1});
  std::uint32_t generation = 0;
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  REQUIRE(world.channel->Expire(kKey, world.clock.Now() + Duration(100), &generation) ==
          Status::kOk);
  Task sender;
  REQUIRE(sender.Send(*world.channel, kKey, "b") == Status::kPending);
  world.clock.Advance(Duration(100));
  world.channel->ExpireNow(kKey, generation);
  CHECK(sender.Finish() == Status::kOk);
  CHECK(Standing(*world.channel, kKey) == Texts{"b"});
  CHECK(world.channel->ExpiryOf(kKey) == kNever);
}

// --- Close.

TEST_CASE("what was sent before a close is still received") {
  World world;
  MessageList list = Batch({"a", "b"});
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  SECTION("of the channel") {
    world.channel->Close();
    CHECK(world.channel->closed());
    CHECK(ReceiveText(*world.channel, Name("other")) == "<closed>");
  }
  SECTION("of the key") {
    world.channel->CloseKey(kKey);
    CHECK(ReceiveText(*world.channel, Name("other")) == "<empty>");
  }
  CHECK(SendText(*world.channel, kKey, "c") == Status::kClosed);
  CHECK(world.channel->Receive(kKey, 5, 6, &list) == Status::kOk);
  CHECK(TextsOf(list) == Texts{"a", "b"});
  CHECK(ReceiveText(*world.channel, kKey) == "<closed>");
  Task receiver;
  CHECK(receiver.Receive(*world.channel, kKey) == Status::kClosed);
  CHECK(world.channel->Replace(kKey, list) == Status::kClosed);
  CHECK(world.channel->SendIfEmpty(kKey, list) == Status::kClosed);
}

TEST_CASE("a close completes waiting receivers, and blocked senders with their messages") {
  World world({.limit = 1});
  Task receiver;
  Task both;
  Task sender;
  REQUIRE(receiver.Receive(*world.channel, Name("a")) == Status::kPending);
  REQUIRE(both.Receive(*world.channel, {Name("a"), Name("b"), Name("c")}) == Status::kPending);
  REQUIRE(SendText(*world.channel, kKey, "1") == Status::kOk);
  REQUIRE(sender.Send(*world.channel, kKey, "2") == Status::kPending);
  world.channel->Close();
  world.channel->Close();
  CHECK(receiver.completions() == 1);
  CHECK(receiver.Finish() == Status::kClosed);
  CHECK(both.completions() == 1);
  CHECK(both.Finish() == Status::kClosed);
  CHECK(sender.completions() == 1);
  CHECK(sender.Finish() == Status::kClosed);
  CHECK(sender.unsent() == Texts{"2"});
  CHECK(ReceiveText(*world.channel, kKey) == "1");
}

TEST_CASE("a receive on several keys ends when the last of them is closed") {
  World world;
  Task receiver;
  REQUIRE(SendText(*world.channel, Name("a"), "1") == Status::kOk);
  world.channel->CloseKey(Name("a"));
  CHECK(receiver.Receive(*world.channel, {Name("a"), Name("b"), Name("c")}) == Status::kOk);
  REQUIRE(receiver.Receive(*world.channel, {Name("a"), Name("b"), Name("c")}) == Status::kPending);
  world.channel->CloseKey(Name("b"));
  world.channel->CloseKey(Name("b"));
  CHECK_FALSE(receiver.completed());
  SECTION("by closing that key") { world.channel->CloseKey(Name("c")); }
  SECTION("by closing the channel") { world.channel->Close(); }
  CHECK(receiver.completions() == 1);
  CHECK(receiver.Finish() == Status::kClosed);
  CHECK(receiver.Receive(*world.channel, {Name("a"), Name("b"), Name("c")}) == Status::kClosed);
}

TEST_CASE("what stands under a closed key is enough for who waits for more") {
  World world;
  Task first;
  Task second;
  REQUIRE(first.Receive(*world.channel, kKey, 3, 3) == Status::kPending);
  REQUIRE(second.Receive(*world.channel, kKey, 3, 3) == Status::kPending);
  REQUIRE(SendText(*world.channel, kKey, "a") == Status::kOk);
  SECTION("the channel") { world.channel->Close(); }
  SECTION("the key") { world.channel->CloseKey(kKey); }
  CHECK(first.Finish() == Status::kOk);
  CHECK(first.received() == Texts{"a"});
  CHECK(second.Finish() == Status::kClosed);
}

// --- What a channel keeps alive.

class Thing final : public RefCounted {
 public:
  explicit Thing(bool* gone) : gone_(gone) {}
  ~Thing() override { *gone_ = true; }

 private:
  bool* gone_;
};

MessageList WithReference(RefCounted* object) {
  const std::vector<RefCounted*> references = {object};
  MessageList list;
  list.PushBack(Text("x", references));
  return list;
}

TEST_CASE("a channel drops what stands in it when it ends") {
  World world;
  bool gone = false;
  Ref<Thing> thing = Ref<Thing>::Adopt(new Thing(&gone));
  MessageList list = WithReference(thing.get());
  REQUIRE(world.channel->Send(kKey, list) == Status::kOk);
  REQUIRE(SendText(*world.channel, KeyName::Handle(thing.get()), "y") == Status::kOk);
  thing = {};
  CHECK_FALSE(gone);
  world.channel = {};
  CHECK(gone);
}

TEST_CASE("a handle that stands in its own channel does not keep it") {
  World world;
  Channel* channel = world.channel.get();
  REQUIRE(world.registry.Open("own", nullptr, &world.channel) == Status::kOk);
  channel = world.channel.get();
  for (int i = 0; i < 3; ++i) {
    MessageList list = WithReference(channel);
    REQUIRE(channel->Send(kKey, list) == Status::kOk);
    REQUIRE(channel->Send(KeyName::Handle(channel), list = WithReference(channel)) == Status::kOk);
  }
  SECTION("as it is") {}
  SECTION("received and dropped, it counts") {
    MessageList list;
    REQUIRE(channel->Receive(kKey, 1, 1, &list) == Status::kOk);
    world.channel = {};
    Ref<Channel> found = world.registry.Find("own");
    REQUIRE(found);
    found = {};
    list.Clear();
  }
  SECTION("replaced, put back and expired") {
    MessageList list;
    REQUIRE(channel->Receive(kKey, 1, 1, &list) == Status::kOk);
    channel->PutBack(kKey, list);
    list = WithReference(channel);
    REQUIRE(channel->Replace(kKey, list) == Status::kOk);
    std::uint32_t generation = 0;
    REQUIRE(channel->Expire(kKey, world.clock.Now(), &generation) == Status::kOk);
    CHECK(channel->Count(kKey) == 0);
  }
  SECTION("handed over") {
    Task receiver;
    REQUIRE(receiver.Receive(*channel, Name("other")) == Status::kPending);
    MessageList list = WithReference(channel);
    REQUIRE(channel->Send(Name("other"), list) == Status::kOk);
    CHECK(receiver.Finish() == Status::kOk);
  }
  world.channel = {};
  CHECK_FALSE(world.registry.Find("own"));
}

TEST_CASE("keys that were used once leave no memory behind") {
  World world({.limit = 1});
  const auto use = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string text = "a key with a rather long name " + std::to_string(i);
      const KeyName key = i % 2 == 0 ? KeyName::String(text) : KeyName::Integer(i);
      Task receiver;
      switch (i % 3) {
        case 0:
          REQUIRE(SendText(*world.channel, key, "a") == Status::kOk);
          REQUIRE(ReceiveText(*world.channel, key) == "a");
          break;
        case 1:
          REQUIRE(receiver.Receive(*world.channel, key) == Status::kPending);
          REQUIRE(SendText(*world.channel, key, "a") == Status::kOk);
          REQUIRE(receiver.Finish() == Status::kOk);
          break;
        case 2:
          REQUIRE(receiver.Receive(*world.channel, key) == Status::kPending);
          REQUIRE(receiver.Claim());
          REQUIRE(receiver.Finish() == Status::kTimeout);
          break;
      }
    }
  };
  use(0, 3000);
  const std::size_t before = mallinfo2().uordblks;
  use(3000, 60'000);
  CHECK(mallinfo2().uordblks < before + 20'000);
}

}  // namespace
}  // namespace shoal::core
