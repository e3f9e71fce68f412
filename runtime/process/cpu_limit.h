// SPDX-License-Identifier: MIT
// A CpuLimit sees to it that a process which has used up its time looks, wherever it is: a timer
// runs during each of its turns, for what is left.
//
// Once the limit has been reached, the process is ended; its cleanup code gets a second more. When
// that is over too, what still runs is stopped again and again.
//
// Threads: the owner of the process; OnDue on any thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/process/machine.h"
#include "runtime/wait/timer_node.h"

namespace shoal::core {

class CpuLimit final : public TimerNode {
 public:
  static constexpr Duration kCleanupTime = std::chrono::seconds(1);
  // Between two stops of cleanup code that has had its time.
  static constexpr Duration kStopInterval = std::chrono::milliseconds(10);

  CpuLimit(Machine& machine, Duration limit) : machine_(machine), next_(limit) {}

  // A turn begins, and the process has `used` so much before.
  void Arm(Duration used);
  // It ends. From here on the timer touches nothing.
  void Disarm() { machine_.timers.Disarm(*this); }

  enum class Due : std::uint8_t {
    kNothing,
    kEnd,   // the process is to be ended; once
    kStop,  // and its cleanup code as well
  };
  // What is due after so much time. If it is not kNothing, the timer has to be armed anew.
  [[nodiscard]] Due Look(Duration used);

  // TimerNode. All is done under the wheel's lock, where the process cannot go away: no Fire.
  bool OnDue() override;
  void Fire() override {}

 private:
  Machine& machine_;
  Duration next_;  // when something is due
  bool is_reached_ = false;
};

}  // namespace shoal::core
