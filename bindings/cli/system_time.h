// SPDX-License-Identifier: MIT
// The time of the C library, as scripts see it: `os.time`, `os.date` and `os.clock` call time() and
// clock(), and so does Lua for the seed of the hashes of a state. The program has these two
// functions of its own, so that they can follow the clock of the simulator.
#pragma once

#include "runtime/base/clock.h"

namespace shoal::cli {

// From now on, time() and clock() follow `clock`, for ever. Before anything else runs.
void FollowSimulatedClock(const core::SimulatedClock& clock);

}  // namespace shoal::cli
