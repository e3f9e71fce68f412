// SPDX-License-Identifier: MIT
#include "runtime/base/status.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using shoal::core::Status;
using shoal::core::ToString;

TEST_CASE("scripts see the words timeout and closed") {
  REQUIRE(std::string(ToString(Status::kTimeout)) == "timeout");
  REQUIRE(std::string(ToString(Status::kClosed)) == "closed");
  REQUIRE(std::string(ToString(Status::kExists)) == "exists");
  REQUIRE(std::string(ToString(Status::kNotFound)) == "not found");
}

TEST_CASE("each status has a word of its own") {
  std::set<std::string> words;
  const int last = static_cast<int>(Status::kNoThread);
  for (int i = 0; i <= last; ++i) words.insert(ToString(static_cast<Status>(i)));
  REQUIRE(words.size() == static_cast<std::size_t>(last) + 1);
  REQUIRE(words.count("unknown") == 0);
}
