// SPDX-License-Identifier: MIT
#include "runtime/driver/timer_wheel.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"

namespace shoal::core {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart(std::chrono::seconds(1000));

class Timer final : public TimerNode {
 public:
  bool OnDue() override {
    due.fetch_add(1);
    return !refuse;
  }
  // The last step is `fired`: an owner that waits for it may then free the timer.
  void Fire() override {
    if (on_fire) on_fire();
    fired.fetch_add(1);
  }
  bool refuse = false;
  std::function<void()> on_fire;
  std::atomic<int> due{0};
  std::atomic<int> fired{0};
};

TEST_CASE("a timer fires at the first millisecond that is not before its deadline") {
  TimerWheel wheel(kStart);
  Timer exact, between;
  wheel.Arm(exact, kStart + milliseconds(5));
  wheel.Arm(between, kStart + microseconds(5001));
  CHECK(wheel.armed() == 2);
  CHECK(wheel.NextDeadline() == kStart + milliseconds(5));
  CHECK(wheel.Advance(kStart + microseconds(4999)) == 0);
  CHECK(wheel.Advance(kStart + milliseconds(5)) == 1);
  CHECK(exact.fired == 1);
  CHECK(wheel.NextDeadline() == kStart + milliseconds(6));
  CHECK(wheel.Advance(kStart + microseconds(5999)) == 0);
  CHECK(wheel.Advance(kStart + milliseconds(6)) == 1);
  CHECK(between.fired == 1);
  CHECK(wheel.armed() == 0);
  CHECK(wheel.NextDeadline() == kNever);
}

TEST_CASE("a deadline that has passed is due within a millisecond") {
  TimerWheel wheel(kStart);
  wheel.Advance(kStart + seconds(7));
  Timer timer;
  wheel.Arm(timer, kStart);
  CHECK(wheel.NextDeadline() <= kStart + seconds(7) + milliseconds(1));
  CHECK(wheel.Advance(kStart + seconds(7) + milliseconds(1)) == 1);
}

TEST_CASE("a deadline of never arms nothing") {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Arm(timer, kNever);
  CHECK(wheel.armed() == 0);
  TimerWheel::Disarm(timer);
  CHECK(wheel.NextDeadline() == kNever);
}

TEST_CASE("a timer that was disarmed does not fire, and may be armed again") {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Arm(timer, kStart + milliseconds(3));
  TimerWheel::Disarm(timer);
  TimerWheel::Disarm(timer);
  CHECK(wheel.armed() == 0);
  CHECK(wheel.NextDeadline() == kNever);
  CHECK(wheel.Advance(kStart + seconds(1)) == 0);
  wheel.Arm(timer, kStart + seconds(2));
  CHECK(wheel.Advance(kStart + seconds(2)) == 1);
  CHECK(timer.due == 1);
  TimerWheel::Disarm(timer);
}

TEST_CASE("a timer whose deadline does not count any more is dropped") {
  TimerWheel wheel(kStart);
  Timer timer;
  timer.refuse = true;
  wheel.Arm(timer, kStart + milliseconds(3));
  CHECK(wheel.Advance(kStart + milliseconds(3)) == 0);
  CHECK(timer.due == 1);
  CHECK(timer.fired == 0);
  CHECK(wheel.armed() == 0);
}

TEST_CASE("a timer may be armed again while it fires, and counts as armed until it has fired") {
  TimerWheel wheel(kStart);
  Timer timer;
  std::int64_t armed = 0;
  timer.on_fire = [&] {
    armed = wheel.armed();
    if (timer.fired < 4) wheel.Arm(timer, kStart);
  };
  wheel.Arm(timer, kStart + milliseconds(1));
  for (int i = 1; i <= 10; ++i) wheel.Advance(kStart + milliseconds(i));
  CHECK(timer.fired == 5);
  CHECK(armed == 1);
  CHECK(wheel.armed() == 0);
}

TEST_CASE("far deadlines are kept: hours, years, and the end of time") {
  TimerWheel wheel(kStart);
  Timer hour, year, decade, end;
  wheel.Arm(hour, kStart + hours(1));
  wheel.Arm(year, kStart + hours(24 * 365));
  wheel.Arm(decade, kStart + hours(24 * 365 * 10));
  wheel.Arm(end, kNever - Duration(1));
  // Whoever sleeps until NextDeadline and advances comes to each in a few steps.
  TimePoint now = kStart;
  int steps = 0;
  const auto run_until = [&](const Timer& timer) {
    while (timer.fired == 0) {
      REQUIRE(wheel.NextDeadline() > now);
      now = wheel.NextDeadline();
      wheel.Advance(now);
      REQUIRE(++steps < 50);
    }
  };
  run_until(hour);
  CHECK(now == kStart + hours(1));
  run_until(year);
  CHECK(now == kStart + hours(24 * 365));
  run_until(decade);
  CHECK(now == kStart + hours(24 * 365 * 10));
  CHECK(end.fired == 0);
  TimerWheel::Disarm(end);
}

TEST_CASE("the wheel does what a sorted map does, for random arms, disarms and times") {
  const std::uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < Times(60); ++round) {
    TimerWheel wheel(kStart);
    TimePoint now = kStart;
    std::deque<Timer> timers(200);
    std::vector<int> fired(timers.size(), 0);
    using Model = std::multimap<TimePoint, std::size_t>;
    Model model;
    std::vector<Model::iterator> armed(timers.size(), model.end());
    for (int step = 0; step < 400; ++step) {
      const std::size_t i = below(timers.size());
      if (below(10) < 6) {
        // Re-arm, at a distance of any order of magnitude.
        TimerWheel::Disarm(timers[i]);
        if (armed[i] != model.end()) model.erase(armed[i]);
        const auto distance = Duration(static_cast<Duration::rep>(random() >> (12 + below(50))));
        const TimePoint deadline = DeadlineAfter(now, distance);
        wheel.Arm(timers[i], deadline);
        armed[i] = model.emplace(deadline, i);
      } else if (below(10) < 5) {
        TimerWheel::Disarm(timers[i]);
        if (armed[i] != model.end()) model.erase(armed[i]);
        armed[i] = model.end();
      } else {
        const TimePoint before = now;
        const int choice = static_cast<int>(below(3));
        if (choice == 0) now += Duration(static_cast<Duration::rep>(below(3'000'000)));
        if (choice == 1) now += Duration(static_cast<Duration::rep>(random() >> (22 + below(40))));
        if (choice == 2 && wheel.NextDeadline() != kNever) {
          now = std::max(now, wheel.NextDeadline());
        }
        wheel.Advance(now);
        // All that are due by the last whole millisecond have fired, and no others.
        const TimePoint millisecond = std::chrono::floor<milliseconds>(now);
        while (!model.empty() && model.begin()->first <= millisecond) {
          const std::size_t due = model.begin()->second;
          // One that had passed when it was armed comes with the next millisecond.
          if (timers[due].fired == fired[due]) {
            REQUIRE(millisecond <= std::chrono::floor<milliseconds>(before));
            break;
          }
          fired[due] = timers[due].fired;
          model.erase(model.begin());
          armed[due] = model.end();
        }
      }
      for (std::size_t k = 0; k < timers.size(); ++k) REQUIRE(timers[k].fired == fired[k]);
      REQUIRE(wheel.armed() == static_cast<std::int64_t>(model.size()));
      if (model.empty()) continue;
      // A lower bound of what comes first, to the millisecond.
      const TimePoint first = std::max(model.begin()->first, now);
      REQUIRE(wheel.NextDeadline() <= first + milliseconds(1));
    }
    for (Timer& timer : timers) TimerWheel::Disarm(timer);
  }
}

