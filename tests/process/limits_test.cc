// SPDX-License-Identifier: MIT
#include "runtime/process/limits.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace shoal::core {
namespace {

TEST_CASE("a set of names has these names and no others") {
  const auto names = Ref<NameSet>::Adopt(new NameSet({"b", "", "a", std::string("a\0b", 3)}));
  for (const char* const name : {"a", "b", ""}) CHECK(names->Contains(name));
  CHECK(names->Contains(std::string_view("a\0b", 3)));
  for (const char* const name : {"c", "A", "ab", "aa"}) CHECK_FALSE(names->Contains(name));
  CHECK_FALSE(Ref<NameSet>::Adopt(new NameSet({}))->Contains(""));
}

TEST_CASE("without a set of names, all channels may be opened") {
  Reach reach;
  CHECK(reach.MayOpen("any"));
  reach.channels = Ref<NameSet>::Adopt(new NameSet({"one"}));
  CHECK(reach.MayOpen("one"));
  CHECK_FALSE(reach.MayOpen("any"));
}

TEST_CASE("who descends from whom is said by ids") {
  Reach reach;
  CHECK_FALSE(reach.DescendsFrom(1));
  reach.confined_ancestors = {3, 7};
  CHECK(reach.DescendsFrom(3));
  CHECK(reach.DescendsFrom(7));
  CHECK_FALSE(reach.DescendsFrom(5));
}

TEST_CASE("a message is bounded by the memory as well") {
  Limits limits;
  CHECK(limits.of_message() == Limits::kNoBytes);
  limits.memory = 1000;
  CHECK(limits.of_message() == 1000);
  limits.message = 10;
  CHECK(limits.of_message() == 10);
}

TEST_CASE("what has been reached is said with its size") {
  CHECK(CpuLimitReached(std::chrono::seconds(2)) == "cpu limit of 2 s reached");
  CHECK(CpuLimitReached(std::chrono::milliseconds(1500)) == "cpu limit of 1.5 s reached");
  CHECK(MemoryLimitTooSmall(1000) == "memory limit of 1000 bytes is too small for a process");
}

}  // namespace
}  // namespace shoal::core
