// SPDX-License-Identifier: MIT
// What the tests of the channel cannot reach: a sender that is claimed between two steps.
#include "runtime/channel/shard.h"

#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

// A shard of its own, without a channel.
struct Alone {
  Alone() { shard.Init(context); }
  ~Alone() {
    Aftermath after;
    MutexLock lock(shard.mu);
    shard.Clear(after);
  }
  ManualClock clock;
  Budget queue_memory{Budget::kUnlimited};
  ShardContext context{nullptr, &clock, nullptr, &queue_memory, 0, 0};
  Shard shard;
};

TEST_CASE("a sender that is claimed when a receiver meets it is left with its message") {
  Alone alone;
  Shard& shard = alone.shard;
  const KeyName name = KeyName::String("k");
  Task sender;
  WaitNode node;
  node.waiter = &sender.waiter();
  sender.waiter().Open(WaitReason::kSend);
  MessageList list = One("a");
  {
    Aftermath after;
    MutexLock lock(shard.mu);
    Key* key = shard.FindOrAdd(name, name.Hash(), after);
    shard.Block(*key, list, node);
    WaitNode* met = shard.BlockedSender(*key, 1, nullptr);
    REQUIRE(met == &node);
    REQUIRE(sender.Claim());
    MessageList received;
    CHECK(shard.TakeWith(*key, *met, nullptr, 1, &received, after) == Waiter::Pair::kOtherGone);
    CHECK(received.empty());
    CHECK(shard.BlockedSender(*key, 1, nullptr) == nullptr);
    shard.FreeIfUnused(*key, after);
    CHECK(shard.Find(name, name.Hash(), after)->unused(0));
  }
  shard.Withdraw(node);
  CHECK(TextsOf(node.messages) == Texts{"a"});
}

TEST_CASE("a key is unused when the last node is withdrawn") {
  Alone alone;
  Shard& shard = alone.shard;
  const KeyName name = KeyName::String("k");
  Task receiver;
  WaitNode node;
  node.waiter = &receiver.waiter();
  receiver.waiter().Open(WaitReason::kReceive);
  {
    Aftermath after;
    MutexLock lock(shard.mu);
    shard.Await(*shard.FindOrAdd(name, name.Hash(), after), node);
  }
  REQUIRE(receiver.Claim());
  shard.Withdraw(node);
  Aftermath after;
  MutexLock lock(shard.mu);
  CHECK(shard.Find(name, name.Hash(), after)->unused(0));
}

}  // namespace
}  // namespace shoal::core
