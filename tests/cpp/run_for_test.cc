// SPDX-License-Identifier: MIT
// A runtime with `workers = 0`: the program's threads run its processes.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/cpp/lua_runner.h"
#include "tests/support/eventually.h"

namespace {

using shoal::Completion;
using shoal::Module;
using shoal::Result;
using shoal::RunState;
using shoal::Runtime;
using shoal::Status;
using shoal::Values;
using shoal::WhenIdle;
using shoal::core::Eventually;
using shoal::core::Times;
using shoal::test::SpawnLua;

constexpr auto kLong = std::chrono::seconds(60);

TEST_CASE("an engine sends, runs processes for a time, and takes what they have sent") {
  Runtime runtime({.workers = 0});
  REQUIRE(runtime);
  CHECK(runtime.workers() == 0);
  const auto channel = runtime.OpenChannel("c");
  REQUIRE(SpawnLua(runtime, R"lua(
    local ch = require("shoal").channel("c")
    for x in ch:each("in") do ch:send("out", x * x) end)lua"));
  for (int frame = 1; frame <= 100; ++frame) {
    REQUIRE(channel.Send("in", frame));
    CHECK(runtime.RunFor(kLong).value_or(RunState::kBusy) == RunState::kWaiting);
    const auto out = channel.Receive("out", std::chrono::seconds(0));
    REQUIRE(out);
    CHECK(out->get<int>(0) == frame * frame);
  }
  REQUIRE(channel.Close());
  CHECK(runtime.RunFor(kLong).value_or(RunState::kBusy) == RunState::kEmpty);
}

TEST_CASE("a run ends when its time is up") {
  Runtime runtime({.workers = 0});
  REQUIRE(SpawnLua(runtime, "while true do end"));
  for (int i = 0; i < 3; ++i) {
    CHECK(runtime.RunFor(std::chrono::milliseconds(2)).value_or(RunState::kBusy) ==
          RunState::kReady);
  }
}

TEST_CASE("calls of C++ that complete later, with and without sleeping") {
  Runtime runtime({.workers = 0});
  std::thread completer;
  REQUIRE(runtime.AddModule(
      Module("later").AddAsync("begin", [&](const Values& values, const Completion& completion) {
        completer = std::thread([=] { completion.Complete(values); });
      })));
  REQUIRE(SpawnLua(runtime, "assert(require('later').begin(5) == 5)"));
  CHECK(runtime.RunFor(kLong, WhenIdle::kSleep).value_or(RunState::kBusy) == RunState::kEmpty);
  completer.join();
}

TEST_CASE("the time of the next timer is known") {
  Runtime runtime({.workers = 0});
  CHECK_FALSE(runtime.TimeToTimer());
  REQUIRE(SpawnLua(runtime, "require('shoal').sleep(3600)"));
  CHECK(runtime.RunFor(kLong).value_or(RunState::kBusy) == RunState::kWaiting);
  const auto left = runtime.TimeToTimer();
  REQUIRE(left);
  CHECK(*left <= std::chrono::seconds(3601));
}

TEST_CASE("RunFor is for runtimes without workers, and not for functions that they call") {
  Runtime with({.workers = 1});
  CHECK(with.RunFor(kLong) == Status::kMisuse);
  Runtime not_started({.workers = 5000});
  CHECK(not_started.RunFor(kLong) == Status::kMisuse);
  Runtime runtime({.workers = 0});
  std::atomic<bool> refused{false};
  REQUIRE(runtime.AddModule(Module("engine").Add(
      "run", [&] { refused.store(runtime.RunFor(kLong) == Status::kMisuse); })));
  REQUIRE(SpawnLua(runtime, "require('engine').run()"));
  CHECK(runtime.RunFor(kLong).value_or(RunState::kBusy) == RunState::kEmpty);
  CHECK(refused.load());
}

TEST_CASE("a runtime ends while a thread is in RunFor, which gets kClosed") {
  for (int i = 0; i < Times(100); ++i) {
    std::atomic<bool> ran{false};
    Result<RunState> end = RunState::kBusy;
    std::thread runner;
    {
      Runtime runtime({.workers = 0});
      REQUIRE(runtime.AddModule(Module("engine").Add("ran", [&] { ran.store(true); })));
      REQUIRE(SpawnLua(runtime, i % 2 == 0
                                    ? "require('engine').ran() while true do end"
                                    : "require('engine').ran() require('shoal').sleep(3600)"));
      runner = std::thread([&] { end = runtime.RunFor(kLong, WhenIdle::kSleep); });
      REQUIRE(Eventually([&] { return ran.load(); }));
    }
    runner.join();
    CHECK(end == Status::kClosed);
  }
}

}  // namespace
