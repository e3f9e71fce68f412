// SPDX-License-Identifier: MIT
// What becomes of values on their way from C++ to Lua and back.
#include <shoal/shoal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using shoal::Channel;
using shoal::Opaque;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::TableReference;
using shoal::Value;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // matters only if a test fails

// A process that sends back what it gets, or what `change` makes of it.
class Echo {
 public:
  explicit Echo(const std::string& change = "...") {
    REQUIRE(runtime_);
    channel_ = runtime_.NewChannel();
    process_ = runtime_.Spawn(
        "local ch = ... "
        "local function change(...) return " +
            change +
            " end "
            "while true do ch:send('out', 1, change(select(2, ch:receive('in')))) end",
        {channel_});
    REQUIRE(process_);
  }
  Values operator()(const Values& values) {
    std::vector<Value> all{0};
    all.insert(all.end(), values.begin(), values.end());
    const Result<void> sent = channel_.SendFor(kLong, "in", Values(std::move(all)));
    INFO(sent.error().message());
    REQUIRE(sent);
    Result<Values> received = channel_.Receive("out", kLong);
    if (!received) FAIL(process_.Join(0s).error().message());
    return Values(std::vector<Value>(received->begin() + 1, received->end()));
  }
  [[nodiscard]] const Channel& channel() const { return channel_; }

 private:
  Runtime runtime_{{.workers = 1}};
  Channel channel_;
  shoal::Process process_;
};

TEST_CASE("values survive the way to Lua and back") {
  Echo echo;
  const auto survives = [&echo](const Value& value) {
    const Values back = echo({value});
    CAPTURE(value.ToText(), back[0].ToText());
    CHECK(back.size() == 1);
    CHECK(back[0].kind() == value.kind());
    CHECK(back[0] == value);
  };
  survives(Value());
  survives(true);
  survives(false);
  for (int shift = 0; shift < 64; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    for (const std::uint64_t bits : {power, power - 1, 0 - power, 0 - power - 1}) {
      survives(static_cast<std::int64_t>(bits));
    }
  }
  survives(0.0);
  survives(1.0);
  survives(-0.1);
  survives(std::numeric_limits<double>::infinity());
  survives(std::numeric_limits<double>::denorm_min());
  for (const std::size_t size : {0U, 1U, 62U, 63U, 64U, 109U, 110U, 111U, 112U, 5000U, 100'000U}) {
    std::string text(size, 'x');
    if (size > 0) text[size / 2] = '\0';
    survives(text);
  }
  int object = 0;
  survives(Value::Pointer(&object));
  survives(Table());
  survives(Table::List({1, 2, 3}));
  survives(Table{{"a", 1}, {2.5, "b"}, {true, Table{{"inner", Table::List({1, "x"})}}}});
  survives(echo.channel());
}

TEST_CASE("a tuple keeps its nils") {
  Echo echo;
  const Values values{"a", nullptr, 1, nullptr};
  const Values back = echo(values);
  CHECK(back.size() == 4);
  CHECK(back == values);
  CHECK(echo(Values()).empty());
}

TEST_CASE("Lua sees the values that C++ has sent") {
  Echo echo(
      "(function(v) return math.type(v.i), math.type(v.f), #v.s, v.list[2], #v.list, "
      "v[true], next({}, nil) == nil end)(...)");
  const Values back = echo({Table{{"i", 1},
                                  {"f", 1.0},
                                  {"s", std::string(100, 'x')},
                                  {"list", Table::List({"a", "b", "c"})},
                                  {true, "yes"}}});
  CHECK(back == Values{"integer", "float", 100, "b", 3, "yes", true});
}

TEST_CASE("C++ sees the values that Lua has sent") {
  Echo echo("{ 1, 2, nil, 4, x = { y = 'z' }, [0] = false }, 2^53, 7 // 2");
  const Values back = echo(Values());
  const Table table = back.get<Table>(0).value();
  CHECK(table[1] == Value(1));
  CHECK(table[3].is_nil());
  CHECK(table[4] == Value(4));
  CHECK(table[0] == Value(false));
  CHECK(table.get<Table>("x")->get<std::string>("y") == "z");
  CHECK(back.get<double>(1) == 0x1p53);
  CHECK(back[2] == Value(3));
}

// Random values -----------------------------------------------------------------------------------

class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : engine_(seed) {}
  Value operator()(int depth) {
    switch (Below(depth > 0 ? 10 : 7)) {
      case 0:
        return Value();
      case 1:
        return Below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(engine_() >> Below(64));
      case 3:
        return -static_cast<std::int64_t>(engine_() >> (1 + Below(63)));
      case 4:
        return static_cast<double>(engine_()) / 1e5;
      case 5:
        return Text(Below(20));
      case 6:
        return Text(Below(300));
      case 7:
        return List(depth);
      default:
        return Pairs(depth);
    }
  }

 private:
  std::uint64_t Below(std::uint64_t bound) { return engine_() % bound; }
  std::string Text(std::size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(engine_());
    return text;
  }
  Value List(int depth) {
    std::vector<Value> list;
    for (std::uint64_t left = Below(8); left != 0; --left) list.push_back((*this)(depth - 1));
    // A list whose holes Lua's own encoder writes in another way would be another one here.
    for (Value& value : list) {
      if (value.is_nil()) value = 0;
    }
    return Table::List(std::move(list));
  }
  Value Pairs(int depth) {
    Table table;
    for (std::uint64_t left = Below(12); left != 0; --left) {
      const Value key = (*this)(0);
      table.Set(key, (*this)(depth - 1));
    }
    return table;
  }

  std::mt19937_64 engine_;
};

