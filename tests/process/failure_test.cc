// SPDX-License-Identifier: MIT
#include "runtime/process/failure.h"

#include <catch2/catch.hpp>

using namespace shoal::core;

TEST_CASE("a failure counts once, and no longer when it is joined") {
  const auto failure = Ref<Failure>::Adopt(new Failure("text", "trace"));
  REQUIRE(failure->Count());
  REQUIRE_FALSE(failure->Count());
  REQUIRE_FALSE(failure->joined());
  REQUIRE(failure->MarkJoined());
  REQUIRE(failure->joined());
  REQUIRE_FALSE(failure->MarkJoined());
}

TEST_CASE("a failure that was joined before does not count") {
  const auto failure = Ref<Failure>::Adopt(new Failure("text", "trace"));
  REQUIRE_FALSE(failure->MarkJoined());
  REQUIRE_FALSE(failure->Count());
}

TEST_CASE("a failure is reported once") {
  const auto failure = Ref<Failure>::Adopt(new Failure("text", "trace"));
  REQUIRE(failure->MarkReported());
  REQUIRE_FALSE(failure->MarkReported());
}
