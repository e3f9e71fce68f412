// SPDX-License-Identifier: MIT
#include "runtime/process/call_requests.h"

#include <catch2/catch.hpp>

using namespace shoal::core;

namespace {
Ref<Call> NewCall() { return Ref<Call>::Adopt(new Call(nullptr)); }
}  // namespace

TEST_CASE("the owner is told of calls once until it has taken all of them") {
  CallRequests requests;
  const Ref<Call> a = NewCall();
  const Ref<Call> b = NewCall();
  REQUIRE(requests.Ask(*a));
  REQUIRE_FALSE(requests.Ask(*a));
  REQUIRE_FALSE(requests.Ask(*b));
  REQUIRE(requests.Take().get() == a.get());
  REQUIRE(requests.Take().get() == b.get());
  REQUIRE_FALSE(requests.Take());
  REQUIRE(requests.Ask(*a));
  REQUIRE(requests.Take().get() == a.get());
}

TEST_CASE("a process that has ended is asked for nothing, and keeps no call") {
  CallRequests requests;
  const Ref<Call> call = NewCall();
  REQUIRE(requests.Ask(*call));
  REQUIRE(call->references() == 2);
  requests.Close();
  REQUIRE(call->references() == 1);
  REQUIRE_FALSE(requests.Ask(*call));
  REQUIRE(call->references() == 1);
}
