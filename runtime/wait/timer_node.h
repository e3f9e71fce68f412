// SPDX-License-Identifier: MIT
// TimerNode is something that is due at a deadline. It stands in one timer wheel at a time, and
// inside the object that waits, so arming a timeout allocates nothing.
//
// Threads: armed and disarmed by its owner; due on any thread that advances the wheel.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"

namespace shoal::core {

class TimerWheel;
struct TimerTag {};

class TimerNode : public ListLink<TimerTag> {
 public:
  // Decides, under the wheel's lock, whether the deadline still counts. If true, the wheel calls
  // Fire once after it has unlocked; if false, the node may be freed as soon as Disarm returned.
  virtual bool OnDue() = 0;
  virtual void Fire() = 0;

  [[nodiscard]] TimePoint deadline() const { return deadline_; }

 protected:
  virtual ~TimerNode() = default;

 private:
  friend class TimerWheel;
  TimePoint deadline_ = kNever;
  TimerWheel* wheel_ = nullptr;  // set by Arm, cleared by Disarm, both by the owner
};

}  // namespace shoal::core
