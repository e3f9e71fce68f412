// SPDX-License-Identifier: MIT
// Sends and receives of threads of the program that may wait.
//
// Threads: any, inside the gate.
#pragma once

#include <shoal/timeout.h>

#include <cstdint>
#include <span>

#include "bindings/cpp/gate.h"
#include "runtime/base/status.h"
#include "runtime/channel/channel.h"
#include "runtime/channel/key_name.h"
#include "runtime/message/message.h"

namespace shoal::embed {

// Sends all of `messages`, and waits for room as long as `timeout` says. kOk, kTimeout, kClosed,
// kNoMemory, kDeadlock; kPending: it would have to wait, and this thread may not. What was not sent
// is freed.
core::Status SendOrWait(Gate& gate, core::Channel& channel, const core::KeyName& key,
                        core::MessageList& messages, Timeout timeout);

// Takes 1 to `max` messages from the first of `keys` that has some, and says which. The same.
// REQUIRES: one node for each key.
core::Status ReceiveOrWait(Gate& gate, core::Channel& channel, std::span<const core::KeyName> keys,
                           std::span<core::WaitNode> nodes, std::uint32_t max, Timeout timeout,
                           core::MessageList* messages, std::uint32_t* index);

}  // namespace shoal::embed
