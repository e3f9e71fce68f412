// SPDX-License-Identifier: MIT
// The rows of calls that must never wait: Poster::Post and Channel::TrySend on a thread of the
// program.
#include <linux/futex.h>
#include <shoal/shoal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/row.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

// Fewer than a Poster has places, so no memory is asked for.
constexpr long kBurst = 50;
constexpr long kBursts = 2000;
constexpr long kWakes = 300;
constexpr long kLone = 5000;
// The goal of a Post is so many times a lock and unlock.
constexpr double kLocks = 4;

// A runtime without threads of its own, in which a channel takes messages.
struct Engine {
  Engine() { Drain(); }
  // What is on its way arrives, and goes.
  void Drain() {
    static_cast<void>(runtime.RunFor(std::chrono::seconds(1)));
    static_cast<void>(channel.Set("key"));
  }

  Runtime runtime{Options{.workers = 0}};
  const Channel channel = runtime.OpenChannel("bench");
  Poster poster{channel, "key"};
};

// Nanoseconds of one Post, of bursts in which nobody sleeps who would have to be woken.
double PostTime(long bursts) {
  Engine engine;
  double time = 0;
  for (long i = 0; i < bursts; ++i) {
    const Stopwatch watch;
    for (long k = 0; k < kBurst; ++k) engine.poster.Post(k);
    time += watch.computed();
    engine.Drain();
  }
  return time / static_cast<double>(bursts * kBurst);
}

double LockTime(long count) {
  std::mutex mutex;
  std::atomic<long> inside{0};
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    const std::lock_guard<std::mutex> lock(mutex);
    inside.store(i, std::memory_order_relaxed);
  }
  return watch.computed() / static_cast<double>(count);
}

// The longest of `count` calls, in nanoseconds of the clock, each with a pause behind it.
template <class Call>
double LongestOf(long count, const Call& call) {
  double longest = 0;
  for (long i = 0; i < count; ++i) {
    const Stopwatch watch;
    call(i);
    longest = std::max(longest, watch.wall());
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return longest;
}

// A process receives the messages, and computes for a while after each.
struct Listener {
  Runtime runtime{Options{.workers = 1}};
  const Channel channel = runtime.OpenChannel("bench");
  const Process process = runtime.Spawn(R"lua(
    local channel = require("shoal").channel("bench")
    for n in channel:each("key") do
      for i = 1, 500 do n = n + i end
      channel:set("heard", n)
    end
  )lua");
  ~Listener() {
    static_cast<void>(channel.Close());
    static_cast<void>(process.Join());
  }
};

double LongestPost(long count) {
  Listener listener;
  Poster poster(listener.channel, "key");
  return LongestOf(count, [&](long i) { poster.Post(i); });
}

double LongestTrySend(long count) {
  Listener listener;
  return LongestOf(count, [&](long i) { static_cast<void>(listener.channel.TrySend("key", i)); });
}

double LongestLock(long count) {
  std::mutex mutex;
  return LongestOf(count, [&](long) { const std::lock_guard<std::mutex> lock(mutex); });
}

// Nanoseconds that the thread computes for one Post that finds all asleep.
double WakingPost(long count) {
  Listener listener;
  Poster poster(listener.channel, "key");
  double time = 0;
  for (long i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Stopwatch watch;
    poster.Post(i);
    time += watch.computed();
  }
  return time / static_cast<double>(count);
}

// The same for a FUTEX_WAKE of a thread that sleeps, and the locks.
double WakingLimit(long count) {
  std::atomic<std::uint32_t> word{0};
  const auto futex = [&](int operation, std::uint32_t value) {
    syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  };
  std::atomic<bool> stop{false};
  std::thread sleeper([&] {
    while (!stop.load()) futex(FUTEX_WAIT, word.load());
  });
  double time = 0;
  for (long i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Stopwatch watch;
    word.fetch_add(1);
    futex(FUTEX_WAKE, 1);
    time += watch.computed();
  }
  stop.store(true);
  word.fetch_add(1);
  futex(FUTEX_WAKE, 1);
  sleeper.join();
  return time / static_cast<double>(count) + kLocks * LockTime(kBurst * kBursts);
}

}  // namespace

std::vector<Row> PostRows(double scale) {
  const auto sized = [scale](long count) {
    return std::max(10L, std::lround(static_cast<double>(count) * scale));
  };
  return {
      {"Post, nobody to be woken", Unit::kNanoseconds, Time::kComputing,
       [=] { return PostTime(sized(kBursts)); }, [=] { return LockTime(kBurst * sized(kBursts)); },
       Goal::kAtMost, kLocks},
      {"Post that wakes : 4 locks + FUTEX_WAKE", Unit::kNanoseconds, Time::kComputing,
       [=] { return WakingPost(sized(kWakes)); }, [=] { return WakingLimit(sized(kWakes)); },
       Goal::kAtMost, 1},
      {"Post, the longest of 5000 : a lock", Unit::kNanoseconds, Time::kClock,
       [=] { return LongestPost(sized(kLone)); }, [=] { return LongestLock(sized(kLone)); }},
      {"TrySend, the longest of 5000 : a lock", Unit::kNanoseconds, Time::kClock,
       [=] { return LongestTrySend(sized(kLone)); }, [=] { return LongestLock(sized(kLone)); }},
  };
}

}  // namespace shoal::bench
