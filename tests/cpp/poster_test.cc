// SPDX-License-Identifier: MIT
// Posters: threads that must never wait.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using shoal::Channel;
using shoal::Poster;
using shoal::Process;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // matters only if a test fails

struct Fixture {
  Runtime runtime{{.workers = 2}};
  Channel ch = runtime.NewChannel();
};

TEST_CASE_METHOD(Fixture, "what is posted arrives, though all workers sleep") {
  Poster poster(ch, "key");
  REQUIRE(poster.error().status() == Status::kOk);
  for (int i = 0; i < 200; ++i) {
    poster.Post(i, 0.5, "short");
    REQUIRE(*ch.Receive("key", kLong) == Values{i, 0.5, "short"});
  }
  poster.Post(Table{{"x", std::string(1000, 'y')}}, ch);
  const Result<Values> got = ch.Receive("key", kLong);
  REQUIRE(got);
  CHECK(got->get<Channel>(1) == ch);
  CHECK(poster.lost() == 0);
}

TEST_CASE_METHOD(Fixture, "what is posted arrives beside a busy loop") {
  const Process busy = runtime.Spawn("local ch = ... ch:send('ready', 1) while true do end", {ch});
  const Process busy_too =
      runtime.Spawn("local ch = ... ch:send('ready', 1) while true do end", {ch});
  REQUIRE(ch.Receive("ready", kLong));
  REQUIRE(ch.Receive("ready", kLong));
  Poster poster(ch, "key");
  poster.Post(1);
  CHECK(ch.Receive("key", kLong));
}

TEST_CASE_METHOD(Fixture, "posts take no notice of the limit, and of how many places there are") {
  REQUIRE(ch.SetLimit("key", 1));
  Poster poster(ch, "key", 2);
  constexpr int kPosts = 5000;
  for (int i = 0; i < kPosts; ++i) poster.Post(i);
  for (int i = 0; i < kPosts; ++i) {
    const Result<Values> got = ch.Receive("key", kLong);
    REQUIRE(got);
    REQUIRE(got->get<int>(0) == i);
  }
  CHECK(poster.lost() == 0);
}

TEST_CASE_METHOD(Fixture, "each of several posters keeps its order") {
  constexpr int kPosters = 3;
  constexpr int kPosts = 3000;
  std::vector<std::thread> threads;
  for (int p = 0; p < kPosters; ++p) {
    threads.emplace_back([this, p] {
      Poster poster(ch, "key", 8);
      for (int i = 0; i < kPosts; ++i) poster.Post(p, i);
      // Dropped while some are on their way.
    });
  }
  std::vector<int> next(kPosters, 0);
  bool in_order = true;
  for (int i = 0; i < kPosters * kPosts && in_order; ++i) {
    const Result<Values> got = ch.Receive("key", kLong);
    in_order = got && got->get<int>(1) == next[got->get<std::size_t>(0).value_or(0)]++;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_order);
}

TEST_CASE_METHOD(Fixture, "a process waits for what is posted") {
  const Process process = runtime.Spawn(
      "local ch = ... local sum = 0 for i = 1, 1000 do sum = sum + ch:receive('key') end return "
      "sum",
      {ch});
  Poster poster(ch, "key");
  for (int i = 1; i <= 1000; ++i) poster.Post(i);
  CHECK(*process.Join(kLong) == Values{500'500});
}

TEST_CASE_METHOD(Fixture, "what cannot be posted is counted") {
  Poster poster(ch, "key");
  poster.Post(nullptr);
  poster.Post();
  Runtime other({.workers = 1});
  poster.Post(other.NewChannel());
  CHECK(poster.lost() == 3);
  REQUIRE(ch.Close("key"));
  poster.Post(1);
  // It is lost on the way: later, on another thread.
  while (poster.lost() < 4) std::this_thread::yield();
  CHECK(*ch.Count("key") == 0);
}

TEST_CASE_METHOD(Fixture, "a poster of nothing says why") {
  CHECK(Poster(Channel(), "key").error().status() == Status::kMisuse);
  CHECK(Poster(ch, ch).error().status() == Status::kMisuse);
  CHECK(Poster(ch, shoal::Value(1.5)).error().status() == Status::kMisuse);
  Poster none;
  none.Post(1);
  CHECK(none.lost() == 0);
  Poster moved(ch, 1);
  none = std::move(moved);
  none.Post(2);
  CHECK(*ch.Receive(1, kLong) == Values{2});
}

TEST_CASE("a runtime ends while threads post") {
  for (int round = 0; round < 30; ++round) {
    std::optional<Runtime> runtime(std::in_place, shoal::Options{.workers = 1});
    const Channel ch = runtime->NewChannel();
    std::atomic<int> posted{0};
    std::atomic<bool> ended{false};
    std::thread thread([&] {
      Poster poster(ch, "key", 4);
      while (!ended) {
        poster.Post(1, std::string(200, 'x'));
        poster.Post(2);
        ++posted;
      }
    });
    while (posted < 20) std::this_thread::yield();
    runtime.reset();
    ended = true;
    thread.join();
  }
}

}  // namespace
