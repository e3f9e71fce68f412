// SPDX-License-Identifier: MIT
#include "bindings/cpp/channel_wait.h"

#include <utility>

#include "bindings/cpp/host_wait.h"

namespace shoal::embed {

using core::Channel;
using core::KeyName;
using core::MessageList;
using core::Status;
using core::WaitNode;

Status SendOrWait(Gate& gate, Channel& channel, const KeyName& key, MessageList& messages,
                  Timeout timeout) {
  Status status = channel.Send(key, messages);
  if (status != Status::kFull) return status;
  if (timeout.time() == core::Duration::zero()) return Status::kTimeout;
  if (!HostWait::IsAllowedHere()) return Status::kPending;
  const core::TimePoint deadline = DeadlineOf(timeout);
  HostWait wait(gate);
  WaitNode node;
  node.waiter = &wait.waiter();
  for (;;) {
    // 1 The node may hold a reservation of the last round.
    wait.waiter().Open(core::WaitReason::kSend);
    status = channel.SendOrWait(key, messages, node);
    if (status != Status::kPending) return status;
    // 2
    status = wait.Await(deadline, {&node, 1});
    if (status == Status::kOk) return status;
    if (status != Status::kFull) break;
    // 3 A budget has room, or the channel was closed: it is tried again.
    messages = std::move(node.messages);
  }
  channel.AbandonSend(node);
  return status;
}

Status ReceiveOrWait(Gate& gate, Channel& channel, std::span<const KeyName> keys,
                     std::span<WaitNode> nodes, std::uint32_t max, Timeout timeout,
                     MessageList* messages, std::uint32_t* index) {
  // Closed keys are no reason to say so while another one is open.
  Status status = Status::kClosed;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const Status ready = channel.Receive(keys[i], 1, max, messages);
    if (ready != Status::kClosed) status = ready;
    if (ready != Status::kOk) continue;
    *index = i;
    return ready;
  }
  if (status == Status::kClosed) return status;
  if (timeout.time() == core::Duration::zero()) return Status::kTimeout;
  if (!HostWait::IsAllowedHere()) return Status::kPending;
  const core::TimePoint deadline = DeadlineOf(timeout);
  HostWait wait(gate);
  for (WaitNode& node : nodes) node.max = max;
  if (keys.size() == 1) {
    *index = 0;
    status = channel.ReceiveOrWait(keys[0], nodes[0], wait.waiter(), messages);
  } else {
    status = channel.ReceiveOrWait(keys, nodes, wait.waiter(), messages, index);
  }
  if (status != Status::kPending) return status;
  status = wait.Await(deadline, nodes);
  if (status == Status::kOk) {
    *index = wait.waiter().index();
    *messages = std::move(wait.waiter().messages());
  }
  return status;
}

}  // namespace shoal::embed
