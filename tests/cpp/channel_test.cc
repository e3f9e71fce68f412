// SPDX-License-Identifier: MIT
// Channels as C++ programs use them.
#include <shoal/shoal.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using shoal::Channel;
using shoal::KeyedValues;
using shoal::kForever;
using shoal::Options;
using shoal::Result;
using shoal::Runtime;
using shoal::Status;
using shoal::Table;
using shoal::Value;
using shoal::Values;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // matters only if a test fails

struct Fixture {
  Runtime runtime{{.workers = 2}};
  Channel ch = runtime.NewChannel();
};

TEST_CASE_METHOD(Fixture, "messages are received in their order") {
  REQUIRE(ch.Send("key", "a", 1));
  REQUIRE(ch.Send("key", Table{{"x", 1}}));
  REQUIRE(ch.Send(7, true));
  CHECK(*ch.Count("key") == 2);
  CHECK(*ch.Receive("key") == Values{"a", 1});
  CHECK(ch.Receive("key")->get<Table>(0)->get<int>("x") == 1);
  CHECK(*ch.TryReceive(7) == Values{true});
  CHECK(ch.TryReceive("key") == Status::kEmpty);
  CHECK(ch.Receive("key", 0s) == Status::kTimeout);
  CHECK(ch.Receive("key", 1ms) == Status::kTimeout);
}

TEST_CASE_METHOD(Fixture, "messages are received as the types that they have") {
  REQUIRE(ch.Send("row", 5, "five"));
  const Result<std::tuple<int, std::string>> row = ch.ReceiveAs<int, std::string>("row", kLong);
  REQUIRE(row);
  CHECK(std::get<1>(*row) == "five");
  REQUIRE(ch.Send("row", "no number"));
  CHECK(ch.ReceiveAs<int>("row", kLong) == Status::kWrongType);
  CHECK(*ch.Count("row") == 0);
}

TEST_CASE_METHOD(Fixture, "a thread waits for what another one sends") {
  std::atomic<int> sent{0};
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) sent += ch.Send("key", i) ? 1 : 0;
  });
  int expected = 0;
  for (; expected < 1000; ++expected) {
    const Result<Values> got = ch.Receive("key", kLong);
    if (!got || got->get<int>(0) != expected) break;
  }
  sender.join();
  CHECK(expected == 1000);
  CHECK(sent == 1000);
}

TEST_CASE_METHOD(Fixture, "threads and processes meet in channels") {
  const shoal::Process process = runtime.Spawn(
      "local ch = ... for i = 1, 2000 do ch:send('out', ch:receive('in') + 1) end", {ch});
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(ch.Send("in", i));
    const Result<Values> got = ch.Receive("out", kLong);
    REQUIRE(got);
    REQUIRE(got->get<int>(0) == i + 1);
  }
  CHECK(process.Join(kLong));
}

TEST_CASE_METHOD(Fixture, "a send waits at the limit, and a try does not") {
  CHECK(*ch.SetLimit("key", 1) == Options::kNoLimit);
  CHECK(*ch.Limit("key") == 1);
  REQUIRE(ch.TrySend("key", 1));
  CHECK(ch.TrySend("key", 2) == Status::kFull);
  CHECK(ch.SendFor(0s, "key", 2) == Status::kTimeout);
  CHECK(ch.SendFor(1ms, "key", 2) == Status::kTimeout);
  CHECK(*ch.Count("key") == 1);
  std::atomic<bool> sent{false};
  std::thread sender([&] { sent = ch.SendFor(kLong, "key", 2).ok(); });
  CHECK(ch.Receive("key", kLong)->get<int>(0) == 1);
  CHECK(ch.Receive("key", kLong)->get<int>(0) == 2);
  sender.join();
  CHECK(sent);
}

TEST_CASE("a limit of zero is a rendezvous") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.OpenChannel({.limit = 0});
  CHECK(ch.TrySend("key", 1) == Status::kFull);
  std::atomic<bool> sent{false};
  std::thread sender([&] { sent = ch.SendFor(kLong, "key", 1).ok(); });
  CHECK(ch.Receive("key", kLong)->get<int>(0) == 1);
  sender.join();
  CHECK(sent);
}

