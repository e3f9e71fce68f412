// SPDX-License-Identifier: MIT
// Objects of the program that Lua code has by reference.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/cpp/lua_runner.h"
#include "tests/support/eventually.h"

namespace {

using shoal::Class;
using shoal::KnownClass;
using shoal::Module;
using shoal::Object;
using shoal::Runtime;
using shoal::core::Eventually;
using shoal::test::RunLua;

class Counter {
 public:
  explicit Counter(std::atomic<int>* alive) : alive_(alive) { alive_->fetch_add(1); }
  ~Counter() { alive_->fetch_sub(1); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  int Add(int by) { return count_.fetch_add(by) + by; }
  [[nodiscard]] int count() const { return count_.load(); }

 private:
  std::atomic<int>* alive_;
  std::atomic<int> count_{0};
};

Class<Counter> CounterClass() {
  return std::move(Class<Counter>("counter")
                       .Method("add", &Counter::Add)
                       .Method("count", &Counter::count)
                       .Method("fail", [](Counter&) { throw std::runtime_error("failed"); })
                       .Method("__call", [](Counter& counter, int by) { return counter.Add(by); })
                       .Method("__len", [](Counter& counter) { return counter.count(); }));
}

TEST_CASE("Lua code calls methods of an object, which stays one in all processes") {
  std::atomic<int> alive{0};
  {
    Runtime runtime({.workers = 2});
    auto counters = runtime.AddClass(CounterClass());
    REQUIRE(counters);
    const auto counter = std::make_shared<Counter>(&alive);
    const Object object = counters->Wrap(counter);
    REQUIRE(object);
    CHECK(object.get<Counter>() == counter);
    CHECK(object.get<std::string>() == nullptr);
    REQUIRE(runtime.SetGlobal("counter", object));
    CHECK(RunLua(runtime, R"lua(
      local shoal = require "shoal"
      assert(counter:add(1) == 1 and counter:count() == 1)
      assert(counter(2) == 3 and #counter == 3)
      assert(tostring(counter):find("^counter: "))
      local ok, text = pcall(counter.add, {}, 1)
      assert(not ok and text:find("counter expected", 1, true), text)
      local ok, text = pcall(counter.add, counter, "x")
      assert(not ok and text:find("bad argument #1", 1, true), text)
      local ok, text = pcall(counter.fail, counter)
      assert(not ok and text:find("failed", 1, true), text)
      -- By reference, and equal to itself.
      local ch = shoal.channel()
      ch:send("k", counter, { counter })
      local back, list = ch:receive("k")
      assert(back == counter and list[1] == counter)
      local all = {}
      for i = 1, 8 do
        all[i] = shoal.spawn(function(c)
          for x = 1, 100 do c:add(1) end
          assert(c == counter) -- the global is the same
          return c
        end, counter)
      end
      for i = 1, 8 do assert(all[i]:result() == counter) end
      return "done")lua") == "done");
    CHECK(counter->count() == 803);
  }
  CHECK(alive.load() == 0);
}

TEST_CASE("functions take and return objects, and an object lives as long as somebody has it") {
  std::atomic<int> alive{0};
  Runtime runtime({.workers = 2});
  auto counters = runtime.AddClass(CounterClass());
  REQUIRE(counters);
  REQUIRE(runtime.AddModule(
      Module("counters")
          .Add("new", [known = *counters,
                       &alive] { return known.Wrap(std::make_shared<Counter>(&alive)); })
          .Add("sum", [](const std::shared_ptr<Counter>& a, const std::shared_ptr<Counter>& b) {
            return a->count() + b->count();
          })));
  CHECK(RunLua(runtime, R"lua(
    local counters = require "counters"
    local a, b = counters.new(), counters.new()
    a:add(3) b:add(4)
    assert(a ~= b and counters.sum(a, b) == 7)
    local ok, text = pcall(counters.sum, a, 5)
    assert(not ok and text:find("bad argument #2", 1, true), text)
    for i = 1, 1000 do counters.new() end
    return "done")lua") == "done");
  // The process has ended, with all that it had.
  CHECK(Eventually([&] { return alive.load() == 0; }));
}

TEST_CASE("an object comes back to C++ in a message") {
  std::atomic<int> alive{0};
  Runtime runtime({.workers = 1});
  auto counters = runtime.AddClass(CounterClass());
  REQUIRE(counters);
  const auto channel = runtime.OpenChannel("objects");
  {
    const auto counter = std::make_shared<Counter>(&alive);
    REQUIRE(channel.Send("to", counters->Wrap(counter)));
  }
  CHECK(alive.load() == 1);
  CHECK(RunLua(runtime, R"lua(
    local ch = require("shoal").channel("objects")
    local counter = ch:receive("to")
    counter:add(5)
    ch:send("back", { counter })
    return "done")lua") == "done");
  const auto back = channel.Receive("back", std::chrono::seconds(60));
  REQUIRE(back);
  const auto list = back->get<std::vector<Object>>(0);
  REQUIRE(list);
  const auto counter = (*list)[0].get<Counter>();
  REQUIRE(counter != nullptr);
  CHECK(counter->count() == 5);
}

TEST_CASE("an Object that outlives its runtime stands for nothing any more") {
  std::atomic<int> alive{0};
  Object object;
  std::optional<KnownClass<Counter>> known;
  {
    Runtime runtime({.workers = 1});
    auto counters = runtime.AddClass(CounterClass());
    REQUIRE(counters);
    known = *counters;
    object = known->Wrap(std::make_shared<Counter>(&alive));
    CHECK(object.get<Counter>() != nullptr);
    CHECK_FALSE(known->Wrap(nullptr));
  }
  CHECK(alive.load() == 0);
  CHECK(object.get<Counter>() == nullptr);
  CHECK_FALSE(known->Wrap(std::make_shared<Counter>(&alive)));
  CHECK(alive.load() == 0);
  CHECK(Object().get<Counter>() == nullptr);
}

}  // namespace
