// SPDX-License-Identifier: MIT
// The end of a slice, as seen by a process: an interrupt, or a hook that counts, comes while its
// Lua code runs.
#include "runtime/lua/slice.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::core {

namespace {
// In the simulator, a slice is so many periods of the slice hook on average.
constexpr unsigned kSimulatedSlice = 8;
}  // namespace

SHOAL_IN_SIGNAL_HANDLER void Process::RunningCode::OnInterrupt() {
  if (record_.current != nullptr) EndSlice(record_);
}

int Process::TurnLength() const {
  Random* const chance = machine_.chance;
  if (chance == nullptr) return kCallsInTurn;
  // The simulator: most turns end after a few calls, so that others come between any two; some are
  // long, so that others also come late.
  switch (chance->Below(4)) {
    case 0:
    case 1:
      return kFewestCalls + static_cast<int>(chance->Below(8));
    case 2:
      return kFewestCalls + static_cast<int>(chance->Below(64));
    default:
      return kCallsInTurn;
  }
}

SliceEnd Process::SliceIsOver() {
  // In `shoal.blocking`, it has made way already, and a cancel comes when that returns.
  if (current_->blocking_ > 0 && !machine_.scheduler.HoldsSeat()) return SliceEnd::kNo;
  // The simulator has nobody who asks: so requests are looked for each time.
  if (machine_.simulated()) {
    SimulateCpu(machine_.slices.kept_period);
    return machine_.chance->Below(kSimulatedSlice) == 0 ? SliceEnd::kAsked : SliceEnd::kNo;
  }
  if (machine_.scheduler.MustLook()) return SliceEnd::kAsked;
  if (machine_.slices.end != Slices::End::kEvery) return SliceEnd::kNo;
  // No dispatch lasts for so long that anything is asked of it: requests are looked for once a turn
  // is owed.
  return owes_turn() ? SliceEnd::kAsked : SliceEnd::kByItself;
}

void Process::TakeRequests(lua_State* L) {
  if (!closing_) {
    TakeCompletions();
  } else if (cpu_limit_ != nullptr) {
    LookAtCpuLimit();
  } else {
    return;  // what makes the results and the error into messages runs to its end
  }
  const bool cancelled = current_->MustRaiseCancelled();
  if (!cancelled && (!interrupted_ || current_ != body_.get())) return;
  // It may have been given what it waited for just now: so that nothing is lost, it has until the
  // second look to come to its next wait.
  if (++current_->looks_ == 1) {
    machine_.scheduler.Interrupt();
    return;
  }
  current_->looks_ = 0;
  // A thread that has lost its seat, since it did not look in time, is looked after by nobody: what
  // cleans up must not run there.
  if (!machine_.scheduler.HoldsSeat()) GiveWay();
  if (cancelled) RaiseOutcome(L, Status::kCancelled);
  if (!TakeInterrupt()) return;
  // In a hook, level 0 is the code that was interrupted.
  luaL_where(L, 0);
  lua_pushliteral(L, "interrupted");
  lua_concat(L, 2);
  lua_error(L);
}

void Process::GiveWay() {
  ++slices_in_turn_;
  // Nothing of the process runs meanwhile. If no other thread can be had, it just goes on.
  static_cast<void>(GiveSeatAway(Rest::kTurn));
}

}  // namespace shoal::core
