// SPDX-License-Identifier: MIT
#include "runtime/base/futex.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace shoal::core;
using namespace std::chrono_literals;

TEST_CASE("a futex wait returns at once when the word has changed") {
  const std::atomic<std::uint32_t> word{1};
  FutexWait(word, 0);
  SUCCEED("it returned");
}

TEST_CASE("a futex wait ends at its deadline, not before") {
  const std::atomic<std::uint32_t> word{0};
  const TimePoint deadline = SteadyClock().Now() + 20ms;
  // It may return for no reason: then before the deadline.
  while (SteadyClock().Now() < deadline) FutexWait(word, 0, deadline);
  REQUIRE(SteadyClock().Now() >= deadline);
}

TEST_CASE("a deadline in the past does not wait") {
  const std::atomic<std::uint32_t> word{0};
  FutexWait(word, 0, SteadyClock().Now() - 1s);
  SUCCEED("it returned");
}

TEST_CASE("a wake ends a wait of another thread") {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&] {
    while (word.load() == 0) FutexWait(word, 0);
  });
  word.store(1);
  FutexWake(word, 1);
  sleeper.join();
  SUCCEED("the sleeper ended");
}
