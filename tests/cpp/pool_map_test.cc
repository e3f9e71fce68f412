// SPDX-License-Identifier: MIT
// Pool::Map.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"

namespace {

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
  function exports.square(n, index)
    assert(n == index * 10)
    shoal.channel("count"):incr("calls")
    return n * n, "not looked at"
  end
  function exports.odd(n)
    if n == 3 then error("three is bad", 0) end
    if n == 7 then error({ code = 7 }) end
    return n
  end
  function exports.stay() return shoal.channel("count"):receive("never") end
  return exports
)lua";

struct World {
  explicit World(std::uint64_t limit = shoal::PoolOptions::kNoLimit)
      : pool(runtime.MakePool({.body = kBody, .size = 2, .limit = limit})) {
    REQUIRE(pool);
  }
  Runtime runtime{{.workers = 2}};
  const shoal::Channel count = runtime.OpenChannel("count");
  const Pool pool;
};

TEST_CASE("a map calls its function for each item, and keeps the order") {
  for (const std::uint64_t limit : {shoal::PoolOptions::kNoLimit, std::uint64_t{1}}) {
    const World w(limit);
    std::vector<Value> list;
    const int size = shoal::core::Times(1000);
    for (int i = 1; i <= size; ++i) list.emplace_back(i * 10);
    const Result<Values> results = w.pool.Map("square", list, kPatience);
    REQUIRE(results);
    REQUIRE(results->size() == list.size());
    for (int i = 1; i <= size; ++i) {
      REQUIRE(results->get<int>(static_cast<std::size_t>(i) - 1) == i * i * 100);
    }
    CHECK(w.count.Get("calls")->get<int>(0) == size);
    CHECK(w.pool.Map("square", {}, kPatience)->empty());
  }
}

TEST_CASE("the first error of a map says which item") {
  World w;
  std::vector<Value> list;
  for (int i = 1; i <= 9; ++i) list.emplace_back(i);
  Result<Values> results = w.pool.Map("odd", list, kPatience);
  REQUIRE(results == Status::kError);
  CHECK(results.error().message() == "item 3: three is bad");
  CHECK(results.error().value().get<std::string>() == "item 3: three is bad");
  list.erase(list.begin() + 2);
  results = w.pool.Map("odd", list, kPatience);
  REQUIRE(results == Status::kError);
  CHECK((*results.error().value().get<shoal::Table>())["code"].get<int>() == 7);
  results = w.pool.Map("nothing", list, kPatience);
  CHECK(results == Status::kError);
  // What is no item is refused as such, and calls of before are not waited for.
  list[1] = Value(shoal::Handle(w.runtime.NewChannel()));
  CHECK_FALSE(w.pool.Map("odd", list, kPatience) == Status::kOk);
}

TEST_CASE("a map whose time is over cancels its calls") {
  const World w;
  const std::vector<Value> list(5, Value(1));
  CHECK(w.pool.Map("stay", list, 10ms) == Status::kTimeout);
  // So the processes are free again.
  CHECK(w.pool.CallFor(kPatience, "odd", 1).ok());
}

TEST_CASE("a map of no pool, or of one that is closed, says so") {
  const World w;
  const std::vector<Value> list(5, Value(1));
  CHECK(Pool().Map("odd", list) == Status::kMisuse);
  CHECK(w.pool.Map("odd", list, -1s) == Status::kMisuse);
  REQUIRE(w.pool.Close(kPatience).ok());
  CHECK(w.pool.Map("odd", list, kPatience) == Status::kClosed);
}

}  // namespace