TEST_CASE("random values survive the way to Lua and back") {
  const std::uint32_t seed = std::random_device()();
  CAPTURE(seed);
  RandomValues random(seed);
  Echo echo;
  for (int round = 0; round < 500; ++round) {
    const Values values{random(0), random(3), random(5)};
    const Values back = echo(values);
    REQUIRE(back.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(back[i] == values[i]);
  }
}

// Identity ----------------------------------------------------------------------------------------

TEST_CASE("a table that stands in two places is one in Lua") {
  Echo echo("rawequal((...).a, (...).b), rawequal((...), (...).b)");
  const Table shared{{"x", 1}};
  CHECK(echo({Table{{"a", shared}, {"b", shared}}}) == Values{true, false});
  CHECK(echo({Table{{"a", shared}, {"b", Table{{"x", 1}}}}}) == Values{false, false});
}

TEST_CASE("a table that stands in two places in Lua is one when it is sent back") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.NewChannel();
  const shoal::Process process = runtime.Spawn(
      "local ch = ... local t = {} ch:send('out', { a = t, b = t }, t)"
      "local x, y = ch:receive('in') return rawequal(x.a, x.b), rawequal(x.a, y)",
      {ch});
  const Result<Values> got = ch.Receive("out", kLong);
  REQUIRE(got);
  REQUIRE(ch.Send("in", *got));
  CHECK(*process.Join(kLong) == Values{true, true});
}

TEST_CASE("rings survive, and do not leak") {
  Echo echo("(function(t) t = t or {} return rawequal(t.inner.outer, t), t end)(...)");
  SECTION("from C++") {
    Table outer{{"name", "outer"}};
    const Table inner{{"outer", TableReference(outer)}};
    outer.Set("inner", inner);
    const Values back = echo({outer});
    CHECK(back[0] == Value(true));
    CHECK(back[1] == Value(outer));
  }
  SECTION("from Lua") {
    Runtime runtime({.workers = 1});
    const Channel ch = runtime.NewChannel();
    const shoal::Process process = runtime.Spawn(
        "local ch = ... local t = { name = 'outer', inner = {} } t.inner.outer = t t[1] = t "
        "ch:send('out', t) local x = ch:receive('in') "
        "return rawequal(x.inner.outer, x), rawequal(x[1], x), x.name",
        {ch});
    Result<Values> got = ch.Receive("out", kLong);
    REQUIRE(got);
    Table table = got->get<Table>(0).value();
    const Value inside = (*table.get<Table>("inner"))["outer"];
    CHECK(inside.get<Table>()->get<std::string>("name") == "outer");
    CHECK(*got == *got);
    REQUIRE(ch.Send("in", *got));
    CHECK(*process.Join(kLong) == Values{true, true, "outer"});
    // Without its outermost table, the reference is one to nothing.
    const Table kept = table.get<Table>("inner").value();
    got = Status::kEmpty;
    table = Table();
    CHECK_FALSE(kept.get<Table>("outer"));
    REQUIRE(ch.Send("last", kept));
  }
}

