// SPDX-License-Identifier: MIT
// The time from a send to its arrival at a process that shares its only worker with another one
// that runs `while true do end`, and the time that a thread wakes up too late meanwhile.
#pragma once

#include <vector>

namespace shoal::bench {

// Nanoseconds, in no order; as many of each.
struct Latencies {
  std::vector<double> messages;
  // Of a thread that sleeps as the tick thread does: behind the end of its sleep.
  std::vector<double> wake_ups;
};

// `count` messages, which a thread of the host sends at random times.
Latencies LatenciesBesideBusyLoop(long count);

// A slice and a tick: how long a busy loop may go on while others wait, if threads wake up in time.
constexpr double kLongestSlice = 12.5e6;

// Gives the figures of one measurement to several who ask: measures anew for those who have had
// theirs. Not for several threads.
class SharedLatencies {
 public:
  explicit SharedLatencies(long count) : count_(count) {}

  enum class Of { kMessages, kWakeUps };
  // The value that `percent` of 100 are not above.
  double Percentile(Of which, int percent);

 private:
  const long count_;
  Latencies measured_;
  std::vector<int> had_[2];  // the percentiles, for each of Of
};

}  // namespace shoal::bench
