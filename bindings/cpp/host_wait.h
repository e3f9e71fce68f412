// SPDX-License-Identifier: MIT
// A HostWait is a wait of a thread of the program: what a task is for a process, on that thread's
// stack. The thread sleeps on a futex; whoever completes the wait wakes it.
//
//   HostWait wait(gate);
//   status = channel.ReceiveOrWait(key, node, wait.waiter(), &messages);
//   if (status == core::Status::kPending) status = wait.Await(deadline, {&node, 1});
//
// Threads: made and used by the thread that waits, inside the gate; ended by any.
#pragma once

#include <shoal/timeout.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "bindings/cpp/gate.h"
#include "runtime/base/clock.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/status.h"
#include "runtime/wait/waiter.h"

namespace shoal::embed {

class HostWait final : private core::WaitOwner, public core::ListLink<HostWaitTag> {
 public:
  explicit HostWait(Gate& gate) : gate_(gate), waiter_(*this) {}
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

  // Whether the calling thread may wait: it runs no process, or is inside a Blocking section.
  [[nodiscard]] static bool IsAllowedHere();

  // To be opened and published; any number of times, one after the other.
  [[nodiscard]] core::Waiter& waiter() { return waiter_; }
  // Sleeps until the waiter completes, at most until `deadline` (of the system's clock). Returns
  // the outcome, also kTimeout, or kClosed from the end of the runtime. No node is published any
  // more. REQUIRES: the waiter is published, or has been completed.
  core::Status Await(core::TimePoint deadline, std::span<core::WaitNode> nodes);

  // For the gate, under its lock: claims the waiter. True: the caller notifies it.
  [[nodiscard]] bool TryEnd(core::Status outcome);

 private:
  void OnComplete(core::Waiter& waiter) override;
  void Sleep(core::TimePoint deadline);

  Gate& gate_;
  core::Waiter waiter_;
  // 1: the waiter has completed. The store publishes its outcome, and the load in Sleep sees it.
  std::atomic<std::uint32_t> done_{0};
};

// A section of a C function in which the thread of a process has no seat, and may wait.
class BlockingHere {
 public:
  static void Enter() { ++depth_; }
  static void Leave() { --depth_; }
  [[nodiscard]] static bool IsInside() { return depth_ != 0; }

 private:
  static inline constinit thread_local int depth_ = 0;
};

// The deadline, by the system's clock, of a wait that begins now.
[[nodiscard]] core::TimePoint DeadlineOf(Timeout timeout);

}  // namespace shoal::embed
