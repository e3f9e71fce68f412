// SPDX-License-Identifier: MIT
// The results for other programs.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/result.h"

namespace shoal::bench {

// A list of objects, one for each row:
//   name    string
//   value   number: ours, in `unit`
//   unit    "ns", "B" or "1/s"
//   limit   number, in `unit`
//   ratio   number: the median of value / limit over the rounds
//   spread  number: that of the ratios when nothing differs (0.02: 2 %), or null: too few rounds
//   goal    string, of the ratio: "<= 2.50", or null: none
//   met     true, false, or null: no goal, or it cannot be told
std::string ToJson(const std::vector<Result>& results);

}  // namespace shoal::bench
