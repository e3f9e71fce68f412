// SPDX-License-Identifier: MIT
#include "runtime/channel/aftermath.h"

#include <catch2/catch.hpp>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

// Puts a handle of `content` into `channel`.
void PutInto(Channel& channel, Channel* content) {
  const std::vector<RefCounted*> references = {content};
  MessageList list;
  list.PushBack(Text("", references));
  REQUIRE(channel.Send(Name("k"), list) == Status::kOk);
}

TEST_CASE("a long chain of channels, each in the other, ends without a deep stack") {
  World world;
  Ref<Channel> outer = world.registry.Make({});
  for (int i = 0; i < 200'000; ++i) {
    Ref<Channel> next = world.registry.Make({});
    PutInto(*next, outer.get());
    outer = next;
  }
  outer = {};
}

TEST_CASE("a long chain of channels, each a key of the other, ends without a deep stack") {
  World world;
  Ref<Channel> outer = world.registry.Make({});
  for (int i = 0; i < 200'000; ++i) {
    Ref<Channel> next = world.registry.Make({});
    REQUIRE(SendText(*next, KeyName::Handle(outer.get()), "x") == Status::kOk);
    outer = next;
  }
  outer = {};
}

TEST_CASE("waiters are notified when an aftermath ends") {
  Task task;
  task.waiter().Open(WaitReason::kReceive);
  {
    Aftermath after;
    REQUIRE(task.waiter().TryClaim());
    after.wakes.Add(task.waiter());
    CHECK_FALSE(task.completed());
  }
  CHECK(task.completed());
}

}  // namespace
}  // namespace shoal::core
