// SPDX-License-Identifier: MIT
// The results as a picture.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/result.h"

namespace shoal::bench {

// An SVG document: for each row a bar from the limit, at 1, to the ratio, on a logarithmic scale,
// and a mark at the goal. Green: the goal is met; red: it is not; grey: there is none, or it cannot
// be told.
std::string ToSvg(const std::vector<Result>& results);

}  // namespace shoal::bench
