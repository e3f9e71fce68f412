// SPDX-License-Identifier: MIT
#include "tests/bench/handover.h"

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "runtime/base/clock.h"
#include "runtime/base/futex.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

enum class Waiting { kSpin, kPark };

// How often to look before the processor is left to others, in case there is only one.
constexpr int kLooks = 10000;
constexpr std::uint32_t kEnd = UINT32_MAX;

// What stands in the word once it is no longer `old`.
template <Waiting kHow>
std::uint32_t Await(std::atomic<std::uint32_t>& word, std::uint32_t old) {
  int looks = 0;
  std::uint32_t value;
  // acquire: what the other thread did before it told.
  while ((value = word.load(std::memory_order_acquire)) == old) {
    if (kHow == Waiting::kPark) {
      core::FutexWait(word, old, core::kNever);
    } else if (++looks >= kLooks) {
      sched_yield();
      looks = 0;
    } else {
      __builtin_ia32_pause();
    }
  }
  return value;
}

template <Waiting kHow>
void Tell(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  if (kHow == Waiting::kPark) core::FutexWake(word, 1);
}

template <Waiting kHow>
double Measure(double seconds) {
  alignas(64) std::atomic<std::uint32_t> ping{0};
  alignas(64) std::atomic<std::uint32_t> pong{0};
  std::thread other([&] {
    for (std::uint32_t seen = 0; (seen = Await<kHow>(ping, seen)) != kEnd;) Tell<kHow>(pong, seen);
  });
  std::uint32_t trips = 0;
  const Stopwatch watch;
  double time = 0;
  do {
    ++trips;
    Tell<kHow>(ping, trips);
    Await<kHow>(pong, trips - 1);
    if (trips % 64 == 0) time = watch.wall();
  } while (time < seconds * 1e9);
  Tell<kHow>(ping, kEnd);
  other.join();
  return time / trips;
}

}  // namespace

double LimitSpinning(double seconds) { return Measure<Waiting::kSpin>(seconds); }
double LimitParking(double seconds) { return Measure<Waiting::kPark>(seconds); }

}  // namespace shoal::bench
