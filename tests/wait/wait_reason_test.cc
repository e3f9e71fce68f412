// SPDX-License-Identifier: MIT
#include "runtime/wait/wait_reason.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace shoal::core;

TEST_CASE("each reason to wait has a word of its own") {
  std::set<std::string> words;
  const int last = static_cast<int>(WaitReason::kBlocking);
  for (int i = 0; i <= last; ++i) words.insert(ToString(static_cast<WaitReason>(i)));
  REQUIRE(words.size() == static_cast<std::size_t>(last) + 1);
  REQUIRE(words.count("unknown") == 0);
}