TEST_CASE("a timer that was disarmed may be freed, while others advance the wheel") {
  TimerWheel wheel(kStart);
  std::atomic<Duration::rep> time{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> advancers;
  advancers.reserve(2);
  for (int i = 0; i < 2; ++i) {
    advancers.emplace_back([&] {
      while (!stop) wheel.Advance(kStart + Duration(time.fetch_add(200'000)));
    });
  }
  int lost = 0;
  int fired = 0;
  // Also until one was fired, for which two threads must run at the same time.
  const auto late = std::chrono::steady_clock::now() + seconds(60);
  const auto more = [&] { return fired == 0 && std::chrono::steady_clock::now() < late; };
  for (int i = 0; i < Times(20'000) || more(); ++i) {
    auto timer = std::make_unique<Timer>();
    wheel.Arm(*timer, kStart + Duration(time.load()) + milliseconds(i % 4));
    for (int k = 0; k < i % 300; ++k) __builtin_ia32_pause();
    TimerWheel::Disarm(*timer);
    if (timer->due == 0) continue;
    // OnDue was true, so Fire comes; the owner waits for it.
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (timer->fired == 0 && std::chrono::steady_clock::now() < end) {
    }
    lost += timer->fired != 1;
    ++fired;
  }
  stop = true;
  for (std::thread& advancer : advancers) advancer.join();
  CHECK(lost == 0);
  CHECK(fired > 0);
  CHECK(wheel.armed() == 0);
}

}  // namespace
}  // namespace shoal::core
