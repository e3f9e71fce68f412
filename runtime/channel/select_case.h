// SPDX-License-Identifier: MIT
// The cases of a select in which a message is received or sent.
//
// Threads:   the owner of the waiter.
// Ownership: the maker keeps the channel and what the key looks at.
#pragma once

#include "runtime/channel/channel.h"
#include "runtime/wait/select.h"

namespace shoal::core {

// kOk: the messages stand in the waiter: `min` to `max`, or one.
class ReceiveCase final : public SelectCase {
 public:
  ReceiveCase(Channel& channel, const KeyName& key) : ReceiveCase(channel, key, 1, 1) {}
  ReceiveCase(Channel& channel, const KeyName& key, std::uint32_t min, std::uint32_t max)
      : channel_(channel), key_(key), min_(min), max_(max) {}
  Status Try(WaitNode& node) override {
    return channel_.Receive(key_, min_, max_, &node.waiter->messages());
  }
  Attempt Publish(WaitNode& node) override {
    node.min = min_;
    node.max = max_;
    return channel_.PublishReceive(key_, node);
  }
  Status Completed(WaitNode&, Status outcome) override { return outcome; }

 private:
  Channel& channel_;
  const KeyName key_;
  const std::uint32_t min_;
  const std::uint32_t max_;
};

// The messages stand in the node until they are sent. REQUIRES: there are any.
class SendCase final : public SelectCase {
 public:
  SendCase(Channel& channel, const KeyName& key) : channel_(channel), key_(key) {}
  Status Try(WaitNode& node) override { return EmptyIfFull(channel_.Send(key_, node.messages)); }
  Attempt Publish(WaitNode& node) override { return channel_.PublishSend(key_, node); }
  Status Completed(WaitNode& node, Status outcome) override {
    // A budget has room now.
    return outcome == Status::kFull ? EmptyIfFull(channel_.FinishSend(key_, node)) : outcome;
  }

 private:
  static Status EmptyIfFull(Status status) {
    return status == Status::kFull ? Status::kEmpty : status;
  }

  Channel& channel_;
  const KeyName key_;
};

}  // namespace shoal::core
