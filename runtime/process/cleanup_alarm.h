// SPDX-License-Identifier: MIT
// A CleanupAlarm interrupts cleanup code that goes on beyond its time without waiting.
//
// Threads: made, armed and disarmed by the owner of the process; it goes off on any runtime thread.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/driver/timer_wheel.h"
#include "runtime/process/machine.h"
#include "runtime/wait/timer_node.h"

namespace shoal::core {

class CleanupAlarm final : public TimerNode {
 public:
  explicit CleanupAlarm(Machine& machine) : machine_(machine) {}
  ~CleanupAlarm() override { TimerWheel::Disarm(*this); }
  CleanupAlarm(const CleanupAlarm&) = delete;
  CleanupAlarm& operator=(const CleanupAlarm&) = delete;

  // At `deadline`, or a moment from now if that has passed: cleanup code that was interrupted may
  // lead into more of it.
  void Set(TimePoint deadline) {
    TimerWheel::Disarm(*this);
    const TimePoint at = std::max(deadline, machine_.clock.Now() + kMoment);
    machine_.expiries.Arm(*this, at);
    machine_.NoteDeadline(at);
  }

  // Under the wheel's lock, so that it may be freed once it is disarmed.
  bool OnDue() override {
    machine_.scheduler.Interrupt();
    return false;
  }
  void Fire() override {}

 private:
  static constexpr Duration kMoment = std::chrono::milliseconds(10);
  Machine& machine_;
};

}  // namespace shoal::core
