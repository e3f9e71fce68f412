// SPDX-License-Identifier: MIT
#include "runtime/message/number.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/message/wire.h"

namespace shoal::core {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::vector<std::int64_t> Edges() {
  std::vector<std::int64_t> edges = {0, kMax, kMin};
  for (int bit = 0; bit < 63; ++bit) {
    for (int offset = -1; offset <= 1; ++offset) {
      const std::int64_t edge = (std::int64_t{1} << bit) + offset;
      edges.push_back(edge);
      edges.push_back(-edge);
    }
  }
  return edges;
}

MessagePtr MessageOf(const std::vector<int>& bytes) {
  std::vector<std::byte> raw;
  for (int byte : bytes) raw.push_back(static_cast<std::byte>(byte));
  return Message::New(raw, {});
}

TEST_CASE("an integer comes out of its message exactly") {
  for (std::int64_t value : Edges()) {
    INFO(value);
    const std::optional<Number> number = NumberOf(*MakeNumberMessage(value));
    REQUIRE(number.has_value());
    CHECK(*number == Number(value));
  }
}

TEST_CASE("a float comes out of its message exactly") {
  for (double value : {0.0, 1.0, -1.5, 1e308, std::numeric_limits<double>::infinity()}) {
    CHECK(NumberOf(*MakeNumberMessage(value)) == Number(value));
  }
  CHECK(std::signbit(std::get<double>(*NumberOf(*MakeNumberMessage(-0.0)))));
  CHECK(std::isnan(std::get<double>(*NumberOf(*MakeNumberMessage(std::nan(""))))));
}

TEST_CASE("what is not exactly one number is none") {
  CHECK_FALSE(NumberOf(*MessageOf({})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 0})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 1, wire::kNil})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 1, wire::kTrue})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 2, 5, 6})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 1, 5, 6})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 1, wire::kShortString + 1, '1'})));
  CHECK_FALSE(NumberOf(*MessageOf({wire::kPlain, 1, wire::kInt16, 1})));
  CHECK(NumberOf(*MessageOf({wire::kPlain, 1, 5})) == Number(std::int64_t{5}));
}

TEST_CASE("numbers are added as Lua does") {
  CHECK(Add(std::int64_t{2}, std::int64_t{3}) == Number(std::int64_t{5}));
  CHECK(Add(kMax, std::int64_t{1}) == Number(kMin));
  CHECK(Add(kMin, std::int64_t{-1}) == Number(kMax));
  CHECK(Add(std::int64_t{1}, 0.5) == Number(1.5));
  CHECK(Add(0.5, std::int64_t{1}) == Number(1.5));
  CHECK(Add(1.0, 1.0) == Number(2.0));
}

TEST_CASE("a number is written over another one") {
  const MessagePtr message = MakeNumberMessage(std::int64_t{1});
  const std::size_t footprint = message->footprint();
  for (std::int64_t value : Edges()) {
    RewriteNumber(*message, value);
    CHECK(NumberOf(*message) == Number(value));
    CHECK(message->footprint() == footprint);
  }
  RewriteNumber(*message, 2.5);
  CHECK(NumberOf(*message) == Number(2.5));
}

}  // namespace
}  // namespace shoal::core
