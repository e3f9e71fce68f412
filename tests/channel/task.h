// SPDX-License-Identifier: MIT
// For the tests of the channel layer: messages of text, and a Task that sends and receives as a
// task of a process does, without a process.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/channel/channel.h"
#include "runtime/message/message.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

inline MessagePtr Text(std::string_view text, std::span<RefCounted* const> references = {}) {
  return Message::New({reinterpret_cast<const std::byte*>(text.data()), text.size()}, references);
}
inline MessageList One(std::string_view text) {
  MessageList list;
  list.PushBack(Text(text));
  return list;
}
inline MessageList Batch(std::initializer_list<std::string_view> texts) {
  MessageList list;
  for (std::string_view text : texts) list.PushBack(Text(text));
  return list;
}
inline std::string TextOf(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes().data()), message.bytes().size()};
}
using Texts = std::vector<std::string>;
inline Texts TextsOf(const MessageList& list) {
  Texts texts;
  for (const Message* message = list.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    texts.push_back(TextOf(*message));
  }
  return texts;
}

inline Status SendText(Channel& channel, const KeyName& key, std::string_view text) {
  MessageList list = One(text);
  return channel.Send(key, list);
}
// The text received, or the status in brackets.
inline std::string ReceiveText(Channel& channel, const KeyName& key) {
  MessageList list;
  const Status status = channel.Receive(key, 1, 1, &list);
  return status == Status::kOk ? TextOf(*list.front()) : std::string("<") + ToString(status) + ">";
}
inline Texts Standing(Channel& channel, const KeyName& key) {
  Texts texts;
  channel.Peek(key, SIZE_MAX, [&](const Message& message) { texts.push_back(TextOf(message)); });
  return texts;
}

inline KeyName Name(std::string_view text) { return KeyName::String(text); }

// A registry with a clock that stands still, and one channel.
struct World {
  explicit World(const Channel::Options& options = {},
                 std::size_t queue_memory = Budget::kUnlimited)
      : registry(clock, queue_memory), channel(registry.Make(options)) {}
  ManualClock clock;
  ChannelRegistry registry;
  Ref<Channel> channel;
};

// One wait at a time. Any thread completes it; only its own thread calls its members.
class Task final : public WaitOwner {
 public:
  Task() = default;
  Task(const Task&) = delete;
  ~Task() { Cancel(); }

  Status Receive(Channel& channel, const std::vector<KeyName>& keys, std::uint32_t min = 1,
                 std::uint32_t max = 1) {
    completions_ = 0;
    nodes_ = std::vector<WaitNode>(keys.size());
    for (WaitNode& node : nodes_) {
      node.min = min;
      node.max = max;
    }
    MessageList list;
    const Status status = channel.ReceiveOrWait(keys, nodes_, waiter_, &list, &index_);
    if (status == Status::kOk) received_ = TextsOf(list);
    return status;
  }
  Status Receive(Channel& channel, const KeyName& key, std::uint32_t min = 1,
                 std::uint32_t max = 1) {
    completions_ = 0;
    nodes_ = std::vector<WaitNode>(1);
    nodes_[0].min = min;
    nodes_[0].max = max;
    MessageList list;
    const Status status = channel.ReceiveOrWait(key, nodes_[0], waiter_, &list);
    index_ = 0;
    if (status == Status::kOk) received_ = TextsOf(list);
    return status;
  }

  Status Send(Channel& channel, const KeyName& key, MessageList list) {
    nodes_ = std::vector<WaitNode>(1);
    nodes_[0].waiter = &waiter_;
    unsent_ = std::move(list);
    return SendAgain(channel, key, unsent_);
  }
  Status Send(Channel& channel, const KeyName& key, std::string_view text) {
    return Send(channel, key, One(text));
  }
  // After kFull.
  Status SendAgain(Channel& channel, const KeyName& key) {
    return SendAgain(channel, key, nodes_[0].messages);
  }

  [[nodiscard]] bool completed() const { return completions_.load() != 0; }
  [[nodiscard]] int completions() const { return completions_.load(); }

  // After the completion: takes the nodes back as a process does, and returns the outcome.
  Status Finish() {
    WithdrawAll(nodes_);
    if (waiter_.outcome() == Status::kOk) {
      index_ = waiter_.index();
      received_ = TextsOf(waiter_.messages());
      waiter_.messages().Clear();
    }
    return waiter_.outcome();
  }
  // True if nothing else has claimed it, as for a deadline: then it ends with that outcome.
  bool Claim(Status outcome = Status::kTimeout) {
    if (!waiter_.TryClaim()) return false;
    waiter_.SetOutcome(outcome);
    OnComplete(waiter_);
    return true;
  }
  // Ends a wait that is open, by claim and withdrawal.
  void Cancel() {
    if (!nodes_.empty()) static_cast<void>(waiter_.TryClaim());
    WithdrawAll(nodes_);
  }

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] const Texts& received() const { return received_; }
  [[nodiscard]] Texts unsent() const {
    return nodes_[0].messages.empty() ? TextsOf(unsent_) : TextsOf(nodes_[0].messages);
  }
  WaitNode& node(std::size_t i = 0) { return nodes_[i]; }
  Waiter& waiter() { return waiter_; }

  // Its own last access is the store: then another thread may end the task.
  void OnComplete(Waiter&) override { completions_.fetch_add(1); }

 private:
  Status SendAgain(Channel& channel, const KeyName& key, MessageList& list) {
    completions_ = 0;
    waiter_.Open(WaitReason::kSend);
    return channel.SendOrWait(key, list, nodes_[0]);
  }

  Waiter waiter_{*this};
  std::vector<WaitNode> nodes_;
  std::atomic<int> completions_{0};
  std::uint32_t index_ = 0;
  Texts received_;
  MessageList unsent_;
};

}  // namespace shoal::core
