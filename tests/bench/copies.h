// SPDX-License-Identifier: MIT
// The limit of starting a process: its state is a copy of an image, and nothing else is done.
#pragma once

namespace shoal::bench {

// Nanoseconds of computing: a state with all libraries is copied, a dumped empty function is loaded
// and called, the state is dropped. `count` times.
double LimitCopy(long count);

}  // namespace shoal::bench
