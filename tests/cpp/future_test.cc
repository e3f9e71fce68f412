// SPDX-License-Identifier: MIT
// Futures of calls: joins, cancels, callbacks, coroutines.
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
#include <thread>
#include <utility>
#include <vector>

namespace {

using shoal::Future;
using shoal::Pool;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Value;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

constexpr char kBody[] = R"lua(
  local shoal = require("shoal")
  local exports = {}
  function exports.add(a, b) return a + b end
  function exports.fail() error("failed", 0) end
  function exports.wait(key) return shoal.channel("gate"):receive(key) end
  function exports.spin() while true do end end
  function exports.clean()
    local ch = shoal.channel("gate")
    local closed <close> = setmetatable({}, { __close = function() ch:send("cleaned", true) end })
    ch:receive("never")
  end
  return exports
)lua";

struct World {
  World() : pool(runtime.MakePool({.body = kBody, .size = 1})) { REQUIRE(pool); }
  void Open(const char* key, const Value& value) { REQUIRE(gate.Send(key, value).ok()); }
  Runtime runtime{{.workers = 2}};
  // A name is forgotten when nobody refers to the channel.
  shoal::Channel gate = runtime.OpenChannel("gate");
  Pool pool;
};

// A coroutine that runs at once, and whose end somebody waits for.
struct Routine {
  struct promise_type {
    std::promise<Status> end;
    Routine get_return_object() { return {end.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(Status status) { end.set_value(status); }
    void unhandled_exception() { std::terminate(); }
  };
  std::future<Status> end;
};

TEST_CASE("a future is joined as often as one likes, by anybody") {
  const World world;
  const Future future = world.pool.Async("add", {1, 2});
  REQUIRE(future.error().status() == Status::kOk);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([future, &right] {
      const Result<Values> sum = future.Join(kPatience);
      if (sum && sum->get<int>(0) == 3) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 3);
  CHECK(future.Join(0s)->get<int>(0) == 3);
  CHECK(future.state() == Future::State::kDone);
  CHECK(world.pool.Async("fail").Join() == Status::kError);
}

TEST_CASE("a join whose time is over leaves the call alone") {
  World world;
  const Future future = world.pool.Async("wait", {"key"});
  CHECK(future.Join(1ms) == Status::kTimeout);
  CHECK(future.Join(0s) == Status::kTimeout);
  CHECK(future.Join(-1s) == Status::kMisuse);
  world.Open("key", 5);
  CHECK(future.Join(kPatience)->get<int>(0) == 5);
}

TEST_CASE("a call is cancelled while it waits, while it computes, and before it is taken") {
  World world;
  const Future spinning = world.pool.Async("spin");
  while (spinning.state() == Future::State::kReady) std::this_thread::yield();
  const Future queued = world.pool.Async("add", {1, 2});
  CHECK(queued.state() == Future::State::kReady);
  queued.Cancel();
  CHECK(queued.state() == Future::State::kCancelled);
  CHECK(queued.Join(kPatience) == Status::kCancelled);
  CHECK(spinning.state() == Future::State::kRunning);
  spinning.Cancel();
  CHECK(spinning.Join(kPatience) == Status::kCancelled);
  const Future cleaning = world.pool.Async("clean");
  while (cleaning.state() == Future::State::kReady) std::this_thread::yield();
  cleaning.Cancel(kPatience);
  CHECK(cleaning.Join(kPatience) == Status::kCancelled);
  CHECK(world.gate.Receive("cleaned", kPatience).ok());
  // Afterwards it changes nothing.
  cleaning.Cancel();
  CHECK(world.pool.Call("add", {1, 2})->get<int>(0) == 3);
}

TEST_CASE("a future of no call says why") {
  const Future none;
  CHECK(none.error().status() == Status::kMisuse);
  CHECK(none.state() == Future::State::kNone);
  CHECK(none.Join() == Status::kMisuse);
  none.Cancel();
  Status told = Status::kOk;
  CHECK(none.OnDone([&told](const Result<Values>& result) { told = result.status(); }) ==
        Status::kOk);
  CHECK(told == Status::kMisuse);
  const World world;
  CHECK(world.pool.Async("add").OnDone(nullptr) == Status::kMisuse);
}

TEST_CASE("a callback is called once, when the call ends, with what it came to") {
  World world;
  for (const char* name : {"wait", "fail"}) {
    const Future future = world.pool.Async(name, {"key"});
    std::promise<Result<Values>> told;
    std::atomic<int> times{0};
    CHECK(future.OnDone([&](Result<Values> result) {
      ++times;
      told.set_value(std::move(result));
    }) == Status::kOk);
    if (std::string(name) == "wait") world.Open("key", "value");
    const Result<Values> result = told.get_future().get();
    if (std::string(name) == "wait") {
      CHECK(result->get<std::string>(0) == "value");
    } else {
      CHECK(result.error().message() == "failed");
    }
    CHECK(future.Join(kPatience).status() == result.status());
    CHECK(times == 1);
  }
}

TEST_CASE("of a call that has ended, the callback is called at once") {
  const World world;
  const Future future = world.pool.Async("add", {1, 2});
  REQUIRE(future.Join(kPatience));
  std::optional<int> sum;
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  CHECK(future.OnDone([&](Result<Values> result) {
    sum = result->get<int>(0);
    there = std::this_thread::get_id();
  }) == Status::kOk);
  CHECK(sum == 3);
  CHECK(there == here);
}

TEST_CASE("what a callback throws is dropped, and callbacks may make the next call") {
  const World world;
  CHECK(world.pool.Async("add", {1, 2}).OnDone([](const Result<Values>&) {
    throw std::runtime_error("of the program");
  }) == Status::kOk);
  std::promise<int> last;
  // Each call is made by the callback of the one before it.
  struct Chain {
    const Pool& pool;
    std::promise<int>& last;
    void Next(int sum) {
      if (sum >= 50) return last.set_value(sum);
      const Status status = pool.Async("add", {sum, 1}).OnDone([this](Result<Values> result) {
        Next(result ? result->get<int>(0).value_or(-1) : 1000);
      });
      if (status != Status::kOk) last.set_value(-1);
    }
  } chain{world.pool, last};
  chain.Next(0);
  CHECK(last.get_future().get() == 50);
}

TEST_CASE("a wait in a callback is refused on a worker") {
  World world;
  std::promise<Status> told;
  const Future future = world.pool.Async("wait", {"key"});
  const Pool pool = world.pool;
  CHECK(future.OnDone([&told, pool](const Result<Values>&) {
    told.set_value(pool.Call("add", {1, 2}).status());
  }) == Status::kOk);
  world.Open("key", 1);
  CHECK(told.get_future().get() == Status::kMisuse);
}

TEST_CASE("the end of the runtime calls the callbacks that are left") {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> told{0};
    {
      World world;
      std::vector<Future> futures;
      for (int i = 0; i < 20; ++i) {
        futures.push_back(world.pool.Async(i % 2 == 0 ? "wait" : "add", {i, i}));
        CHECK(futures.back().OnDone([&told](const Result<Values>&) { ++told; }) == Status::kOk);
      }
      futures[0].Cancel();
    }
    CHECK(told == 20);
  }
}

TEST_CASE("a coroutine awaits a call, whether it has ended or not") {
  World world;
  const auto add = [&world](bool wait_first) -> Routine {
    const Future future = world.pool.Async("add", {20, 22});
    if (wait_first) static_cast<void>(future.Join(kPatience));
    const Result<Values> sum = co_await future;
    if (!sum || sum->get<int>(0) != 42) co_return Status::kWrongType;
    const Result<Values> failed = co_await world.pool.Async("fail");
    if (failed != Status::kError) co_return Status::kWrongType;
    co_return (co_await Future()).status();
  };
  for (int i = 0; i < 50; ++i) {
    Routine routine = add(i % 2 == 0);
    CHECK(routine.end.get() == Status::kMisuse);
  }
}

TEST_CASE("calls end and are cancelled, joined and watched at the same time") {
  World world;
  std::atomic<int> told{0};
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; ++i) {
    const Future future = world.pool.Async(i % 3 == 0 ? "spin" : "add", {1, 2});
    std::thread canceller([future] { future.Cancel(); });
    std::thread joiner([future] { static_cast<void>(future.Join(kPatience)); });
    CHECK(future.OnDone([&told](const Result<Values>& result) {
      if (result.status() != Status::kError) ++told;
    }) == Status::kOk);
    canceller.join();
    joiner.join();
  }
  world = World();
  CHECK(told == kRounds);
}

}  // namespace
