// SPDX-License-Identifier: MIT
#include "runtime/driver/timers.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace shoal::core {

Timers::Timers(const Clock& clock, int workers) : clock_(clock) {
  const TimePoint now = clock.Now();
  for (int i = 0; i <= workers; ++i) workers_.push_back(std::make_unique<PerWorker>(now));
}

void Timers::Arm(TimerNode& node, TimePoint deadline, int worker) {
  const std::size_t index = worker < 0 ? workers_.size() - 1 : static_cast<std::size_t>(worker);
  SHOAL_DCHECK(index < workers_.size());
  workers_[index]->wheel.Arm(node, deadline);
}

void Timers::TurnArmed(PerWorker& mine) {
  const TimePoint now = clock_.Now();
  // A long time since the last reading: a long turn, or the worker was parked. Look again next
  // time.
  mine.turns_to_skip = now - mine.read_at < kShortTurnsTime ? kShortTurns - 1 : 0;
  mine.read_at = now;
  if (mine.wheel.DueBy(now)) mine.wheel.Advance(now);
}

int Timers::Poll() {
  if (!Armed()) return 0;
  const TimePoint now = clock_.Now();
  int fired = 0;
  for (const auto& worker : workers_) {
    if (worker->wheel.DueBy(now)) fired += worker->wheel.Advance(now);
  }
  return fired;
}

TimePoint Timers::NextDeadline() const {
  TimePoint next = kNever;
  for (const auto& worker : workers_) next = std::min(next, worker->wheel.NextDeadline());
  return next;
}

bool Timers::Armed() const {
  for (const auto& worker : workers_) {
    if (worker->wheel.armed() != 0) return true;
  }
  return false;
}

}  // namespace shoal::core
