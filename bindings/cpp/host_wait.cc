// SPDX-License-Identifier: MIT
#include "bindings/cpp/host_wait.h"

#include "runtime/base/futex.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/base/test_point.h"

namespace shoal::embed {

using core::Status;
using core::TimePoint;

bool HostWait::IsAllowedHere() {
  return !core::RuntimeThread::IsCurrent() || BlockingHere::IsInside();
}

Status HostWait::Await(TimePoint deadline, std::span<core::WaitNode> nodes) {
  // 1 From here on, the end of the runtime finds it. If that has been, it has not found it.
  const bool known = gate_.Add(*this);
  if (!known && waiter_.TryClaim()) {
    waiter_.SetOutcome(Status::kClosed, core::Waiter::kNoNode);
    done_.store(1);
  }
  // 2
  Sleep(deadline);
  if (known) gate_.Remove(*this);
  // 3 The waiter is ours again; some of its nodes may still stand somewhere.
  core::WithdrawAll(nodes);
  done_.store(0);
  return waiter_.outcome();
}

void HostWait::Sleep(TimePoint deadline) {
  while (done_.load() == 0) {
    core::FutexWait(done_, 0, deadline);
    if (deadline == core::kNever || core::SteadyClock().Now() < deadline) continue;
    SHOAL_TEST_POINT("host_wait.due");
    if (waiter_.TryClaim()) {
      waiter_.SetOutcome(Status::kTimeout, core::Waiter::kNoNode);
      return;
    }
    // Somebody else has claimed it, and is about to say so.
    deadline = core::kNever;
  }
}

bool HostWait::TryEnd(Status outcome) {
  if (!waiter_.TryClaim()) return false;
  waiter_.SetOutcome(outcome, core::Waiter::kNoNode);
  return true;
}

void HostWait::OnComplete(core::Waiter& /*waiter*/) {
  std::atomic<std::uint32_t>& done = done_;
  done.store(1);
  // This may be gone by now; the wake only names its address.
  core::FutexWake(done, 1);
}

TimePoint DeadlineOf(Timeout timeout) {
  if (timeout.time() == core::Duration::max()) return core::kNever;
  return core::DeadlineAfter(core::SteadyClock().Now(), timeout.time());
}

}  // namespace shoal::embed
