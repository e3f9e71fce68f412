// SPDX-License-Identifier: MIT
// The rows of what is sent or done in great number or size.
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "tests/bench/contender.h"
#include "tests/bench/copies.h"
#include "tests/bench/limits.h"
#include "tests/bench/row.h"
#include "tests/bench/scripts.h"
#include "tests/bench/stopwatch.h"

namespace shoal::bench {

namespace {

constexpr long kMegabyte = 1 << 20;

// One copy of a megabyte, whose source and target are in the caches as those of messages are.
double LimitMemcpy(long count) {
  std::vector<char> from(kMegabyte, 'x');
  std::vector<char> to(kMegabyte);
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    from[static_cast<std::size_t>(i % kMegabyte)] = 'y';
    std::memcpy(to.data(), from.data(), from.size());
    // The compiler must not see that nobody reads it.
    asm volatile("" : : "r"(to.data()) : "memory");
  }
  return watch.computed() / static_cast<double>(count);
}

// By the clock: a program that runs an empty chunk, from its start to its end.
double StartOf(const std::string& program, long count) {
  std::string name = program;
  std::string option = "-e";
  std::string nothing;
  char* const arguments[] = {name.data(), option.data(), nothing.data(), nullptr};
  const Stopwatch watch;
  for (long i = 0; i < count; ++i) {
    pid_t child = 0;
    SHOAL_CHECK(posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0);
    int status = -1;
    SHOAL_CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  return watch.wall() / static_cast<double>(count);
}

}  // namespace

std::vector<Row> BulkRows(double scale) {
  const auto sized = [scale](long count) {
    return std::max(128L, std::lround(static_cast<double>(count) * scale));
  };
  const auto few = [scale](long count) {
    return std::max(5L, std::lround(static_cast<double>(count) * scale));
  };
  const long messages = sized(200000);
  const long trips = sized(100000);
  const long calls = sized(50000);
  constexpr Unit kUnit = Unit::kNanoseconds;
  constexpr Time kComputing = Time::kComputing;
  const Setting one{.count = messages};
  const Setting many{.count = messages, .pairs = 50};
  return {
      {"spawn + run + exit : copy + load + run", kUnit, kComputing,
       [=] { return SpawnRunExit({.count = sized(5000)}); }, [=] { return LimitCopy(sized(5000)); },
       Goal::kAtMost, 1.6},
      {"one-way int : half a ping-pong", kUnit, kComputing, [=] { return OneWayInt(one); },
       [=] { return LimitPingPong(trips) / 2; }, Goal::kAtMost, 1.5},
      {"one-way int in batches of 64 : half a ping-pong", kUnit, kComputing,
       [=] { return OneWayBatch(one); }, [=] { return LimitPingPong(trips) / 2; }, Goal::kAtMost,
       0.4},
      {"one-way megabyte : memcpy", kUnit, kComputing,
       [=] { return OneWayLarge({.count = few(200)}, "megabyte"); },
       [=] { return LimitMemcpy(few(200)); }, Goal::kAtMost, 3},
      {"one-way megabyte in a buffer : int", kUnit, kComputing,
       [=] { return OneWayLarge({.count = messages}, "shoal.buffer(megabyte)"); },
       [=] { return OneWayLarge({.count = messages}, "503"); }, Goal::kAtMost, 2},
      {"fan-in, 50 senders : 1", Unit::kPerSecond, kComputing, [=] { return FanInRate(many); },
       [=] { return FanInRate(one); }, Goal::kAtLeast, 0.8},
      {"pool call, 64 processes : 2", kUnit, kComputing,
       [=] { return PoolCall({.count = calls, .pairs = 64}); },
       [=] { return PoolCall({.count = calls, .pairs = 2}); }, Goal::kAtMost, 1},
      {"shoal -e '' : 1.5 of lua5.4 + 1 ms", kUnit, Time::kClock,
       [=] { return StartOf(ShoalProgram(), few(20)); },
       [=] { return 1.5 * StartOf("lua5.4", few(20)) + 1e6; }, Goal::kAtMost, 1},
  };
}

}  // namespace shoal::bench