TEST_CASE("deep tables travel, and too deep ones are refused") {
  Echo echo;
  const auto nested = [](int depth) {
    Table table{{"x", 1}};
    for (int i = 1; i < depth; ++i) table = Table{{"inner", std::move(table)}};
    return table;
  };
  const Table deep = nested(10'000);
  CHECK(echo({deep})[0] == Value(deep));
  const Result<void> sent = echo.channel().Send("in", nested(10'001));
  CHECK(sent == Status::kMisuse);
  CHECK(sent.error().message().find("nested deeper") != std::string_view::npos);
}

// What means something in Lua only ----------------------------------------------------------------

TEST_CASE("functions come to C++ as opaque values, and can be sent on") {
  Echo echo(
      "(function(f) if f then return f(20) end "
      "local up = { n = 1 } return function(x) up.n = up.n + 1 return x + up.n end end)(...)");
  const Values got = echo(Values());
  REQUIRE(got[0].kind() == Value::Kind::kOpaque);
  CHECK(got.get<Opaque>(0)->name() == std::string("function"));
  CHECK(echo({got[0]}) == Values{22});
  CHECK(echo({got[0]}) == Values{22});
}

TEST_CASE("a C function of a module can be sent on") {
  Echo echo(
      "(function(f) if f then return f('ab'), rawequal(f, string.upper) end "
      "return string.upper end)(...)");
  const Values got = echo(Values());
  CHECK(got.get<Opaque>(0)->name() == std::string("module value"));
  CHECK(echo({got[0]}) == Values{"AB", true});
}

TEST_CASE("tables with metatables can be read and sent on") {
  Echo echo(
      "(function(p) if p then return p:norm(), getmetatable(p).__name end "
      "local Point = { __name = 'Point' } Point.__index = Point "
      "function Point:norm() return self.x + self.y + Point.zero end Point.zero = 0 "
      "return setmetatable({ x = 3, y = 4 }, Point) end)(...)");
  const Values got = echo(Values());
  Table point = got.get<Table>(0).value();
  CHECK(point.get<int>("x") == 3);
  CHECK(point.metatable().get<Table>()->get<std::string>("__name") == "Point");
  CHECK(echo({point}) == Values{7, "Point"});
  point.Set("x", 10);
  CHECK(echo({point}) == Values{14, "Point"});
}

TEST_CASE("what functions and tables of a message share stays shared") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.NewChannel();
  const shoal::Process process = runtime.Spawn(
      "local ch = ... local t, n = { v = 1 }, 0 "
      "local function get() return t.v, n end local function set(v) t.v = v n = n + 1 end "
      "ch:send('out', get, t, set, { get, _G = _G }) "
      "local g, u, s, all = ch:receive('in') "
      "s(5) u.w = 6 return u.v, g() == 5, select(2, g()), rawequal(all[1], g), all._G == _G",
      {ch});
  const Result<Values> got = ch.Receive("out", kLong);
  REQUIRE(got);
  CHECK(got->get<Table>(1)->get<int>("v") == 1);
  SECTION("in their order") { REQUIRE(ch.Send("in", *got)); }
  SECTION("each as a value of its own") {
    REQUIRE(ch.Send("in", (*got)[0], (*got)[1], (*got)[2], (*got)[3]));
  }
  const Result<Values> result = process.Join(kLong);
  INFO(result.error().message());
  REQUIRE(result);
  CHECK(*result == Values{5, true, 1, true, true});
}

TEST_CASE("a changed table is another one than that of the functions that came with it") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.NewChannel();
  const shoal::Process process = runtime.Spawn(
      "local ch = ... local t = { v = 1 } local function get() return t.v end "
      "ch:send('out', get, t) local g, u = ch:receive('in') return g(), u.v",
      {ch});
  Result<Values> got = ch.Receive("out", kLong);
  REQUIRE(got);
  Table table = got->get<Table>(1).value();
  table.Set("v", 2);
  REQUIRE(ch.Send("in", (*got)[0], table));
  CHECK(*process.Join(kLong) == Values{1, 2});
}

TEST_CASE("handles inside of functions are kept") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.NewChannel();
  const shoal::Process process = runtime.Spawn(
      "local shoal = require 'shoal' local ch = ... local a, b = shoal.channel(), shoal.channel() "
      "a:send(1, 'a') b:send(1, 'b') "
      "ch:send('out', function() return a:receive(1, 0), b:receive(1, 0) end, b, ch) "
      "a, b = nil, nil collectgarbage() "
      "local f, c, d = ch:receive('in') return select('#', f()), d == ch, c == ch",
      {ch});
  const Result<Values> got = ch.Receive("out", kLong);
  REQUIRE(got);
  CHECK(got->get<Channel>(2) == ch);
  CHECK(*got->get<Channel>(1)->Get(1) == Values{"b"});
  REQUIRE(ch.Send("in", *got));
  const Result<Values> result = process.Join(kLong);
  INFO(result.error().message());
  REQUIRE(result);
  CHECK(*result == Values{2, true, false});
}

TEST_CASE("a function can be run as a process of its own") {
  Echo echo("function(x) return x * 2 end");
  Runtime other({.workers = 1});
  const Values got = echo(Values());
  const shoal::Process process = other.Spawn(shoal::Source(got[0]), {21});
  CHECK(*process.Join(kLong) == Values{42});
}

}  // namespace
