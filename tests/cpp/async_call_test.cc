// SPDX-License-Identifier: MIT
// C++ functions that complete later.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cpp/lua_runner.h"
#include "tests/support/eventually.h"

namespace {

using shoal::Completion;
using shoal::Error;
using shoal::Module;
using shoal::Runtime;
using shoal::Status;
using shoal::Value;
using shoal::Values;
using shoal::core::Eventually;
using shoal::core::Times;
using shoal::test::RunLua;

// Completes calls on threads of its own.
class Engine {
 public:
  explicit Engine(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~Engine() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void Submit(const Values& values, const Completion& completion) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.emplace_back(values, completion);
    }
    changed_.notify_one();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto [values, completion] = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      completion.Complete(Values::Of(values.get<std::int64_t>(0).value_or(0) * 2));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Values, Completion>> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

TEST_CASE("a call that completes later is a call that waits, while other tasks go on") {
  Runtime runtime({.workers = 1});
  std::optional<Completion> kept;
  std::mutex mutex;
  REQUIRE(runtime.AddModule(Module("later")
                                .AddAsync("begin",
                                          [&](const Values&, const Completion& completion) {
                                            const std::lock_guard lock(mutex);
                                            kept = completion;
                                          })
                                .Add("finish", [&](const std::string& with) {
                                  const std::lock_guard lock(mutex);
                                  // Once.
                                  const bool first = kept->Complete(Values::Of(with, 2));
                                  const bool second = kept->Complete(Values::Of("again"));
                                  kept.reset();
                                  return first && !second;
                                })));
  CHECK(RunLua(runtime, R"lua(
    local shoal, later = require "shoal", require "later"
    local finished
    shoal.task(function() finished = later.finish("text") end)
    local text, two = later.begin(1)
    assert(text == "text" and two == 2 and finished)
    -- In a coroutine, and where Lua cannot yield.
    shoal.task(function() later.finish("second") end)
    assert(coroutine.wrap(function() return (later.begin()) end)() == "second")
    shoal.task(function() later.finish("third") end)
    local got
    table.sort({ 2, 1 }, function(a, b) got = got or later.begin() return a < b end)
    assert(got == "third")
    return "done")lua") == "done");
}

TEST_CASE("a call may complete before the function returns, or fail in each way") {
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddModule(
      Module("later")
          .AddAsync("now", [](const Values& values,
                              const Completion& completion) { completion.Complete(values); })
          .AddAsync("throws",
                    [](const Values&, const Completion&) { throw std::runtime_error("thrown"); })
          .AddAsync("drops", [](const Values&, const Completion&) {})
          .AddAsync("fails",
                    [](const Values&, const Completion& completion) {
                      completion.Complete(Error(Value("value"), "value", ""));
                    })
          .AddAsync("timeout", [](const Values&, const Completion& completion) {
            completion.Complete(Status::kTimeout);
          })));
  CHECK(RunLua(runtime, R"lua(
    local later = require "later"
    local t = { 1 }
    local a, b = later.now(t, "x")
    assert(a[1] == 1 and b == "x" and a ~= t)
    local ok, text = pcall(later.throws)
    assert(not ok and text:find("thrown"), text)
    local ok, text = pcall(later.drops)
    assert(not ok and text:find("given up"), text)
    local ok, text = pcall(later.fails)
    assert(not ok and text == "value", text)
    local n, word = later.timeout()
    assert(n == nil and word == "timeout")
    local ok, text = pcall(later.now, coroutine.create(print))
    assert(not ok and text:find("cannot send a coroutine"), text)
    return "done")lua") == "done");
}

TEST_CASE("many calls of many tasks complete on other threads") {
  Runtime runtime({.workers = 2});
  Engine engine(2);
  REQUIRE(runtime.AddModule(
      Module("later").AddAsync("twice", [&](const Values& values, const Completion& completion) {
        engine.Submit(values, completion);
      })));
  REQUIRE(runtime.SetGlobal("rounds", Times(500)));
  CHECK(RunLua(runtime, R"lua(
    local shoal = require "shoal"
    local all = {}
    for i = 1, 8 do
      all[i] = shoal.spawn(function(rounds)
        local shoal, later = require "shoal", require "later"
        local tasks = {}
        for t = 1, 4 do
          tasks[t] = shoal.task(function()
            for x = 1, rounds do assert(later.twice(x) == 2 * x) end
          end)
        end
        for t = 1, 4 do assert(tasks[t]:join()) end
      end, rounds)
    end
    for i = 1, 8 do assert(all[i]:join()) end
    return "done")lua") == "done");
}

TEST_CASE("whoever completes a call learns that it has been given up") {
  Runtime runtime({.workers = 1});
  std::mutex mutex;
  std::optional<Completion> kept;
  REQUIRE(runtime.AddModule(
      Module("later").AddAsync("begin", [&](const Values&, const Completion& completion) {
        const std::lock_guard lock(mutex);
        kept = completion;
      })));
  CHECK(RunLua(runtime, R"lua(
    local shoal = require "shoal"
    local p = shoal.spawn(function()
      shoal = require "shoal"
      shoal.channel("begun"):send("k", 1)
      require("later").begin()
    end)
    shoal.channel("begun"):receive("k")
    while p:status() ~= "waiting" do shoal.yield() end
    p:cancel()
    local ok, error = p:join()
    assert(not ok and error == shoal.cancelled)
    return "done")lua") == "done");
  const std::lock_guard lock(mutex);
  REQUIRE(kept);
  CHECK(kept->abandoned());
  // Nobody gets them.
  kept->Complete(Values::Of("late"));
}

TEST_CASE("calls complete while, and after, the runtime ends") {
  for (int i = 0; i < Times(100); ++i) {
    std::mutex mutex;
    std::vector<Completion> kept;
    std::atomic<bool> stop{false};
    std::thread completer;
    {
      Runtime runtime({.workers = 2});
      REQUIRE(runtime.AddModule(
          Module("later").AddAsync("begin", [&](const Values&, const Completion& completion) {
            const std::lock_guard lock(mutex);
            kept.push_back(completion);
          })));
      for (int p = 0; p < 4; ++p) {
        REQUIRE(shoal::test::SpawnLua(runtime, "while true do require('later').begin({}) end"));
      }
      REQUIRE(Eventually([&] {
        const std::lock_guard lock(mutex);
        return kept.size() >= 2;
      }));
      completer = std::thread([&] {
        while (!stop.load()) {
          std::vector<Completion> now;
          {
            const std::lock_guard lock(mutex);
            // Some are left for the time after the end.
            if (kept.size() > 2) {
              now.assign(kept.begin() + 1, kept.end());
              kept.erase(kept.begin() + 1, kept.end());
            }
          }
          for (const Completion& completion : now) completion.Complete(Values::Of(Value("x")));
        }
      });
    }
    stop.store(true);
    completer.join();
    for (const Completion& completion : kept) {
      CHECK(completion.abandoned());
      CHECK_FALSE(completion.Complete(Values::Of(1)));
    }
  }
}

}  // namespace
