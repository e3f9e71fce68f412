// SPDX-License-Identifier: MIT
#include "tests/bench/json.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace shoal::bench {

namespace {

// The names of rows are plain ASCII.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string Number(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g", value);
  return buffer.data();
}

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kBytes:
      return "B";
    case Unit::kPerSecond:
      return "1/s";
  }
  return "";
}

const char* IsMet(Verdict verdict) {
  if (verdict == Verdict::kMet) return "true";
  return verdict == Verdict::kNotMet ? "false" : "null";
}

}  // namespace

std::string ToJson(const std::vector<Result>& results) {
  std::string json = "[";
  for (const Result& result : results) {
    json += json.size() > 1 ? ",\n {" : "\n {";
    json += "\"name\": " + Quoted(result.name);
    json += ", \"value\": " + Number(result.ours);
    json += ", \"unit\": " + Quoted(UnitName(result.unit));
    json += ", \"limit\": " + Number(result.limit);
    json += ", \"ratio\": " + Number(result.ratio);
    json += ", \"spread\": " + (result.spread < 0 ? "null" : Number(result.spread));
    json += ", \"goal\": " + (result.goal == Goal::kNone ? "null" : Quoted(GoalText(result)));
    json += std::string(", \"met\": ") + IsMet(result.verdict) + "}";
  }
  return json + "\n]";
}

}  // namespace shoal::bench
