// SPDX-License-Identifier: MIT
#include "runtime/wait/select.h"

#include "runtime/base/check.h"
#include "runtime/base/test_point.h"

namespace shoal::core {

Status StatusOf(Attempt attempt) {
  switch (attempt) {
    case Attempt::kHappened:
      return Status::kOk;
    case Attempt::kClosed:
      return Status::kClosed;
    case Attempt::kNoMemory:
      return Status::kNoMemory;
    case Attempt::kPublished:
    case Attempt::kCompleted:
      return Status::kPending;
  }
  return Status::kPending;
}

Status TrySelect(std::span<SelectCase* const> cases, std::span<WaitNode> nodes,
                 std::uint32_t* index) {
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    const Status status = cases[i]->Try(nodes[i]);
    if (status == Status::kEmpty) continue;
    *index = i;
    return status;
  }
  return Status::kEmpty;
}

Status SelectOrWait(std::span<SelectCase* const> cases, std::span<WaitNode> nodes, Waiter& waiter,
                    std::uint32_t* index) {
  SHOAL_DCHECK(cases.size() == nodes.size());
  // 1. Look at all before any node is published: that costs less, and keeps the order.
  const Status ready = TrySelect(cases, nodes, index);
  if (ready != Status::kEmpty) return ready;
  SHOAL_TEST_POINT("select.tried");
  // 2. Nobody sees the waiter and the nodes yet.
  waiter.Open(WaitReason::kSelect);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].waiter = &waiter;
    nodes[i].place = nullptr;
    nodes[i].index = i;
  }
  // 3. Publish one after the other, until something comes of it.
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    const Attempt attempt = cases[i]->Publish(nodes[i]);
    if (attempt == Attempt::kPublished) continue;
    if (attempt == Attempt::kCompleted) break;
    // 4. The waiter is claimed by us: nobody else completes it.
    WithdrawAll(nodes.first(i));
    *index = i;
    return StatusOf(attempt);
  }
  return Status::kPending;
}

}  // namespace shoal::core
