// SPDX-License-Identifier: MIT
// Messages that are sent at a time.
#include <shoal/shoal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <utility>

namespace {

using shoal::Channel;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Timer;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

struct World {
  Runtime runtime{{.workers = 1}};
  const Channel channel = runtime.NewChannel();
};

TEST_CASE("a message is sent once, when its time has come, and takes no notice of the limit") {
  World w;
  REQUIRE(w.channel.SetLimit("key", 0).ok());
  const auto start = std::chrono::steady_clock::now();
  const Result<Timer> timer = shoal::After(20ms, w.channel, "key", 7, "seven");
  REQUIRE(timer);
  CHECK(w.channel.TryReceive("key") == Status::kEmpty);
  const Result<Values> message = w.channel.Receive("key", kPatience);
  REQUIRE(message);
  CHECK(*message == Values{7, "seven"});
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
  CHECK_FALSE(timer->Cancel());
  CHECK(w.channel.Receive("key", 30ms) == Status::kTimeout);
}

TEST_CASE("a timer that is cancelled sends nothing, and one that is dropped goes on") {
  World w;
  const Result<Timer> timer = shoal::After(60s, w.channel, "key", 1);
  REQUIRE(timer);
  CHECK(timer->Cancel());
  CHECK_FALSE(timer->Cancel());
  CHECK_FALSE(Timer().Cancel());
  REQUIRE(shoal::After(1ms, w.channel, "key", 2).ok());
  CHECK(*w.channel.Receive("key", kPatience) == Values{2});
}

TEST_CASE("a period sends again and again, and leaves out beats that nobody has taken") {
  World w;
  const Result<Timer> beats = shoal::Every(1ms, w.channel, "beat", "x");
  REQUIRE(beats);
  for (int i = 0; i < 3; ++i) CHECK(*w.channel.Receive("beat", kPatience) == Values{"x"});
  REQUIRE(shoal::After(20ms, w.channel, "later", 1).ok());
  REQUIRE(w.channel.Receive("later", kPatience).ok());
  CHECK(*w.channel.Count("beat") <= 1);
  CHECK(beats->Cancel());
  static_cast<void>(w.channel.TryReceive("beat"));
  CHECK(w.channel.Receive("beat", 10ms) == Status::kTimeout);
}

TEST_CASE("without threads, a timer fires in RunFor") {
  Runtime runtime({.workers = 0});
  const Channel channel = runtime.NewChannel();
  REQUIRE(shoal::After(1ms, channel, "key", 1).ok());
  const auto end = std::chrono::steady_clock::now() + kPatience;
  Result<Values> got = channel.TryReceive("key");
  while (!got && std::chrono::steady_clock::now() < end) {
    REQUIRE(runtime.RunFor(5ms, shoal::WhenIdle::kSleep).ok());
    got = channel.TryReceive("key");
  }
  CHECK(got.ok());
}

TEST_CASE("misuse of timers is refused, and the end of the runtime ends them") {
  std::optional<World> w(std::in_place);
  World other;
  CHECK(shoal::After(-1s, w->channel, "key", 1) == Status::kMisuse);
  CHECK(shoal::After(1s, w->channel, "key", other.channel) == Status::kMisuse);
  CHECK(shoal::After(1s, Channel(), "key", 1) == Status::kMisuse);
  CHECK(shoal::After(1s, w->channel, "key") == Status::kMisuse);
  CHECK(shoal::After(1s, w->channel, "key", shoal::Value()) == Status::kMisuse);
  CHECK(shoal::Every(0s, w->channel, "key", 1) == Status::kMisuse);
  const Result<Timer> never = shoal::Every(shoal::kForever, w->channel, "key", 1);
  REQUIRE(never);
  CHECK(never->Cancel());
  const Result<Timer> timer = shoal::Every(1h, w->channel, "key", 1);
  REQUIRE(timer);
  w.reset();
  CHECK_FALSE(timer->Cancel());
}

}  // namespace
