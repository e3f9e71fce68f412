// SPDX-License-Identifier: MIT
#include "tests/bench/result.h"

#include <cstddef>
#include <cstdio>

#include "tests/bench/samples.h"

namespace shoal::bench {

namespace {

struct Step {
  double size;
  const char* name;
};

template <std::size_t kCount>
std::string InSteps(double value, const Step (&steps)[kCount]) {
  std::size_t i = 0;
  while (i + 1 < kCount && value < steps[i].size) ++i;
  const double scaled = value / steps[i].size;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f %s", scaled < 10 ? 2 : (scaled < 100 ? 1 : 0), scaled,
                steps[i].name);
  return buffer;
}

std::vector<double> Ratios(const Measured& measured) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < measured.ours.size(); ++i) {
    ratios.push_back(measured.ours[i] / measured.limit[i]);
  }
  return ratios;
}

// It is judged only if the distance to the goal is more than the spread.
Verdict VerdictOf(const Row& row, double ratio, double spread, Machine machine) {
  if (row.goal == Goal::kNone) return Verdict::kNoGoal;
  if (spread < 0) return Verdict::kTooFewRounds;
  if (row.time == Time::kClock && machine == Machine::kBusy) return Verdict::kBusy;
  const bool most = row.goal == Goal::kAtMost;
  const double low = ratio / (1 + spread);
  const double high = ratio * (1 + spread);
  if (most ? high <= row.goal_ratio : low >= row.goal_ratio) return Verdict::kMet;
  if (most ? low > row.goal_ratio : high < row.goal_ratio) return Verdict::kNotMet;
  return Verdict::kUncertain;
}

}  // namespace

Result Judge(const Row& row, const Measured& measured, Machine machine) {
  const std::vector<double> ratios = Ratios(measured);
  const double ratio = Median(ratios);
  const double spread = Spread(ratios);
  return {.name = row.name,
          .unit = row.unit,
          .ours = Median(measured.ours),
          .limit = Median(measured.limit),
          .ratio = ratio,
          .spread = spread,
          .goal = row.goal,
          .goal_ratio = row.goal_ratio,
          .verdict = VerdictOf(row, ratio, spread, machine)};
}

std::string InUnit(double value, Unit unit) {
  // Microseconds are written as "us": the columns count bytes.
  static constexpr Step kTimes[] = {{1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  static constexpr Step kSizes[] = {{1e6, "MB"}, {1e3, "KB"}, {1, "B"}};
  static constexpr Step kRates[] = {{1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}};
  switch (unit) {
    case Unit::kNanoseconds:
      return InSteps(value, kTimes);
    case Unit::kBytes:
      return InSteps(value, kSizes);
    case Unit::kPerSecond:
      return InSteps(value, kRates);
  }
  return "";
}

std::string GoalText(const Result& result) {
  if (result.goal == Goal::kNone) return "";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%s %.2f",
                result.goal == Goal::kAtMost ? "<=" : ">=", result.goal_ratio);
  return buffer;
}

}  // namespace shoal::bench
