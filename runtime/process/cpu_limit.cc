// SPDX-License-Identifier: MIT
#include "runtime/process/cpu_limit.h"

#include <algorithm>

namespace shoal::core {

void CpuLimit::Arm(Duration used) {
  const Duration left = std::max(next_ - used, Duration::zero());
  const TimePoint deadline = DeadlineAfter(machine_.clock.Now(), left);
  machine_.timers.Arm(*this, deadline, machine_.scheduler.CurrentWorker());
  machine_.NoteDeadline(deadline);
}

CpuLimit::Due CpuLimit::Look(Duration used) {
  if (used < next_) return Due::kNothing;
  if (is_reached_) {
    next_ = used + kStopInterval;
    return Due::kStop;
  }
  is_reached_ = true;
  next_ = used + kCleanupTime;
  return Due::kEnd;
}

bool CpuLimit::OnDue() {
  // A store: takes no lock.
  machine_.scheduler.Interrupt();
  return false;
}

}  // namespace shoal::core
