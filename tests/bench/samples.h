// SPDX-License-Identifier: MIT
// Samples are the ratios of one row, one for each round.
#pragma once

#include <vector>

namespace shoal::bench {

// REQUIRES: not empty.
double Median(std::vector<double> values);

// The A/A spread: how far the medians of two halves of the same rounds lie apart. The rounds are
// split at random many times, and 95 of 100 splits stay within this share (0.02: 2 %). A difference
// that is smaller says nothing. Negative if there are too few rounds to tell.
double Spread(const std::vector<double>& values);

}  // namespace shoal::bench
