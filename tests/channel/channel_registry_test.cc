// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <thread>

#include "tests/channel/task.h"

namespace shoal::core {
namespace {

TEST_CASE("channels have ids of their own") {
  World world;
  Ref<Channel> other = world.registry.Make({});
  CHECK(world.channel->id() != other->id());
  CHECK(world.channel->name().empty());
  CHECK(other->kind() == RefCounted::Kind::kChannel);
}

TEST_CASE("a name stands for one channel while somebody has it") {
  World world;
  ChannelRegistry& registry = world.registry;
  const Channel::Options options{.limit = 3};
  Ref<Channel> a;
  Ref<Channel> b;
  CHECK_FALSE(registry.Find("n"));
  REQUIRE(registry.Open("n", &options, &a) == Status::kOk);
  CHECK(a->name() == "n");
  CHECK(a->options().limit == 3);
  REQUIRE(registry.Open("n", &options, &b) == Status::kOk);
  CHECK(a.get() == b.get());
  CHECK(registry.Find("n").get() == a.get());
  const std::uint64_t id = a->id();
  a->Close();
  a = {};
  b = registry.Find("n");
  REQUIRE(b);
  CHECK(b->closed());
  b = {};
  CHECK_FALSE(registry.Find("n"));
  REQUIRE(registry.Open("n", nullptr, &a) == Status::kOk);
  CHECK(a->id() != id);
  CHECK(a->options().limit == Channel::kNoLimit);
}

TEST_CASE("a name cannot be opened with other options") {
  World world;
  const Channel::Options made{.limit = 3, .bytes = 1000};
  const Channel::Options other_limit{.limit = 4, .bytes = 1000};
  const Channel::Options other_bytes{.limit = 3, .bytes = 1001};
  Ref<Channel> channel;
  Ref<Channel> again;
  REQUIRE(world.registry.Open("n", &made, &channel) == Status::kOk);
  CHECK(world.registry.Open("n", &other_limit, &again) == Status::kExists);
  CHECK_FALSE(again);
  CHECK(world.registry.Open("n", &other_bytes, &again) == Status::kExists);
  CHECK(world.registry.Open("n", nullptr, &again) == Status::kOk);
}

TEST_CASE("close-all closes the channels that there are") {
  World world;
  Ref<Channel> named;
  REQUIRE(world.registry.Open("n", nullptr, &named) == Status::kOk);
  Task receiver;
  REQUIRE(receiver.Receive(*named, Name("k")) == Status::kPending);
  world.registry.CloseAll();
  CHECK(named->closed());
  CHECK(world.channel->closed());
  CHECK(receiver.Finish() == Status::kClosed);
}

TEST_CASE("channels that keep each other alive end with the registry") {
  World world;
  Ref<Channel> a = world.registry.Make({});
  Ref<Channel> b = world.registry.Make({});
  for (int i = 0; i < 2; ++i) {
    const std::vector<RefCounted*> references = {i == 0 ? a.get() : b.get()};
    MessageList list;
    list.PushBack(Text("", references));
    REQUIRE((i == 0 ? b : a)->Send(Name("k"), list) == Status::kOk);
  }
}

TEST_CASE("threads that open a name at once get the same channel, or one after the other") {
  World world;
  const auto open = [&] {
    for (int i = 0; i < 5000; ++i) {
      Ref<Channel> channel;
      if (world.registry.Open("n", nullptr, &channel) != Status::kOk) std::abort();
      if (channel->name() != "n") std::abort();
      Ref<Channel> unnamed = world.registry.Make({});
    }
  };
  std::thread one(open);
  std::thread two(open);
  one.join();
  two.join();
  CHECK_FALSE(world.registry.Find("n"));
}

}  // namespace
}  // namespace shoal::core
