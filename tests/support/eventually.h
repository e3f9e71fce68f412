// SPDX-License-Identifier: MIT
// For tests of threads: how often something is tried, and waits for what others do.
#pragma once

#include <sched.h>

#include <chrono>

namespace shoal::core {

// How often something is repeated: less under sanitizers and in debug builds.
#ifdef NDEBUG
constexpr int Times(int often) { return often; }
#else
constexpr int Times(int often) { return often / 10 + 1; }
#endif

// Waits until `condition` holds. False if it does not within half a minute: then something is lost.
template <class Condition>
bool Eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    sched_yield();
  }
  return true;
}

}  // namespace shoal::core
