// SPDX-License-Identifier: MIT
// A Result is what the rounds of a row say in the end, for whoever prints it.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/row.h"

namespace shoal::bench {

// Values of ours and of the limit, one of each for each round.
struct Measured {
  std::vector<double> ours;
  std::vector<double> limit;
};

enum class Machine {
  kQuiet,
  kBusy,
};

enum class Verdict {
  kNoGoal,
  kMet,
  kNotMet,
  kUncertain,  // the goal is within the spread
  kBusy,       // the clock was measured, on a busy machine
  kTooFewRounds,
};

struct Result {
  std::string name;
  Unit unit;
  double ours;  // medians, in nanoseconds, bytes, or per second
  double limit;
  double ratio;   // the median of those of the rounds
  double spread;  // A/A; negative: too few rounds
  Goal goal;
  double goal_ratio;
  Verdict verdict;
};

// REQUIRES: at least one round.
Result Judge(const Row& row, const Measured& measured, Machine machine);

// "1.25 us"
std::string InUnit(double value, Unit unit);
// "<= 2.50"; empty: none.
std::string GoalText(const Result& result);

}  // namespace shoal::bench
