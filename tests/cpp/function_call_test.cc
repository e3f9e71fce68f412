// SPDX-License-Identifier: MIT
// Functions of the program, as Lua code calls them.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/cpp/lua_runner.h"

namespace {

using shoal::Error;
using shoal::Module;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::Value;
using shoal::Values;
using shoal::test::RunLua;

int Twice(int x) { return 2 * x; }

TEST_CASE("Lua code calls typed functions, and gets what they return") {
  Runtime runtime({.workers = 2});
  std::atomic<int> calls{0};
  REQUIRE(
      runtime.AddModule(Module("sums")
                            .Add("add", [](std::int64_t a, std::int64_t b) { return a + b; })
                            .Add("twice", Twice)
                            .Add("join",
                                 [](const std::vector<std::string>& words,
                                    const std::optional<std::string>& separator) {
                                   std::string all;
                                   for (const std::string& word : words) {
                                     if (!all.empty()) all += separator.value_or(" ");
                                     all += word;
                                   }
                                   return all;
                                 })
                            .Add("count", [&calls] { calls.fetch_add(1); })
                            .Add("two", [](double x) { return std::tuple(x, std::string("two")); })
                            .Add("all", [](const Values& values) { return values; })
                            .Add("sizes",
                                 [](const std::map<std::string, double>& sizes) {
                                   double sum = 0;
                                   for (const auto& [name, size] : sizes) sum += size;
                                   return sum;
                                 })
                            .Add("pi", 3)
                            .Add("names", Table::List({"a", "b"}))));
  CHECK(RunLua(runtime, R"lua(
    local sums = require "sums"
    assert(sums.add(3, 4) == 7)
    assert(sums.twice(21) == 42)
    assert(sums.join({ "a", "b" }) == "a b")
    assert(sums.join({ "a", "b" }, "-") == "a-b")
    for i = 1, 10 do assert(select("#", sums.count()) == 0) end
    local a, b = sums.two(1.5)
    assert(a == 1.5 and b == "two")
    assert(select("#", sums.all()) == 0)
    local t = { 1, { x = "y" }, [10] = false }
    t.self = t
    local n, s, u, back = sums.all(nil, "text", true, t)
    assert(n == nil and s == "text" and u == true)
    assert(back[1] == 1 and back[2].x == "y" and back[10] == false and back.self == back)
    assert(sums.sizes({ a = 1, b = 2.5 }) == 3.5)
    assert(sums.pi == 3 and sums.names[2] == "b")
    return "done")lua") == "done");
  CHECK(calls.load() == 10);
}

TEST_CASE("an argument of another type is an error that names it, and where the call is") {
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddModule(
      Module("f").Add("add", [](std::int64_t a, std::int64_t b) { return a + b; })));
  CHECK(RunLua(runtime, R"lua(
    local f = require "f"
    local ok, text = pcall(f.add, 1, "x")
    assert(not ok and text:find("bad argument #2", 1, true), text)
    local ok, text = pcall(f.add, 1)
    assert(not ok and text:find("bad argument #2: there is none", 1, true), text)
    local ok, text = pcall(f.add, 1.5, 1)
    assert(not ok and text:find("bad argument #1", 1, true), text)
    local ok, text = pcall(function()
      return (f.add("x", 1))
    end)
    assert(not ok and text:find("^[^:]+:10: bad argument #1"), text)
    local ok, text = pcall(f.add, coroutine.create(print))
    assert(not ok and text:find("cannot send a coroutine"), text)
    return "done")lua") == "done");
}

TEST_CASE("what a function throws, or returns as an error, comes to Lua as one") {
  struct Odd {};
  Runtime runtime({.workers = 1});
  REQUIRE(runtime.AddModule(
      Module("f")
          .Add("throws", [] { throw std::runtime_error("thrown"); })
          .Add("odd", [] { throw Odd(); })
          .Add("memory", [] { throw std::bad_alloc(); })
          .Add("value",
               [] {
                 return Error(Value(Table{{"code", 7}}), "seven", "");
               })
          .Add("timeout", []() -> Result<int> { return Status::kTimeout; })
          .Add("misuse", []() -> Result<int> { return Error(Status::kMisuse, "not like this"); })
          .Add("fine", []() -> Result<int> { return 5; })
          .Add("nothing", []() -> Result<void> { return {}; })));
  CHECK(RunLua(runtime, R"lua(
    local f = require "f"
    local function fails(name, what)
      local ok, text = pcall(function() return (f[name]()) end)
      assert(not ok and text:find("^[^:]+:4: ") and text:find(what, 1, true), text)
    end
    fails("throws", "thrown")
    fails("odd", "no std::exception")
    fails("memory", "memory")
    fails("misuse", "not like this")
    local ok, error = pcall(f.value)
    assert(not ok and error.code == 7)
    local n, word = f.timeout()
    assert(n == nil and word == "timeout")
    assert(f.fine() == 5 and select("#", f.nothing()) == 0)
    return "done")lua") == "done");
}

TEST_CASE("functions are called by many processes at once") {
  Runtime runtime({.workers = 4});
  std::atomic<std::int64_t> sum{0};
  REQUIRE(runtime.AddModule(Module("f").Add("add", [&sum](std::int64_t x) { sum += x; })));
  CHECK(RunLua(runtime, R"lua(
    local shoal = require "shoal"
    local all = {}
    for i = 1, 20 do
      all[i] = shoal.spawn(function() local f = require "f" for x = 1, 100 do f.add(x) end end)
    end
    for i = 1, 20 do assert(all[i]:join()) end
    return "done")lua") == "done");
  CHECK(sum.load() == 20 * 5050);
}

TEST_CASE("functions get and return what means something in Lua only, and channels") {
  Runtime runtime({.workers = 2});
  Value kept;
  REQUIRE(runtime.AddModule(Module("f")
                                .Add("keep", [&kept](Value value) { kept = std::move(value); })
                                .Add("kept", [&kept] { return kept; })));
  CHECK(RunLua(runtime, R"lua(
    local f = require "f"
    local shoal = require "shoal"
    f.keep(function(x) return x + 1 end)
    assert(f.kept()(1) == 2)
    f.keep(string.rep)
    assert(f.kept() == string.rep)
    local ch = shoal.channel()
    f.keep(ch)
    assert(f.kept() == ch)
    f.keep({ ch, { ch } })
    assert(f.kept()[2][1] == ch)
    f.keep(nil)
    return "done")lua") == "done");
}

}  // namespace
