// SPDX-License-Identifier: MIT
#include "runtime/process/end_request.h"

#include <catch2/catch.hpp>

using namespace shoal::core;

namespace {
TimePoint At(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }
}  // namespace

TEST_CASE("the owner is told once until it has taken a request") {
  EndRequest request;
  REQUIRE(request.Ask(At(5)));
  REQUIRE_FALSE(request.Ask(At(5)));
  REQUIRE_FALSE(request.Ask(At(3)));
  REQUIRE(request.Take() == At(3));
}

TEST_CASE("a request for an earlier time tells the owner again, one for a later does not") {
  EndRequest request;
  REQUIRE(request.Ask(At(5)));
  REQUIRE(request.Take() == At(5));
  REQUIRE_FALSE(request.Ask(At(5)));
  REQUIRE_FALSE(request.Ask(At(6)));
  REQUIRE_FALSE(request.Ask(kNever));
  REQUIRE(request.Ask(At(4)));
  REQUIRE(request.Take() == At(4));
}

TEST_CASE("a request without a time tells the owner") {
  EndRequest request;
  REQUIRE(request.Ask(kNever));
  REQUIRE(request.Take() == kNever);
}
