// SPDX-License-Identifier: MIT
#include "tests/bench/table.h"

#include <cstdio>

namespace shoal::bench {

namespace {

constexpr char kLine[] = "%-46s %10s %10s %7s %6s %7s  %s";

std::string SpreadText(double spread) {
  if (spread < 0) return "-";
  if (spread > 1) return ">100 %";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.0f %%", spread * 100);
  return buffer;
}

const char* VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoGoal:
      return "-";
    case Verdict::kMet:
      return "met";
    case Verdict::kNotMet:
      return "not met";
    case Verdict::kUncertain:
      return "uncertain";
    case Verdict::kBusy:
      return "uncertain (busy)";
    case Verdict::kTooFewRounds:
      return "too few rounds";
  }
  return "";
}

}  // namespace

std::string TableHead() {
  char line[160];
  std::snprintf(line, sizeof line, kLine, "operation", "ours", "limit", "ratio", "A/A", "goal", "");
  return line;
}

std::string TableLine(const Result& result) {
  const std::string ours = InUnit(result.ours, result.unit);
  const std::string limit = InUnit(result.limit, result.unit);
  const std::string aa = SpreadText(result.spread);
  const std::string goal = result.goal == Goal::kNone ? "-" : GoalText(result);
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", result.ratio);
  char line[160];
  std::snprintf(line, sizeof line, kLine, result.name.c_str(), ours.c_str(), limit.c_str(), ratio,
                aa.c_str(), goal.c_str(), VerdictText(result.verdict));
  return line;
}

}  // namespace shoal::bench