TEST_CASE("a send waits for room in the channel's bytes") {
  Runtime runtime({.workers = 1});
  const Channel ch = runtime.OpenChannel({.bytes = 1000});
  const std::string text(900, 'x');
  REQUIRE(ch.TrySend("a", text));
  CHECK(ch.TrySend("b", text) == Status::kFull);
  CHECK(ch.SendFor(1ms, "b", text) == Status::kTimeout);
  constexpr int kMessages = 50;
  std::vector<std::thread> senders;
  for (int s = 0; s < 3; ++s) {
    senders.emplace_back([&ch, &text, s] {
      for (int i = 0; i < kMessages; ++i) {
        // Some give up, so that reservations are given back.
        while (ch.SendFor(i % 2 == 0 ? shoal::Timeout(1ms) : shoal::Timeout(kLong), s, text) !=
               Status::kOk) {
        }
      }
    });
  }
  CHECK(ch.Receive("a", kLong));
  for (int i = 0; i < 3 * kMessages; ++i) {
    if (!ch.ReceiveAny({0, 1, 2}, kLong)) FAIL("a message was lost");
  }
  for (std::thread& sender : senders) sender.join();
  // Nothing stays reserved.
  CHECK(ch.TrySend("a", std::string(990, 'x')));
}

TEST_CASE_METHOD(Fixture, "one message is received under several keys") {
  REQUIRE(ch.Send("b", 2));
  Result<KeyedValues> got = ch.ReceiveAny({"a", "b"}, kLong);
  REQUIRE(got);
  CHECK(got->index == 1);
  CHECK(got->values == Values{2});
  CHECK(ch.ReceiveAny({"a", "b"}, 1ms) == Status::kTimeout);
  std::thread sender([this] { static_cast<void>(ch.Send("a", 3)); });
  got = ch.ReceiveAny({"a", "b"}, kLong);
  sender.join();
  REQUIRE(got);
  CHECK(got->index == 0);
  CHECK(ch.ReceiveAny({}, kLong) == Status::kMisuse);
}

TEST_CASE_METHOD(Fixture, "batches go in and out whole") {
  const std::vector<Value> list{1, "two", Table{{"three", 3}}};
  REQUIRE(ch.SendBatch("key", list));
  const Result<std::vector<Values>> got = ch.ReceiveBatch("key", 2, kLong);
  REQUIRE(got);
  CHECK(got->size() == 2);
  CHECK(ch.ReceiveBatch("key", 100, kLong)->size() == 1);
  CHECK(ch.ReceiveBatch("key", 100, 1ms) == Status::kTimeout);
  CHECK(ch.ReceiveBatch("key", 0, kLong) == Status::kMisuse);
  CHECK(ch.SendBatch("key", {}));
  REQUIRE(ch.SetLimit("key", 2));
  CHECK(ch.SendBatch("key", list) == Status::kMisuse);
  const std::vector<Value> holes{1, nullptr};
  CHECK(ch.SendBatch("key", holes) == Status::kMisuse);
  CHECK(*ch.Count("key") == 0);
}

TEST_CASE_METHOD(Fixture, "a key is a variable") {
  CHECK(ch.Get("v") == Status::kEmpty);
  REQUIRE(ch.Set("v", 1, "x"));
  CHECK(*ch.Get("v") == Values{1, "x"});
  CHECK(ch.Add("v", 2) == Status::kExists);
  REQUIRE(ch.Set("v", 5));
  CHECK(*ch.Incr("v") == Value(6));
  CHECK(*ch.Incr("v", 0.5) == Value(6.5));
  CHECK(ch.Incr("v", "x") == Status::kMisuse);
  REQUIRE(ch.Set("v", "text"));
  CHECK(ch.Incr("v") == Status::kNotNumber);
  REQUIRE(ch.Set("v"));
  CHECK(*ch.Count("v") == 0);
  CHECK(ch.Add("v", 2));
  REQUIRE(ch.Send(9, true));
  const std::vector<Value> keys = *ch.Keys();
  CHECK(keys.size() == 2);
}

TEST_CASE_METHOD(Fixture, "what stands under a key has a time to live") {
  CHECK(ch.Expire("v", 1h) == Status::kNotFound);
  CHECK(ch.Ttl("v") == Status::kNotFound);
  REQUIRE(ch.Set("v", 1));
  CHECK(ch.Ttl("v") == Status::kNotFound);
  REQUIRE(ch.Expire("v", 1h));
  CHECK(*ch.Ttl("v") > 30min);
  REQUIRE(ch.Expire("v", kForever));
  CHECK(ch.Ttl("v") == Status::kNotFound);
  REQUIRE(ch.Expire("v", 0s));
  CHECK(ch.Get("v") == Status::kEmpty);
  CHECK(*ch.Incr("n", 1, 1h) == Value(1));
  CHECK(*ch.Ttl("n") > 30min);
}

