// SPDX-License-Identifier: MIT
#include "runtime/process/channel_timer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/message/number.h"
#include "tests/support/script_runner.h"

using namespace shoal::core;
using namespace std::chrono_literals;
using shoal::test::RunScript;

namespace {

const KeyName kKey = KeyName::Integer(1);

// A runtime that runs no script, with time that the test moves on.
struct World {
  World() { REQUIRE(runtime.Start() == Status::kOk); }
  ~World() { static_cast<void>(runtime.Shutdown(5s)); }

  Ref<ChannelTimer> Start(Channel& channel, Duration first, Duration period = Duration::zero()) {
    return ChannelTimer::Start(machine(), channel, kKey, MakeNumberMessage(Number(std::int64_t{7})),
                               clock.Now() + first, period);
  }
  Machine& machine() { return runtime.machine(); }
  void Advance(Duration time) {
    clock.Advance(time);
    machine().expiries.Poll();
  }

  ManualClock clock;
  shoal::test::CollectedLog log;
  const shoal::bindings::ShoalLibrary library;
  // Without threads, which would fire as well.
  Runtime runtime{
      {.threads = Scheduler::Threads::kGuests, .clock = clock, .log = log, .library = library}};
};

}  // namespace

TEST_CASE("a timer sends once, beyond the limit, when its time has come") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({.limit = 0});
  const Ref<ChannelTimer> timer = world.Start(*channel, 10ms);
  world.Advance(5ms);
  REQUIRE(channel->Count(kKey) == 0);
  world.Advance(10ms);
  REQUIRE(channel->Count(kKey) == 1);
  REQUIRE_FALSE(timer->Cancel());
  world.Advance(100ms);
  REQUIRE(channel->Count(kKey) == 1);
  REQUIRE(world.machine().expiries.NextDeadline() == kNever);
}

TEST_CASE("a timer that is cancelled sends nothing, and refers to the channel no more") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({});
  for (Duration period : {Duration(0), Duration(10ms)}) {
    const Ref<ChannelTimer> timer = world.Start(*channel, 10ms, period);
    REQUIRE(timer->Cancel());
    REQUIRE_FALSE(timer->Cancel());
    world.Advance(100ms);
    REQUIRE(channel->Count(kKey) == 0);
    REQUIRE(channel->references() == 1);
  }
}

TEST_CASE("a beat is left out while the last one has not been received") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({});
  const Ref<ChannelTimer> timer = world.Start(*channel, 10ms, 10ms);
  for (int i = 0; i < 3; ++i) {
    world.Advance(11ms);
    REQUIRE(channel->Count(kKey) == 1);
  }
  MessageList received;
  REQUIRE(channel->Receive(kKey, 1, 1, &received) == Status::kOk);
  received.Clear();
  // Others that stand there do not count.
  MessageList other;
  other.PushBack(MakeNumberMessage(Number(std::int64_t{1})));
  REQUIRE(channel->Send(kKey, other) == Status::kOk);
  world.Advance(11ms);
  REQUIRE(channel->Count(kKey) == 2);
  REQUIRE(timer->Cancel());
}

TEST_CASE("beats whose time has passed are left out, and the rest come at their times") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({});
  const TimePoint start = world.clock.Now();
  const Ref<ChannelTimer> timer = world.Start(*channel, 10ms, 10ms);
  world.Advance(35ms);
  REQUIRE(channel->Count(kKey) == 1);
  const Duration next = world.machine().expiries.NextDeadline() - start;
  REQUIRE(next > 39ms);
  REQUIRE(next < 42ms);
  REQUIRE(timer->Cancel());
}

TEST_CASE("a timer with a period ends when nobody else refers to its channel, or it is closed") {
  World world;
  Ref<Channel> channel = world.machine().channels.Make({});
  // Also if its message speaks of the channel.
  RefCounted* const self[] = {channel.get()};
  const std::byte bytes[] = {std::byte{0}};
  static_cast<void>(ChannelTimer::Start(world.machine(), *channel, kKey, Message::New(bytes, self),
                                        world.clock.Now() + 10ms, 10ms));
  static_cast<void>(world.Start(*channel, 10ms, 10ms));
  world.Advance(11ms);
  REQUIRE(channel->Count(kKey) == 2);
  REQUIRE(world.machine().expiries.Armed());
  channel = {};
  world.Advance(11ms);
  REQUIRE_FALSE(world.machine().expiries.Armed());
  channel = world.machine().channels.Make({});
  static_cast<void>(world.Start(*channel, 10ms, 10ms));
  channel->Close();
  world.Advance(11ms);
  REQUIRE_FALSE(world.machine().expiries.Armed());
  REQUIRE(channel->references() == 1);
}

TEST_CASE("of a cancel and the time that comes meanwhile one wins") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({});
  for (int round = 0; round < 300; ++round) {
    const Ref<ChannelTimer> once = world.Start(*channel, 1ms);
    const Ref<ChannelTimer> beats = world.Start(*channel, 1ms, 1ms);
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      ready.fetch_add(1);
      while (ready.load() < 3) std::this_thread::yield();
    };
    bool taken_back = false;
    std::thread canceller([&] {
      meet();
      taken_back = once->Cancel();
    });
    std::thread other([&] {
      meet();
      static_cast<void>(beats->Cancel());
    });
    world.clock.Advance(2ms);
    meet();
    world.machine().expiries.Poll();
    canceller.join();
    other.join();
    // At most one of the beats, and the other message exactly if it was not taken back.
    MessageList received;
    static_cast<void>(channel->Receive(kKey, 1, 9, &received));
    const int expected = taken_back ? 0 : 1;
    REQUIRE(static_cast<int>(received.count()) >= expected);
    REQUIRE(static_cast<int>(received.count()) <= expected + 1);
    REQUIRE_FALSE(world.machine().expiries.Armed());
    REQUIRE(channel->references() == 1);
  }
}

TEST_CASE("what has not arrived when a timer was cancelled never does") {
  World world;
  const Ref<Channel> channel = world.machine().channels.Make({});
  for (int round = 0; round < 2000; ++round) {
    const Ref<ChannelTimer> beats = world.Start(*channel, 1ms, 1ms);
    std::atomic<int> ready{0};
    std::size_t count = 0;
    std::thread canceller([&] {
      ready.fetch_add(1);
      // Another moment of the beat in each round.
      for (int i = 0; ready.load() < 2 || i < round; ++i) {
      }
      static_cast<void>(beats->Cancel());
      count = channel->Count(kKey);
    });
    world.clock.Advance(2ms);
    ready.fetch_add(1);
    while (ready.load() < 2) std::this_thread::yield();
    world.machine().expiries.Poll();
    canceller.join();
    REQUIRE(channel->Count(kKey) == count);
    MessageList received;
    static_cast<void>(channel->Receive(kKey, 1, 9, &received));
  }
}

TEST_CASE("timers that are armed at the end of a runtime are freed") {
  const auto result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel("kept")
    for i = 1, 1000 do
      shoal.after(1000 + i, ch, i, ch, { i })
      shoal.every(1000 + i, ch, i, ch, { i })
    end)lua");
  REQUIRE(result.status == 0);
  REQUIRE(result.clean);
}
