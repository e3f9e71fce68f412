// SPDX-License-Identifier: MIT
// Runtimes begin and end while handles and threads go on.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHOAL_IS_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHOAL_IS_SLOW 1
#endif
#endif
#ifndef SHOAL_IS_SLOW
#define SHOAL_IS_SLOW 0
#endif

namespace {

using shoal::Channel;
using shoal::Process;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // matters only if a test fails

TEST_CASE("handles outlive their runtime") {
  auto runtime = std::make_unique<Runtime>(shoal::Options{.workers = 1});
  const Channel ch = runtime->OpenChannel("jobs");
  const Process process = runtime->Spawn("local ch = ... ch:receive('never')", {ch});
  REQUIRE(ch.Send("key", ch, process, Table{{"handle", ch}}));
  const Values values = *ch.Receive("key");
  const Process sender = runtime->Spawn("(...):send('f', function() return 1 end)", {ch});
  const Values function = *ch.Receive("f", kLong);
  runtime.reset();
  CHECK(ch.Send("key", 1) == Status::kClosed);
  CHECK(ch.TrySend("key", 1) == Status::kClosed);
  CHECK(ch.Receive("key") == Status::kClosed);
  CHECK(ch.Count("key") == Status::kClosed);
  CHECK(process.Join() == Status::kClosed);
  CHECK(process.Cancel() == Status::kClosed);
  CHECK(ch.id() == 0);
  CHECK(ch.name().empty());
  CHECK(ch.kind() == shoal::Handle::Kind::kChannel);
  CHECK(values.get<Channel>(0) == ch);
  const Channel copy = *values.get<Channel>(0);
  CHECK(copy.Set("key", 1) == Status::kClosed);
  // A dead handle in a message of a living runtime.
  Runtime other({.workers = 1});
  CHECK(other.NewChannel().Send("key", ch) == Status::kMisuse);
  // Functions have no handles: they are bytes.
  CHECK(*other.Spawn(shoal::Source(function[0])).Join(kLong) == Values{1});
}

TEST_CASE("the end of a runtime wakes all threads that wait in it") {
  const int rounds = SHOAL_IS_SLOW ? 20 : 100;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Runtime> runtime(std::in_place, shoal::Options{.workers = 1});
    const Channel ch = runtime->NewChannel();
    const Process process = runtime->Spawn("local ch = ... ch:receive('never')", {ch});
    REQUIRE(ch.SetLimit("full", 1));
    REQUIRE(ch.Send("full", 1));
    std::atomic<int> begun{0};
    std::atomic<int> closed{0};
    const auto waits = [&](auto wait) {
      return std::thread([&begun, &closed, wait] {
        ++begun;
        closed += wait() == Status::kClosed ? 1 : 0;
      });
    };
    std::vector<std::thread> threads;
    threads.push_back(waits([&] { return ch.Receive("empty").status(); }));
    threads.push_back(waits([&] { return ch.Receive("empty", kLong).status(); }));
    threads.push_back(waits([&] { return ch.ReceiveAny({"a", "b", "c"}).status(); }));
    threads.push_back(waits([&] { return ch.Send("full", 2).status(); }));
    threads.push_back(waits([&] { return process.Join().status(); }));
    // Some rounds end before they wait.
    while (round % 2 == 0 && begun != 5) std::this_thread::yield();
    runtime.reset();
    for (std::thread& thread : threads) thread.join();
    CHECK(closed == 5);
  }
}

