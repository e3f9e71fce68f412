// SPDX-License-Identifier: MIT
// A select makes exactly one of several cases happen: the first in order that is ready, or the
// first that becomes ready.
//
// All cases share one waiter. A case does what it does (takes a message, puts one in) only after
// the waiter has been claimed for it, so no two happen. One that meets another wait, as a receiver
// meets a blocked sender, claims both waiters or none: were one claimed first, two selects could
// take each other for gone, again and again (tests/models/rendezvous.pml).
//
// Threads: the owner of the waiter.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/status.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

// What became of one case that was to be published.
enum class Attempt : std::uint8_t {
  kPublished,  // its node stands where it waits
  kCompleted,  // another thread has claimed the waiter: the completion is on its way
  // The waiter is claimed by its owner, and the node is not published:
  kHappened,
  kClosed,
  kNoMemory,
};
// What a wait of that attempt returns: kPending for the first two.
Status StatusOf(Attempt attempt);

class SelectCase {
 public:
  // Makes it happen if that needs no wait. Nothing is published. kOk, kClosed, kNoMemory; kEmpty:
  // it is not ready.
  virtual Status Try(WaitNode& node) = 0;
  // The same, or publishes `node`. REQUIRES: node.waiter is open, and may be published elsewhere.
  virtual Attempt Publish(WaitNode& node) = 0;
  // The wait has been completed through `node`, and all nodes are withdrawn: what its outcome
  // means. kEmpty: nothing has happened, and the select starts again.
  virtual Status Completed(WaitNode& node, Status outcome) = 0;

 protected:
  ~SelectCase() = default;
};

// The first case that is ready happens: `index`, and its Status. kEmpty: none is.
Status TrySelect(std::span<SelectCase* const> cases, std::span<WaitNode> nodes,
                 std::uint32_t* index);

// The same; if none is ready, publishes all and returns kPending. Then the waiter completes with
// the index of a case, for which the owner calls Completed. Opens `waiter` itself. When it returns
// anything but kPending, no node is published.
Status SelectOrWait(std::span<SelectCase* const> cases, std::span<WaitNode> nodes, Waiter& waiter,
                    std::uint32_t* index);

}  // namespace shoal::core
