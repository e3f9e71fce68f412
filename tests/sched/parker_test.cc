// SPDX-License-Identifier: MIT
#include "runtime/sched/parker.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/sched/fixture.h"

namespace shoal::core {
namespace {

TimePoint Now() { return std::chrono::steady_clock::now(); }

TEST_CASE("an unpark that comes first is not lost, and counts once") {
  Parker parker;
  parker.Unpark();
  parker.Unpark();
  CHECK(parker.Park());
  CHECK_FALSE(parker.Park(Now() + std::chrono::milliseconds(1)));
}

TEST_CASE("a park ends at its deadline, not before") {
  Parker parker;
  const TimePoint deadline = Now() + std::chrono::milliseconds(5);
  CHECK_FALSE(parker.Park(deadline));
  CHECK(Now() >= deadline);
  CHECK_FALSE(parker.Park(Now() - std::chrono::seconds(1)));
  CHECK_FALSE(parker.Park(TimePoint::min()));
}

TEST_CASE("a token that is there wins over a deadline that has passed") {
  Parker parker;
  parker.Unpark();
  CHECK(parker.Park(Now() - std::chrono::seconds(1)));
}

TEST_CASE("a wake-up may be sent when the parker is gone") {
  auto parker = std::make_unique<Parker>();
  std::atomic<bool> woken{false};
  std::thread sleeper([&] { woken = parker->Park(); });
  Wakeup wakeup = parker->Post();
  wakeup.Send();
  sleeper.join();
  parker.reset();
  wakeup.Send();
  CHECK(woken);
}

TEST_CASE("two threads that unpark each other in turn never both sleep") {
  constexpr int kRounds = Times(50'000);
  const Shaken shaken(1);
  Parker ping;
  Parker pong;
  int turns = 0;  // handed to and fro with the tokens
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ping.Park();
      ++turns;
      pong.Unpark();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ++turns;
    ping.Unpark();
    pong.Park();
  }
  other.join();
  CHECK(turns == 2 * kRounds);
}

TEST_CASE("a token that comes at the deadline is taken then or later, never lost") {
  constexpr int kRounds = Times(2'000);
  const Shaken shaken(2);
  Parker parker;
  std::atomic<int> sent{0};
  std::atomic<int> taken{0};
  std::thread sleeper([&] {
    while (taken.load() < kRounds) {
      if (parker.Park(Now() + std::chrono::microseconds(20))) taken.fetch_add(1);
    }
  });
  bool ok = true;
  for (int i = 0; i < kRounds; ++i) {
    sent.fetch_add(1);
    parker.Unpark();
    ok = ok && Eventually([&] { return taken.load() == i + 1; });
  }
  sleeper.join();
  CHECK(ok);
}

}  // namespace
}  // namespace shoal::core
