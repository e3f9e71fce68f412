// SPDX-License-Identifier: MIT
// The rows of the table; README.md says what each of them means.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tests/bench/forked.h"
#include "tests/bench/handover.h"
#include "tests/bench/latency.h"
#include "tests/bench/limits.h"
#include "tests/bench/row.h"
#include "tests/bench/scripts.h"

namespace shoal::bench {

namespace {

constexpr int kPairs = 8;

// How many operations take about 50 ms.
constexpr long kSpawns = 1000;
constexpr long kTrips = 100000;
constexpr long kTripsApart = 20000;
constexpr long kTripsOfPair = 20000;
constexpr long kMessages = 200000;
constexpr long kTables = 40000;
constexpr long kLaps = 300;
constexpr long kStates = 1000;
constexpr long kHeavyItems = 1000;
constexpr long kLightItems = 500000;
constexpr long kCalls = 50000;
constexpr double kSecondsOfHandover = 0.05;
// The pauses between them take a second.
constexpr long kLatencies = 100;

// What `percent` of 100 messages to a process beside a busy loop take. The limit is of the same
// measurement.
Row LatencyRow(const std::string& name, const std::shared_ptr<SharedLatencies>& latencies,
               int percent) {
  using Of = SharedLatencies::Of;
  const auto ours = [latencies, percent] { return latencies->Percentile(Of::kMessages, percent); };
  const auto limit = [latencies, percent] {
    return kLongestSlice + latencies->Percentile(Of::kWakeUps, percent);
  };
  return {name, Unit::kNanoseconds, Time::kClock, ours, limit};
}

Row WithGoal(Row row, double at_most, const std::string& note) {
  row.goal = Goal::kAtMost;
  row.goal_ratio = at_most;
  row.note = note;
  return row;
}

}  // namespace

std::vector<Row> AllRows(double scale) {
  const auto sized = [scale](long count) {
    return std::max(100L, std::lround(static_cast<double>(count) * scale));
  };
  const double handover = kSecondsOfHandover * scale;
  const Setting trips{.count = sized(kTrips)};
  const Setting apart{.workers = 2, .count = sized(kTripsApart)};
  const Setting timed{.count = sized(kTrips), .timeout = "10"};
  // Eight pairs on one worker, on two, and half of them for each of two processes of the system.
  const Setting one{.workers = 1, .count = sized(kTripsOfPair), .pairs = kPairs};
  const Setting two{.workers = 2, .count = sized(kTripsOfPair), .pairs = kPairs};
  const Setting half{.workers = 1, .count = sized(kTripsOfPair), .pairs = kPairs / 2};
  const Setting states{.count = sized(kStates)};
  const auto latencies = std::make_shared<SharedLatencies>(
      std::max(10L, std::lround(static_cast<double>(kLatencies) * scale)));
  constexpr Unit kUnit = Unit::kNanoseconds;
  constexpr Time kComputing = Time::kComputing;
  constexpr Time kClock = Time::kClock;
  return {
      {"spawn + run + exit", kUnit, kComputing,
       [=] { return SpawnRunExit({.count = sized(kSpawns)}); },
       [=] { return LimitSpawn(sized(kSpawns)); }, Goal::kAtMost, 0.04},
      {"lanes: gen()() + join", kUnit, kComputing,
       [=] { return StartAndJoin({.count = sized(kSpawns)}); },
       [=] { return LimitSpawn(sized(kSpawns)); }},
      {"ping-pong, 1 worker", kUnit, kComputing, [=] { return PingPong(trips); },
       [=] { return LimitPingPong(sized(kTrips)); }, Goal::kAtMost, 2},
      {"ping-pong, 2 workers (spinning)", kUnit, kClock, [=] { return PingPong(apart); },
       [=] { return LimitSpinning(handover); }, Goal::kAtMost, 2.5},
      {"ping-pong, 2 workers (parking)", kUnit, kClock, [=] { return PingPong(apart); },
       [=] { return LimitParking(handover); }, Goal::kAtMost, 1.5},
      {"one-way int, a message", kUnit, kComputing,
       [=] { return OneWayInt({.count = sized(kMessages)}); },
       [=] { return LimitResume(sized(kMessages)); }, Goal::kAtMost, 3},
      {"one-way table of 10 fields", kUnit, kComputing,
       [=] { return OneWayTable({.count = sized(kTables)}); },
       [=] { return LimitTable(sized(kTables)); }, Goal::kAtMost, 1.8},
      {"ring of 503, a hop", kUnit, kComputing,
       [=] { return Ring({.count = std::max(2L, std::lround(kLaps * scale))}); },
       [=] { return LimitPingPong(sized(kTrips)) / 2; }, Goal::kAtMost, 1.8},
      {"8 pairs, 2 workers : 1 worker", Unit::kPerSecond, kClock, [=] { return PairsRate(two); },
       [=] { return PairsRate(one); }, Goal::kAtLeast, 1.6},
      {"8 pairs, 2 workers : 2 OS processes", Unit::kPerSecond, kClock,
       [=] { return PairsRate(two); },
       [=] { return SumOfForked(2, [=] { return PairsRate(half); }); }, Goal::kAtLeast, 0.9},
      {"memory of a waiting process", Unit::kBytes, kComputing,
       [=] { return SumOfForked(1, [=] { return WaitingBytes(states); }); },
       [=] { return SumOfForked(1, [=] { return LimitStateBytes(states.count); }); }, Goal::kAtMost,
       1.6},
      {"ping-pong, timeout armed : without", kUnit, kComputing, [=] { return PingPong(timed); },
       [=] { return PingPong(trips); }, Goal::kAtMost, 1.3},
      {"map that computes, 2 workers : 2 OS processes", Unit::kPerSecond, kClock,
       [=] { return HeavyMapRate({.workers = 2, .count = sized(kHeavyItems)}); },
       [=] { return SumOfForked(2, [=] { return LimitHeavyRate(sized(kHeavyItems) / 2); }); },
       Goal::kAtLeast, 0.95},
      {"map, an item", kUnit, kComputing, [=] { return LightMap({.count = sized(kLightItems)}); },
       [=] { return LimitItem(sized(kLightItems)); }},
      {"pool call", kUnit, kComputing, [=] { return PoolCall({.count = sized(kCalls)}); },
       [=] { return LimitPingPong(sized(kTrips)); }},
      LatencyRow("message beside a busy loop, p50", latencies, 50),
      WithGoal(LatencyRow("message beside a busy loop, p99", latencies, 99), 1,
               "beside a busy loop: one worker, whose other process runs `while true do end`; the "
               "limit is 12.5 ms\n  (a slice and a tick), and the p50 or p99 of how late a thread "
               "wakes up that sleeps as the tick thread does"),
  };
}

}  // namespace shoal::bench
