// SPDX-License-Identifier: MIT
// Usage is what a process has used so far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.h"

namespace shoal::core {

struct Usage {
  std::size_t memory = 0;  // bytes of its Lua state now
  // The time of its turns. With a limit for it, exact. Without, it is looked at every 2.5 ms who
  // runs, so it is right on average, and to some milliseconds for long turns.
  Duration cpu{0};
  std::uint64_t slices = 0;    // turns
  std::uint64_t sent = 0;      // messages
  std::uint64_t received = 0;  // messages
};

}  // namespace shoal::core
