// SPDX-License-Identifier: MIT
#include "tests/bench/samples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace shoal::bench {

namespace {
constexpr std::size_t kFewestRounds = 6;
constexpr std::size_t kSplits = 400;
// The same splits in each run: what differs is the measurement.
constexpr std::uint32_t kSeed = 1;
}  // namespace

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double Spread(const std::vector<double>& values) {
  if (values.size() < kFewestRounds) return -1;
  std::mt19937 random(kSeed);  // NOLINT(bugprone-random-generator-seed)
  std::vector<double> shuffled = values;
  std::vector<double> apart;
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  for (std::size_t i = 0; i < kSplits; ++i) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const double one = Median({shuffled.begin(), shuffled.begin() + half});
    const double other = Median({shuffled.begin() + half, shuffled.end()});
    apart.push_back(std::max(one, other) / std::min(one, other) - 1);
  }
  std::sort(apart.begin(), apart.end());
  return apart[kSplits * 95 / 100];
}

}  // namespace shoal::bench
