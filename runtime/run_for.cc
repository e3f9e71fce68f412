// SPDX-License-Identifier: MIT
// A runtime without threads: those of the host run it.
#include <algorithm>

#include "runtime/base/futex.h"
#include "runtime/runtime.h"

namespace shoal::core {

RunState Runtime::RunFor(Duration time, WhenIdle when_idle) {
  const TimePoint deadline = DeadlineAfter(SteadyClock().Now(), time);
  for (;;) {
    // What wakes a sleeper when there are no processes any more.
    const std::uint32_t seen = events_.load();
    if (ending_.load() != 0) return RunState::kClosed;
    const bool sleeps = when_idle == WhenIdle::kSleep && processes_.size() != 0;
    const RunEnd end = scheduler_.Run({.deadline = deadline,
                                       .when_idle = sleeps ? WhenIdle::kSleep : WhenIdle::kReturn,
                                       .word = &events_,
                                       .seen = seen});
    // Shutdown waits for the seat. It was free before this is read, so one of the two sees it.
    if (ending_.load() != 0) {
      NotifyHost();
      return RunState::kClosed;
    }
    if (end != RunEnd::kChanged) return StateAfter(end);
  }
}

void Runtime::DismissGuests() {
  ending_.store(1);
  if (!has_threads()) NotifyHost();
}

RunState Runtime::StateAfter(RunEnd end) {
  switch (end) {
    case RunEnd::kBusy:
      return RunState::kBusy;
    case RunEnd::kClosed:
      return RunState::kClosed;
    case RunEnd::kTimeIsUp:
    case RunEnd::kChanged:
      return RunState::kReady;
    case RunEnd::kNothing:
      break;
  }
  return processes_.size() == 0 ? RunState::kEmpty : RunState::kWaiting;
}

Duration Runtime::TimeToDeadline() {
  const TimePoint next = NextDeadline();
  if (next == kNever) return Duration::max();
  return std::max(next - options_.clock.Now(), Duration::zero());
}

void Runtime::RunTillEvent(std::uint32_t seen, TimePoint deadline) {
  const RunEnd end = scheduler_.Run(
      {.deadline = deadline, .when_idle = WhenIdle::kSleep, .word = &events_, .seen = seen});
  // Another thread runs them, or nobody can any more.
  if (end == RunEnd::kBusy || end == RunEnd::kClosed) FutexWait(events_, seen, deadline);
}

}  // namespace shoal::core
