// SPDX-License-Identifier: MIT
// ErrorReports puts down on the log how processes failed whom nobody joined.
//
// A report waits for a moment, so that `shoal.spawn(f):join()` says nothing there, however fast f
// fails. It is no reason for the program to go on; what is still to be said is said at its end.
//
// Threads: any thread may call any member.
#pragma once

#include <chrono>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/driver/timer_wheel.h"
#include "runtime/process/failure.h"

namespace shoal::core {

class ErrorReports {
 public:
  // How long a joiner may take.
  static constexpr Duration kDelay = std::chrono::milliseconds(50);

  ErrorReports(const Clock& clock, Log& log) : clock_(clock), log_(log), wheel_(clock.Now()) {}
  ~ErrorReports() { End(); }

  // Reports `text` unless `failure` is joined, or reported for another process, within kDelay. At
  // once if there is no memory to wait. Returns when it will; kNever: it has.
  TimePoint Add(const Ref<Failure>& failure, std::string text);
  void Poll() { wheel_.Advance(clock_.Now()); }
  [[nodiscard]] TimePoint NextDeadline() const { return wheel_.NextDeadline(); }
  // Reports what waits.
  void Flush() { wheel_.Advance(clock_.Now() + 2 * kDelay); }
  // The same when nobody adds any more: also what has come behind a Flush, which the wheel puts
  // behind the time up to which that was.
  void End() { wheel_.Advance(kNever - std::chrono::hours(1)); }

 private:
  const Clock& clock_;
  Log& log_;
  TimerWheel wheel_;
};

}  // namespace shoal::core
