// SPDX-License-Identifier: MIT
// A Row is one line of the table: an operation, the limit that it is held against, and the goal.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

enum class Unit {
  kNanoseconds,
  kBytes,
  kPerSecond,
};

enum class Goal {
  kNone,
  kAtMost,
  kAtLeast,
};

// What passes: the time of computing, or that of the clock, which says nothing on a busy machine.
enum class Time {
  kComputing,
  kClock,
};

struct Row {
  std::string name;  // what --only looks for
  Unit unit;
  Time time;
  std::function<double()> ours;
  std::function<double()> limit;
  Goal goal = Goal::kNone;
  double goal_ratio = 0;  // of ours to the limit
  std::string note = {};  // below the table: what the limit is
};

// `scale` is the share of the usual size: 1, or less for a smoke run.
std::vector<Row> AllRows(double scale);
// Those of what is sent or done in great number or size.
std::vector<Row> BulkRows(double scale);
// Those of programs in C++, and of these those that must never wait.
std::vector<Row> EmbedRows(double scale);
std::vector<Row> PostRows(double scale);
// Those with sockets. Those beside programs that are not installed are left out.
std::vector<Row> SocketRows(double scale);

}  // namespace shoal::bench
