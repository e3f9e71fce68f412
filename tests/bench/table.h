// SPDX-License-Identifier: MIT
// The results for people who read them in a terminal.
#pragma once

#include <string>

#include "tests/bench/result.h"

namespace shoal::bench {

std::string TableHead();
std::string TableLine(const Result& result);

}  // namespace shoal::bench
