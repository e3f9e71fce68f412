// SPDX-License-Identifier: MIT
#include "bindings/cli/system_time.h"

#include <chrono>
#include <ctime>

namespace shoal::cli {

namespace {

// When simulated programs begin: 2024-01-01 00:00:00 UTC.
constexpr std::chrono::seconds kSimulatedStart(1'704'067'200);

// A mutable global, as the functions that it stands behind have no other place for it. It is set
// once, before there are threads.
const core::SimulatedClock* followed = nullptr;

}  // namespace

void FollowSimulatedClock(const core::SimulatedClock& clock) { followed = &clock; }

}  // namespace shoal::cli

// In place of the C library's, also for what is loaded later.

extern "C" std::time_t time(std::time_t* result) noexcept {
  using shoal::cli::followed;
  std::time_t seconds;
  if (followed != nullptr) {
    const auto now = shoal::cli::kSimulatedStart + followed->elapsed();
    seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  } else {
    timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    seconds = now.tv_sec;
  }
  if (result != nullptr) *result = seconds;
  return seconds;
}

extern "C" std::clock_t clock() noexcept {
  using shoal::cli::followed;
  if (followed != nullptr) {
    return std::chrono::duration_cast<std::chrono::microseconds>(followed->elapsed()).count();
  }
  timespec used;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return -1;
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}
