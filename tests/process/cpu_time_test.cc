// SPDX-License-Identifier: MIT
#include "runtime/process/cpu_time.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace shoal::core {
namespace {

Duration At(std::int64_t nanoseconds) { return Duration(nanoseconds); }

TEST_CASE("turns add up, and what lies between them does not") {
  CpuTime time;
  CHECK(time.Used(At(100)) == At(0));
  time.Begin(At(1000));
  CHECK(time.Used(At(1000)) == At(0));
  CHECK(time.Used(At(1007)) == At(7));
  time.End(At(1010));
  CHECK(time.Used(At(5000)) == At(10));
  time.Begin(At(5000));
  CHECK(time.Used(At(5001)) == At(11));
  time.End(At(5003));
  CHECK(time.Used(At(9000)) == At(13));
}

TEST_CASE("the beginning of a turn counts once, and so does its end") {
  CpuTime time;
  time.Begin(At(1000));
  time.Begin(At(1500));
  time.End(At(2000));
  time.End(At(3000));
  CHECK(time.Used(At(4000)) == At(1000));
}

TEST_CASE("a reading that is older than the turn takes nothing away") {
  CpuTime time;
  time.Begin(At(1000));
  CHECK(time.Used(At(400)) == At(0));
}

TEST_CASE("times since long ago fit") {
  CpuTime time;
  const Duration age = std::chrono::hours(24 * 365 * 100);
  time.Begin(age);
  time.End(age + At(1));
  CHECK(time.Used(age) == At(1));
}

}  // namespace
}  // namespace shoal::core
