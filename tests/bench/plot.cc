// SPDX-License-Identifier: MIT
#include "tests/bench/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace shoal::bench {

namespace {

// Pixels.
constexpr double kNamesWidth = 340;
constexpr double kBarsWidth = 460;
constexpr double kValuesWidth = 210;
constexpr double kLine = 24;
constexpr double kBar = 14;
constexpr double kHead = 40;
constexpr int kMostMarks = 10;    // on the scale
constexpr double kBaseline = 16;  // of a text, from the top of its line

[[gnu::format(printf, 2, 3)]] void Add(std::string& text, const char* format, ...) {
  std::array<char, 512> buffer{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
  va_end(arguments);
  text += buffer.data();
  text += '\n';
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

const char* Colour(Verdict verdict) {
  if (verdict == Verdict::kMet) return "#4a9e5c";
  return verdict == Verdict::kNotMet ? "#c8503c" : "#8a94a0";
}

// From a ratio to a place: powers of two, so that as many times more and less look the same.
class Axis {
 public:
  explicit Axis(const std::vector<Result>& results) {
    for (const Result& result : results) {
      Include(result.ratio);
      if (result.goal != Goal::kNone) Include(result.goal_ratio);
    }
  }
  [[nodiscard]] int first() const { return first_; }
  [[nodiscard]] int last() const { return last_; }
  [[nodiscard]] double Place(double ratio) const {
    const double share = (std::log2(ratio) - first_) / (last_ - first_);
    return kNamesWidth + share * kBarsWidth;
  }

 private:
  void Include(double ratio) {
    first_ = std::min(first_, static_cast<int>(std::floor(std::log2(ratio))));
    last_ = std::max(last_, static_cast<int>(std::ceil(std::log2(ratio))));
  }
  int first_ = -1;
  int last_ = 1;
};

void AddScale(std::string& svg, const Axis& axis, double height) {
  const int step = 1 + (axis.last() - axis.first()) / kMostMarks;
  // One of them is 1.
  for (int power = axis.first() - axis.first() % step; power <= axis.last(); power += step) {
    const double ratio = std::exp2(power);
    const double x = axis.Place(ratio);
    Add(svg, R"(<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>)", x, kHead, x, height,
        power == 0 ? "#303840" : "#e0e4e8");
    Add(svg, R"(<text x="%.1f" y="%.1f" text-anchor="middle">%.3g</text>)", x, kHead - 6, ratio);
  }
}

void AddRow(std::string& svg, const Axis& axis, const Result& result, double top) {
  const double from = axis.Place(std::min(1.0, result.ratio));
  const double to = axis.Place(std::max(1.0, result.ratio));
  const double bar = top + (kLine - kBar) / 2;
  const std::string name = Escaped(result.name);
  Add(svg, R"(<text x="%.1f" y="%.1f" text-anchor="end">%s</text>)", kNamesWidth - 10,
      top + kBaseline, name.c_str());
  Add(svg, R"(<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>)", from, bar,
      std::max(1.0, to - from), kBar, Colour(result.verdict));
  if (result.goal != Goal::kNone) {
    const double x = axis.Place(result.goal_ratio);
    Add(svg, R"(<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#303840" stroke-width="3"/>)",
        x, bar - 3, x, bar + kBar + 3);
  }
  Add(svg, R"(<text x="%.1f" y="%.1f">%.2f = %s : %s</text>)", kNamesWidth + kBarsWidth + 10,
      top + kBaseline, result.ratio, InUnit(result.ours, result.unit).c_str(),
      InUnit(result.limit, result.unit).c_str());
}

}  // namespace

std::string ToSvg(const std::vector<Result>& results) {
  const Axis axis(results);
  const double width = kNamesWidth + kBarsWidth + kValuesWidth;
  const double height = kHead + kLine * static_cast<double>(results.size());
  std::string svg;
  Add(svg,
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">)",
      width, height + 10);
  Add(svg, R"(<rect width="100%%" height="100%%" fill="white"/>)");
  Add(svg, R"(<text x="10" y="16">ours : limit, and the goal</text>)");
  AddScale(svg, axis, height);
  double top = kHead;
  for (const Result& result : results) {
    AddRow(svg, axis, result, top);
    top += kLine;
  }
  Add(svg, "</svg>");
  return svg;
}

}  // namespace shoal::bench
