// SPDX-License-Identifier: MIT
// What `--stats` prints at the end of the program.
//
// Threads: the main thread.
#pragma once

#include <string>

#include "runtime/runtime.h"

namespace shoal::cli {

// A line for each counter of the runtime, "dispatches          1234".
std::string StatsTable(core::Runtime& runtime);

}  // namespace shoal::cli
