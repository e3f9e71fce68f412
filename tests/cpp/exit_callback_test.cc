// SPDX-License-Identifier: MIT
// The ends of processes as callbacks, and as what coroutines of C++ wait for. (Those of calls:
// future_test.)
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/eventually.h"

namespace {

using shoal::Process;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

// What a callback is told, once.
class Told {
 public:
  shoal::ResultCallback callback() {
    return [this](Result<Values> result) { promise_.set_value(std::move(result)); };
  }
  Result<Values> Wait() {
    REQUIRE(future_.wait_for(kPatience) == std::future_status::ready);
    return future_.get();
  }
  bool IsTold() const { return future_.wait_for(0s) == std::future_status::ready; }

 private:
  std::promise<Result<Values>> promise_;
  std::future<Result<Values>> future_ = promise_.get_future();
};

// A coroutine that runs at once, and whose end somebody waits for.
struct Routine {
  struct promise_type {
    std::promise<Result<Values>> end;
    Routine get_return_object() { return {end.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(Result<Values> result) { end.set_value(std::move(result)); }
    void unhandled_exception() { std::terminate(); }
  };
  std::future<Result<Values>> end;
};

struct World {
  Runtime runtime{{.workers = 2}};
  const shoal::Channel gate = runtime.OpenChannel("gate");
  Process Spawn(const char* body) {
    Process process = runtime.Spawn(body);
    REQUIRE(process);
    return process;
  }
};

TEST_CASE("a callback is told what a process returns, when it ends") {
  World world;
  Told told;
  const Process process =
      world.runtime.Spawn("return require('shoal').channel('gate'):receive('go')");
  REQUIRE(process.OnDone(told.callback()) == Status::kOk);
  CHECK_FALSE(told.IsTold());
  REQUIRE(world.gate.Send("go", 7).ok());
  const Result<Values> result = told.Wait();
  REQUIRE(result);
  CHECK(result->get<int>(0) == 7);
}

TEST_CASE("a callback is told why a process has failed, and that counts as a join") {
  std::atomic<int> reports{0};
  {
    Runtime runtime({.workers = 2, .log = [&](auto, auto) { ++reports; }});
    const shoal::Channel gate = runtime.OpenChannel("gate");
    Told told;
    const Process process =
        runtime.Spawn("require('shoal').channel('gate'):receive('go') error('no luck', 0)");
    REQUIRE(process.OnDone(told.callback()) == Status::kOk);
    REQUIRE(gate.Send("go", true).ok());
    const Result<Values> result = told.Wait();
    CHECK(result.status() == Status::kError);
    CHECK(result.error().message() == "no luck");
  }
  CHECK(reports.load() == 0);
}

TEST_CASE("a callback is told of a cancel, and of what has ended before") {
  World world;
  Told cancelled;
  const Process endless = world.Spawn("while true do end");
  REQUIRE(endless.OnDone(cancelled.callback()) == Status::kOk);
  REQUIRE(endless.Cancel().ok());
  CHECK(cancelled.Wait().status() == Status::kCancelled);

  const Process ended = world.Spawn("return 'ended'");
  REQUIRE(ended.Join(kPatience).ok());
  Told at_once;
  REQUIRE(ended.OnDone(at_once.callback()) == Status::kOk);
  REQUIRE(at_once.IsTold());
  CHECK(at_once.Wait()->get<std::string>(0) == "ended");
}

TEST_CASE("a callback of no process is told so at once, and an empty one is misuse") {
  World world;
  Told told;
  REQUIRE(Process().OnDone(told.callback()) == Status::kOk);
  REQUIRE(told.IsTold());
  CHECK(told.Wait().status() == Status::kMisuse);
  Told bad;
  REQUIRE(world.runtime.Spawn("syntax (").OnDone(bad.callback()) == Status::kOk);
  CHECK(bad.Wait().status() == Status::kError);
  const Process process = world.Spawn("return 1");
  CHECK(process.OnDone(nullptr) == Status::kMisuse);
  CHECK(process.Join(kPatience).ok());
}

TEST_CASE("what a callback throws is dropped") {
  World world;
  std::atomic<bool> called{false};
  const Process process = world.Spawn("return 1");
  REQUIRE(process.OnDone([&](const Result<Values>&) {
    called.store(true);
    throw std::runtime_error("dropped");
  }) == Status::kOk);
  CHECK(process.Join(kPatience).ok());
  CHECK(shoal::core::Eventually([&] { return called.load(); }));
}

TEST_CASE("the end of the runtime is told to callbacks of what it ends") {
  Told told;
  Process process;
  {
    World world;
    process = world.Spawn("require('shoal').channel('gate'):receive('never')");
    REQUIRE(process.OnDone(told.callback()) == Status::kOk);
  }
  REQUIRE(told.IsTold());
  CHECK(told.Wait().status() == Status::kClosed);
  Told late;
  REQUIRE(process.OnDone(late.callback()) == Status::kOk);
  CHECK(late.Wait().status() == Status::kClosed);
}

TEST_CASE("a coroutine of C++ waits for the end of a process") {
  World world;
  const auto end_of = [&world](const char* body) -> Routine {
    const Process process = world.Spawn(body);
    Result<Values> result = co_await process;
    co_return std::move(result);
  };
  for (int i = 0; i < shoal::core::Times(500); ++i) {
    Routine first = end_of("return 1, 'two'");
    Routine second = end_of("error('no luck', 0)");
    const Result<Values> result = first.end.get();
    REQUIRE(result);
    REQUIRE(result->get<std::string>(1) == "two");
    REQUIRE(second.end.get().status() == Status::kError);
  }
}

}  // namespace
