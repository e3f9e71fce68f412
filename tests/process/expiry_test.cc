// SPDX-License-Identifier: MIT
#include "runtime/process/expiry.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/support/script_runner.h"

using namespace shoal::core;
using namespace std::chrono_literals;
using shoal::test::RunResult;
using shoal::test::RunScript;

TEST_CASE("what has expired is dropped though nobody looks") {
  ManualClock clock;
  ChannelRegistry channels(clock, 1'000'000);
  const Ref<Channel> channel = channels.Make({});
  Expiries expiries(clock);
  const KeyName key = KeyName::String("k");
  MessageList messages;
  messages.PushBack(MakeNumberMessage(Number(std::int64_t{1})));
  REQUIRE(channel->Send(key, messages) == Status::kOk);
  std::uint32_t generation = 0;
  REQUIRE(channel->Expire(key, clock.Now() + 10ms, &generation) == Status::kOk);
  expiries.Arm(*channel, key, clock.Now() + 10ms, generation);
  REQUIRE(expiries.NextDeadline() <= clock.Now() + 11ms);
  clock.Advance(20ms);
  expiries.Poll();
  REQUIRE(expiries.NextDeadline() == kNever);
  REQUIRE(channel->Count(key) == 0);
}

TEST_CASE("nothing is left of a ttl that has ended before its time, or is another one") {
  ManualClock clock;
  ChannelRegistry channels(clock, 1'000'000);
  const Ref<Channel> channel = channels.Make({});
  Expiries expiries(clock);
  const KeyName key = KeyName::String("k");
  const auto send = [&] {
    MessageList messages;
    messages.PushBack(MakeNumberMessage(Number(std::int64_t{1})));
    REQUIRE(channel->Send(key, messages) == Status::kOk);
  };
  const auto expire = [&](Duration after) {
    std::uint32_t generation = 0;
    REQUIRE(channel->Expire(key, clock.Now() + after, &generation) == Status::kOk);
    expiries.Arm(*channel, key, clock.Now() + after, generation);
  };
  MessageList messages;
  // Received.
  send();
  expire(1h);
  REQUIRE(expiries.Armed());
  REQUIRE(channel->Receive(key, 1, 1, &messages) == Status::kOk);
  REQUIRE_FALSE(expiries.Armed());
  // Cleared.
  send();
  expire(1h);
  MessageList none;
  REQUIRE(channel->Replace(key, none) == Status::kOk);
  REQUIRE_FALSE(expiries.Armed());
  // Another one; then none.
  send();
  expire(1h);
  expire(10ms);
  clock.Advance(20ms);
  expiries.Poll();
  REQUIRE_FALSE(expiries.Armed());
  REQUIRE(channel->Count(key) == 0);
  send();
  expire(1h);
  std::uint32_t generation = 0;
  REQUIRE(channel->Expire(key, kNever, &generation) == Status::kOk);
  REQUIRE_FALSE(expiries.Armed());
  // It ended before it was armed.
  REQUIRE(channel->Expire(key, clock.Now() + 1h, &generation) == Status::kOk);
  REQUIRE(channel->Receive(key, 1, 1, &messages) == Status::kOk);
  expiries.Arm(*channel, key, clock.Now() + 1h, generation);
  REQUIRE_FALSE(expiries.Armed());
  // The end of the runtime comes before that of a ttl: the channel is not kept (seen by the address
  // sanitizer).
  send();
  expire(1h);
}

TEST_CASE("a ttl may end in the moment in which it is due") {
  const SteadyClock clock;
  ChannelRegistry channels(clock, 1'000'000);
  const Ref<Channel> channel = channels.Make({});
  Expiries expiries(clock);
  std::atomic<bool> stop{false};
  std::thread poller([&] {
    while (!stop.load()) expiries.Poll();
  });
  for (int i = 0; i < 20'000; ++i) {
    const KeyName key = KeyName::Integer(i % 8);
    MessageList messages;
    messages.PushBack(MakeNumberMessage(Number(std::int64_t{i})));
    REQUIRE(channel->Replace(key, messages) == Status::kOk);
    const TimePoint at = clock.Now() + std::chrono::microseconds(i % 2000);
    std::uint32_t generation = 0;
    if (channel->Expire(key, at, &generation) != Status::kOk) continue;
    expiries.Arm(*channel, key, at, generation);
    if (i % 3 == 0) static_cast<void>(channel->Receive(key, 1, 1, &messages));
  }
  MessageList none;
  for (int i = 0; i < 8; ++i) REQUIRE(channel->Replace(KeyName::Integer(i), none) == Status::kOk);
  stop.store(true);
  poller.join();
  REQUIRE_FALSE(expiries.Armed());
}

TEST_CASE("a ttl that is still to come keeps no program from its end") {
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = RunScript(R"lua(
    local shoal = require "shoal"
    local ch = shoal.channel("counters")
    ch:incr("hits", 1, 3600)
    assert(ch:ttl("hits") > 3500)
    local ok, err = pcall(ch.receive, ch, "none")
    assert(not ok and err:find("deadlock")))lua");
  REQUIRE(result.log.empty());
  REQUIRE(result.status == 0);
  REQUIRE(std::chrono::steady_clock::now() - start < 60s);
}
