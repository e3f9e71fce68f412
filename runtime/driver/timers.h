// SPDX-License-Identifier: MIT
// Timers are the timer wheels of a runtime: one for each worker, so that workers do not meet at a
// lock, and one for all other threads.
//
// It is the time half of the scheduler's IdleSource: Turn, Poll, NextDeadline and Armed have the
// contracts given there.
//
// Threads: any thread may call any member; for each node, its owner alone arms and disarms.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/driver/timer_wheel.h"
#include "runtime/wait/timer_node.h"

namespace shoal::core {

class Timers {
 public:
  Timers(const Clock& clock, int workers);
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Arms `node` in the wheel of the calling worker; -1: a thread without a seat, which then has to
  // tell the scheduler (Scheduler::DeadlineArmed). kNever: does nothing.
  void Arm(TimerNode& node, TimePoint deadline, int worker);
  // See TimerWheel::Disarm.
  void Disarm(TimerNode& node) { TimerWheel::Disarm(node); }

  // The owner of a wheel, each turn: fires what is due there. It reads the clock if anything is
  // armed, but while turns are short, only at every 16th: a reading takes 26 ns, a turn may take
  // 100.
  void Turn(int worker) {
    PerWorker& mine = *workers_[static_cast<std::size_t>(worker)];
    if (mine.wheel.MayHaveArmed() && mine.turns_to_skip-- == 0) TurnArmed(mine);
  }

  // Fires what is due in all wheels. Returns how many were fired.
  int Poll();
  // The earliest of all wheels, or a lower bound; kNever if nothing is armed.
  [[nodiscard]] TimePoint NextDeadline() const;
  // Whether anything is armed; a timer is until its Fire has returned.
  [[nodiscard]] bool Armed() const;

 private:
  static constexpr int kShortTurns = 16;
  // So long 16 short turns take at most. Timers are that much late if the next ones are long; then
  // the tick thread fires them.
  static constexpr Duration kShortTurnsTime = std::chrono::microseconds(100);

  struct PerWorker {
    explicit PerWorker(TimePoint start) : wheel(start), read_at(start) {}
    TimerWheel wheel;
    // The owner's own: when Turn last read the clock, and in how many turns it does so again.
    TimePoint read_at;
    int turns_to_skip = 0;
  };

  void TurnArmed(PerWorker& mine);

  const Clock& clock_;
  // The last one, of which only the wheel is used, is that of threads without a seat.
  std::vector<std::unique_ptr<PerWorker>> workers_;
};

}  // namespace shoal::core
