// SPDX-License-Identifier: MIT
// Values and tables in C++.
#include <shoal/shoal.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using shoal::Table;
using shoal::TableReference;
using shoal::Value;
using shoal::Values;

TEST_CASE("values know what they were made of") {
  CHECK(Value().is_nil());
  CHECK(Value(nullptr).is_nil());
  CHECK(Value(true).kind() == Value::Kind::kBoolean);
  CHECK(Value(7).kind() == Value::Kind::kInteger);
  CHECK(Value('a').kind() == Value::Kind::kInteger);
  CHECK(Value(std::size_t{7}).kind() == Value::Kind::kInteger);
  CHECK(Value(0.5F).kind() == Value::Kind::kNumber);
  CHECK(Value("text").kind() == Value::Kind::kString);
  CHECK(Value(std::string_view("a\0b", 3)).get<std::string>()->size() == 3);
  CHECK(Value(Table{{"a", 1}}).kind() == Value::Kind::kTable);
  int object = 0;
  CHECK(Value::Pointer(&object).kind() == Value::Kind::kPointer);
}

TEST_CASE("an integer that Lua does not have becomes a float") {
  CHECK(Value(std::uint64_t{1} << 63).kind() == Value::Kind::kNumber);
  CHECK(Value(UINT64_MAX).get<double>() == 0x1p64);
  CHECK(Value((std::uint64_t{1} << 63) - 1).get<std::int64_t>() == INT64_MAX);
}

TEST_CASE("a value is read as what it is, or not at all") {
  CHECK(Value(7).get<int>() == 7);
  CHECK(Value(7).get<double>() == 7.0);
  CHECK(Value(7.0).get<int>() == 7);
  CHECK_FALSE(Value(7.5).get<int>());
  CHECK_FALSE(Value(300).get<std::uint8_t>());
  CHECK_FALSE(Value(-1).get<unsigned>());
  CHECK_FALSE(Value(0x1p63).get<std::int64_t>());
  CHECK(Value(-0x1p63).get<std::int64_t>() == INT64_MIN);
  CHECK_FALSE(Value(std::nan("")).get<int>());
  CHECK_FALSE(Value(1).get<bool>());
  CHECK_FALSE(Value("7").get<int>());
  CHECK(Value("text").get<std::string_view>() == "text");
  CHECK_FALSE(Value().get<std::string>());
  CHECK_FALSE(Value("text").get<Table>());
  int object = 0;
  CHECK(Value::Pointer(&object).get<void*>() == &object);
}

TEST_CASE("standard types convert both ways") {
  const auto survives = [](const auto& original) {
    using T = std::remove_cvref_t<decltype(original)>;
    const std::optional<T> read = Value(original).template get<T>();
    return read.has_value() && *read == original;
  };
  CHECK(survives(std::vector<int>{1, 2, 3}));
  CHECK(survives(std::vector<std::vector<std::string>>{{"a"}, {}, {"b", "c"}}));
  CHECK(survives(std::array<double, 2>{0.5, 1}));
  CHECK(survives(std::map<std::string, int>{{"a", 1}, {"b", 2}}));
  CHECK(survives(std::map<int, bool>{{1, true}, {2, false}, {9, true}}));
  CHECK(survives(std::unordered_map<std::string, double>{{"x", 1.5}}));
  CHECK(survives(std::pair<int, std::string>(1, "a")));
  CHECK(survives(std::tuple<int, std::string, bool>(1, "a", true)));
  CHECK(survives(std::optional<int>(5)));
  CHECK(survives(std::optional<int>()));
  CHECK(survives(std::tuple<int, std::optional<int>>(1, std::nullopt)));
}

TEST_CASE("what does not fit is not read as a standard type") {
  CHECK_FALSE(Value(Table::List({1, "a"})).get<std::vector<int>>());
  CHECK_FALSE(Value(Table{{"a", 1}}).get<std::vector<int>>());
  CHECK_FALSE(Value(Table::List({1, 2, 3})).get<std::pair<int, int>>());
  CHECK_FALSE(Value(5).get<std::vector<int>>());
  CHECK_FALSE(Value("a").get<std::optional<int>>());
}

TEST_CASE("a table keeps lists and pairs as Lua would") {
  Table table{{"id", 7}, {1, "one"}, {3, "three"}, {nullptr, 1}, {"gone", nullptr}};
  CHECK(table.size() == 3);
  CHECK(table.list().size() == 1);
  CHECK(table[3] == Value("three"));
  CHECK(table.Set(2, "two"));
  CHECK(table.list().size() == 3);
  CHECK(table.pairs().size() == 1);
  CHECK(table[2.0] == Value("two"));
  CHECK(table.get<int>("id") == 7);
  CHECK(table["none"].is_nil());
  CHECK_FALSE(table.Set(Value(), 1));
  CHECK_FALSE(table.Set(std::nan(""), 1));
  CHECK(table.Set(4.0, "four"));
  CHECK(table.list().size() == 4);
  CHECK(table.Set(4, Value()));
  CHECK(table.Set(2, Value()));
  CHECK(table.list().size() == 3);
  CHECK(table.Set(3, Value()));
  CHECK(table.list().size() == 1);
  CHECK(table.Set(2.5, 1));
  CHECK(table[2.5] == Value(1));
}

TEST_CASE("a copy of a table is another one") {
  Table first{{"a", 1}};
  Table second = first;
  CHECK(second.Set("a", 2));
  CHECK(first.get<int>("a") == 1);
  CHECK(second.get<int>("a") == 2);
  CHECK_FALSE(first == second);
}

TEST_CASE("tables are equal by what is in them") {
  const Table first{{"list", Table::List({1, 2, 3})}, {"x", 1}};
  const Table second{{"x", 1.0}, {"list", Table::List({1, 2, 3})}};
  CHECK(first == second);
  CHECK_FALSE(first == Table{{"list", Table::List({1, 2})}, {"x", 1}});
}

TEST_CASE("an inner reference does not keep its table") {
  Table outer{{"name", "outer"}};
  Value inner = TableReference(outer);
  CHECK(inner.get<Table>()->get<std::string>("name") == "outer");
  outer = Table();
  CHECK_FALSE(inner.get<Table>());
}

TEST_CASE("tables nested very deeply are freed") {
  Table table{{"x", 1}};
  for (int i = 0; i < 300'000; ++i) table = Table{{"inner", std::move(table)}};
  CHECK(table.size() == 1);
}

TEST_CASE("values are read by their index") {
  const Values values{"a", 1, nullptr};
  CHECK(values.size() == 3);
  CHECK(values.get<std::string>(0) == "a");
  CHECK(values.get<int>(1) == 1);
  CHECK(values[7].is_nil());
  CHECK(Values::Of(1, "b") == Values{1, "b"});
}

TEST_CASE("values have texts for people") {
  CHECK(Value().ToText() == "nil");
  CHECK(Value(true).ToText() == "true");
  CHECK(Value(1.0).ToText() == "1.0");
  CHECK(Value(0.1).ToText() == "0.1");
  CHECK(Value(12).ToText() == "12");
  CHECK(Value(Table{{1, 1}}).ToText().starts_with("table: "));
}

}  // namespace
