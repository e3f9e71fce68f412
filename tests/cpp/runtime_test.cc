// SPDX-License-Identifier: MIT
// The life of a Runtime in a C++ program.
#include <shoal/shoal.h>

#include <catch2/catch.hpp>
#include <utility>

namespace {

using shoal::Options;
using shoal::Runtime;
using shoal::Status;

TEST_CASE("a runtime starts and ends") {
  const Runtime runtime({.workers = 2});
  REQUIRE(runtime);
  CHECK(runtime.error().status() == Status::kOk);
  CHECK(runtime.workers() == 2);
}

TEST_CASE("a runtime has a worker for each core unless told otherwise") {
  const Runtime runtime;
  REQUIRE(runtime);
  CHECK(runtime.workers() >= 1);
}

TEST_CASE("a runtime with an option out of range says which") {
  Options options;
  SECTION("workers") { options.workers = 1025; }
  SECTION("signal") { options.signal = -1; }
  SECTION("max_blocked_threads") { options.max_blocked_threads = 0; }
  SECTION("max_blocking_threads") { options.max_blocking_threads = 0; }
  SECTION("shutdown_timeout") { options.shutdown_timeout = std::chrono::nanoseconds(-1); }
  const Runtime runtime(options);
  CHECK_FALSE(runtime);
  CHECK(runtime.error().status() == Status::kMisuse);
  CHECK(runtime.error().message().find("Options::") == 0);
  CHECK(runtime.workers() == 0);
}

TEST_CASE("a runtime can be moved") {
  Runtime first({.workers = 1});
  Runtime second = std::move(first);
  REQUIRE(second);
  second = Runtime({.workers = 3});
  CHECK(second.workers() == 3);
}

}  // namespace
