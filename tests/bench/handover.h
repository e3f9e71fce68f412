// SPDX-License-Identifier: MIT
// The limits between two threads, in nanoseconds for a round trip: one tells the other by a word in
// memory, and waits until it is told in turn.
#pragma once

namespace shoal::bench {

// Each waits by looking at the word.
double LimitSpinning(double seconds);

// Each waits in the system, by a futex.
double LimitParking(double seconds);

}  // namespace shoal::bench