TEST_CASE_METHOD(Fixture, "a closed key has what was sent before, and then nothing") {
  REQUIRE(ch.Send("key", 1));
  REQUIRE(ch.Close("key"));
  CHECK(ch.Send("key", 2) == Status::kClosed);
  CHECK(ch.Receive("key")->get<int>(0) == 1);
  CHECK(ch.Receive("key") == Status::kClosed);
  CHECK(ch.Send("other", 2));
  REQUIRE(ch.Close());
  CHECK(ch.Send("other", 2) == Status::kClosed);
  CHECK(ch.Set("other", 2) == Status::kClosed);
}

TEST_CASE_METHOD(Fixture, "a close wakes those who wait") {
  REQUIRE(ch.SetLimit("full", 1));
  REQUIRE(ch.Send("full", 1));
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  threads.emplace_back([&] { woken += ch.Receive("empty") == Status::kClosed; });
  threads.emplace_back([&] { woken += ch.Send("full", 2) == Status::kClosed; });
  threads.emplace_back([&] { woken += ch.ReceiveAny({"x", "y"}) == Status::kClosed; });
  REQUIRE(ch.Close());
  for (std::thread& thread : threads) thread.join();
  CHECK(woken == 3);
}

TEST_CASE_METHOD(Fixture, "channels have names") {
  const Channel first = runtime.OpenChannel({.name = "jobs", .limit = 3});
  const Channel second = runtime.OpenChannel("jobs");
  CHECK(first == second);
  CHECK(first.id() == second.id());
  CHECK(second.name() == "jobs");
  CHECK(ch.name().empty());
  CHECK_FALSE(ch == first);
  const Channel other = runtime.OpenChannel({.name = "jobs", .limit = 4});
  CHECK_FALSE(other);
  CHECK(other.error().status() == Status::kExists);
  CHECK(other.Send("key", 1) == Status::kExists);
}

TEST_CASE_METHOD(Fixture, "handles are values and keys") {
  REQUIRE(ch.Send("key", ch));
  CHECK(ch.Receive("key")->get<Channel>(0) == ch);
  REQUIRE(ch.Send(ch, 1));
  CHECK(ch.Keys()->at(0).get<Channel>() == ch);
  CHECK(*ch.Receive(ch) == Values{1});
  CHECK_FALSE(Value(ch).get<shoal::Process>());
}

TEST_CASE_METHOD(Fixture, "misuse says what to change") {
  const auto says = [](const auto& result, std::string_view words) {
    CHECK(result == Status::kMisuse);
    CHECK(std::string(result.error().message()).find(words) != std::string::npos);
  };
  says(ch.Send("key"), "at least one value");
  says(ch.Send("key", nullptr, 1), "must not be nil");
  says(ch.Receive("key", -1ms), "not negative");
  says(ch.Receive("key", std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
       "must be a number");
  says(ch.Send(Value(1.5), 1), "a key is");
  says(ch.Send(UINT64_MAX, 1), "a key is");
  says(ch.Send(Channel(), 1), "a key is");
  says(Channel().Send("key", 1), "no channel");
  says(Channel(runtime.Spawn("return")).Send("key", 1), "no channel");
  Runtime other({.workers = 1});
  const Channel foreign = other.NewChannel();
  says(ch.Send("key", foreign), "another runtime");
  says(ch.Send(foreign, 1), "another runtime");
  CHECK(*ch.Count("key") == 0);
}

TEST_CASE_METHOD(Fixture, "many threads send and receive") {
  constexpr int kThreads = 4;
  constexpr int kMessages = 2000;
  REQUIRE(ch.SetLimit("key", 10));
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= kMessages; ++i) {
        if (!ch.SendFor(kLong, "key", i)) return;
      }
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kMessages;) {
        // Short ones as well, so that deadlines meet messages.
        const Result<Values> got =
            ch.Receive("key", i % 3 == 0 ? shoal::Timeout(10us) : shoal::Timeout(kLong));
        if (got) sum += got->get<int>(0).value_or(0);
        if (!got && got != Status::kTimeout) return;
        i += got ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == std::int64_t{kThreads} * kMessages * (kMessages + 1) / 2);
}

}  // namespace