TEST_CASE("a runtime ends while threads are in the middle of calls") {
  const int rounds = SHOAL_IS_SLOW ? 10 : 50;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Runtime> runtime(std::in_place, shoal::Options{.workers = 2});
    const Channel ch = runtime->NewChannel();
    REQUIRE(
        runtime->Spawn("local ch = ... while true do ch:send('out', ch:receive('in')) end", {ch}));
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&begun, ch] {
        for (;;) {
          // Handles are made and dropped all the time.
          const Channel mine = ch;
          if (mine.Send("in", mine, std::string(200, 'x')) == Status::kClosed) return;
          const Result<Values> got = mine.Receive("out", 1ms);
          if (got == Status::kClosed) return;
          ++begun;
        }
      });
    }
    while (begun < 10) std::this_thread::yield();
    runtime.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_CASE("handles are dropped while their runtime ends") {
  const int rounds = SHOAL_IS_SLOW ? 20 : 200;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Runtime> runtime(std::in_place, shoal::Options{.workers = 1});
    std::vector<Channel> channels;
    for (int i = 0; i < 200; ++i) channels.push_back(runtime->NewChannel());
    for (const Channel& ch : channels) REQUIRE(ch.Send("self", channels[0]));
    std::atomic<bool> goes{false};
    std::thread dropper([&] {
      goes = true;
      channels.clear();
    });
    while (!goes) std::this_thread::yield();
    runtime.reset();
    dropper.join();
  }
}

TEST_CASE("a runtime starts and ends many times") {
  const int rounds = SHOAL_IS_SLOW ? 100 : 10'000;
  for (int round = 0; round < rounds; ++round) {
    Runtime runtime({.workers = 1 + round % 2});
    REQUIRE(runtime);
    if (round % 10 != 0) continue;
    const Channel ch = runtime.NewChannel();
    const Process process = runtime.Spawn("local ch = ... ch:send(1, 2) ch:receive(3)", {ch});
    if (round % 20 == 0) {
      REQUIRE(ch.Receive(1, kLong));
    }
  }
}

TEST_CASE("two runtimes do not meet") {
  Runtime first({.workers = 1});
  Runtime second({.workers = 1});
  const Channel a = first.OpenChannel("same");
  const Channel b = second.OpenChannel("same");
  CHECK_FALSE(a == b);
  REQUIRE(a.Send("key", 1));
  CHECK(*b.Count("key") == 0);
  const Process process =
      second.Spawn("return require('shoal').channel('same'):receive('key', 0) == nil");
  CHECK(*process.Join(kLong) == Values{true});
}

TEST_CASE("errors that nobody joins go to the log") {
  std::mutex mu;
  std::string log;
  {
    shoal::Options options{.workers = 1};
    options.log = [&](shoal::LogLevel level, std::string_view text) {
      const std::lock_guard lock(mu);
      log += level == shoal::LogLevel::kError ? "error: " : "other: ";
      log.append(text) += '\n';
    };
    Runtime runtime(options);
    const Process joined = runtime.Spawn("error('known', 0)");
    CHECK(joined.Join(kLong) == Status::kError);
    REQUIRE(runtime.Spawn("error('unknown', 0)"));
    CHECK(runtime.Wait(kLong));
  }
  CHECK(log.find("error: ") == 0);
  CHECK(log.find("unknown") != std::string::npos);
  CHECK(log.find(": known") == std::string::npos);
}

TEST_CASE("what the log throws is dropped") {
  shoal::Options options{.workers = 1};
  options.log = [](shoal::LogLevel, std::string_view) { throw 1; };
  Runtime runtime(options);
  REQUIRE(runtime.Spawn("error('x')"));
  CHECK(runtime.Wait(kLong));
}

TEST_CASE("an ended runtime returns what its processes used") {
  // A process that ignores its cancel, in cleanup, is given up after the time for that.
  shoal::Options options{.workers = 1, .shutdown_timeout = 50ms};
  Runtime runtime(options);
  const Channel ch = runtime.NewChannel();
  REQUIRE(
      runtime.Spawn("local ch = ... local x <close> = setmetatable({}, { __close = function() "
                    "ch:receive('never') end }) ch:send('ready', 1) ch:receive('never')",
                    {ch}));
  REQUIRE(ch.Receive("ready", kLong));
}

}  // namespace
