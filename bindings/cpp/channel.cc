// SPDX-License-Identifier: MIT
#include "runtime/channel/channel.h"

#include <shoal/channel.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/channel_wait.h"
#include "bindings/cpp/outcome.h"
#include "bindings/cpp/value_reader.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/process/expiry.h"

namespace shoal {

using core::KeyName;
using core::Message;
using core::MessageList;
using core::MessagePtr;
using embed::Entry;
using embed::ErrorOf;

namespace {

// A call of a channel: inside the gate, with a key.
class Call {
 public:
  explicit Call(const Channel& channel) : entry_(channel, Handle::Kind::kChannel) {
    if (!entry_) error_ = entry_.error();
  }
  Call(const Channel& channel, const Key& key, Timeout timeout = kForever) : Call(channel) {
    if (*this) error_ = embed::CheckTimeout(timeout);
    if (*this) error_ = embed::ToKeyName(key, entry_.gate(), &key_);
  }
  [[nodiscard]] explicit operator bool() const { return error_.status() == Status::kOk; }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] embed::Gate& gate() const { return entry_.gate(); }
  [[nodiscard]] core::Machine& machine() const { return entry_.machine(); }
  [[nodiscard]] core::Channel& channel() const { return entry_.object<core::Channel>(); }
  [[nodiscard]] const KeyName& key() const { return key_; }

  // The values as a message, behind those in `messages`. False: the call fails.
  [[nodiscard]] bool Encode(std::span<const Value> values, MessageList* messages) {
    if (values.empty()) {
      error_ = Error(Status::kMisuse, "a message needs at least one value");
    } else if (values[0].is_nil()) {
      error_ = Error(Status::kMisuse, "the first value of a message must not be nil");
    }
    if (!*this) return false;
    MessagePtr message = embed::EncodeValues(values, gate(), &error_);
    if (message == nullptr) return false;
    messages->PushBack(std::move(message));
    return true;
  }

 private:
  Entry entry_;
  KeyName key_ = KeyName::Boolean(false);
  Error error_;
};

Result<void> Done(core::Status status) {
  if (status == core::Status::kOk) return {};
  if (status == core::Status::kPending) return embed::NoWaitHere();
  return ErrorOf(status);
}

// The values of a received message. What there is no memory for goes back.
Result<Values> Deliver(const Call& call, const KeyName& key, MessageList& messages) {
  Result<Values> values = embed::DecodeValues(*messages.front(), call.gate());
  if (values == Status::kNoMemory) call.channel().PutBack(key, messages);
  return values;
}

}  // namespace

Error Channel::error() const noexcept {
  return cell() == nullptr ? Error(Status::kMisuse, "this handle stands for no channel")
                           : cell()->error();
}

std::uint64_t Channel::id() const noexcept {
  const Call call(*this);
  return call ? call.channel().id() : 0;
}

std::string Channel::name() const {
  const Call call(*this);
  return call ? call.channel().name() : std::string();
}

// Sending -----------------------------------------------------------------------------------------

Result<void> Channel::SendValues(Timeout timeout, const Key& key,
                                 std::span<const Value> values) const noexcept {
  Call call(*this, key, timeout);
  MessageList messages;
  if (!call || !call.Encode(values, &messages)) return call.error();
  return Done(embed::SendOrWait(call.gate(), call.channel(), call.key(), messages, timeout));
}

Result<void> Channel::TrySendValues(const Key& key, std::span<const Value> values) const noexcept {
  Call call(*this, key);
  MessageList messages;
  if (!call || !call.Encode(values, &messages)) return call.error();
  return Done(call.channel().Send(call.key(), messages));
}

Result<void> Channel::SendBatch(const Key& key, std::span<const Value> list,
                                Timeout timeout) const noexcept {
  Call call(*this, key, timeout);
  if (!call) return call.error();
  if (list.empty()) return {};
  if (list.size() > call.channel().Limit(call.key())) {
    return Error(Status::kMisuse, "the list is longer than the limit of the key");
  }
  MessageList messages;
  for (const Value& value : list) {
    if (!call.Encode({&value, 1}, &messages)) return call.error();
  }
  return Done(embed::SendOrWait(call.gate(), call.channel(), call.key(), messages, timeout));
}

// Receiving ---------------------------------------------------------------------------------------

Result<Values> Channel::Receive(const Key& key, Timeout timeout) const noexcept {
  const Call call(*this, key, timeout);
  if (!call) return call.error();
  MessageList messages;
  core::WaitNode node;
  std::uint32_t index = 0;
  const core::Status status = embed::ReceiveOrWait(call.gate(), call.channel(), {&call.key(), 1},
                                                   {&node, 1}, 1, timeout, &messages, &index);
  if (status != core::Status::kOk) return Done(status).error();
  return Deliver(call, call.key(), messages);
}

Result<Values> Channel::TryReceive(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  MessageList messages;
  const core::Status status = call.channel().Receive(call.key(), 1, 1, &messages);
  if (status != core::Status::kOk) return ErrorOf(status);
  return Deliver(call, call.key(), messages);
}

Result<KeyedValues> Channel::ReceiveAny(std::span<const Key> keys, Timeout timeout) const noexcept {
  if (keys.empty()) return Error(Status::kMisuse, "the list of keys is empty");
  const Call call(*this, keys[0], timeout);
  if (!call) return call.error();
  std::vector<KeyName> names;
  std::unique_ptr<core::WaitNode[]> nodes;
  Error error;
  const bool enough = core::EnoughMemory([&] {
    names.assign(keys.size(), call.key());
    nodes = std::make_unique<core::WaitNode[]>(keys.size());
    for (std::size_t i = 0; i < keys.size() && error.status() == Status::kOk; ++i) {
      error = embed::ToKeyName(keys[i], call.gate(), &names[i]);
    }
  });
  if (!enough) return Status::kNoMemory;
  if (error.status() != Status::kOk) return error;
  MessageList messages;
  std::uint32_t index = 0;
  const core::Status status =
      embed::ReceiveOrWait(call.gate(), call.channel(), names, {nodes.get(), keys.size()}, 1,
                           timeout, &messages, &index);
  if (status != core::Status::kOk) return Done(status).error();
  Result<Values> values = Deliver(call, names[index], messages);
  if (!values) return values.error();
  return KeyedValues{index, std::move(*values)};
}

Result<std::vector<Values>> Channel::ReceiveBatch(const Key& key, std::uint32_t max,
                                                  Timeout timeout) const noexcept {
  const Call call(*this, key, timeout);
  if (!call) return call.error();
  if (max == 0) return Error(Status::kMisuse, "a batch is of at least one message");
  MessageList messages;
  core::WaitNode node;
  std::uint32_t index = 0;
  const core::Status status = embed::ReceiveOrWait(call.gate(), call.channel(), {&call.key(), 1},
                                                   {&node, 1}, max, timeout, &messages, &index);
  if (status != core::Status::kOk) return Done(status).error();
  // All or none, so that what there is no memory for can go back whole.
  std::vector<Values> all;
  Error error;
  const bool enough = core::EnoughMemory([&] {
    all.reserve(messages.count());
    for (const Message* message = messages.front(); message != nullptr;
         message = MessageList::Next(*message)) {
      Result<Values> values = embed::DecodeValues(*message, call.gate());
      if (values == Status::kNoMemory) throw std::bad_alloc();
      if (values) all.push_back(std::move(*values));
    }
  });
  if (enough) return all;
  call.channel().PutBack(call.key(), messages);
  return Status::kNoMemory;
}

// A key as a variable -----------------------------------------------------------------------------

Result<void> Channel::SetValues(const Key& key, std::span<const Value> values) const noexcept {
  Call call(*this, key);
  MessageList messages;
  if (!call || (!values.empty() && !call.Encode(values, &messages))) return call.error();
  return Done(call.channel().Replace(call.key(), messages));
}

Result<void> Channel::AddValues(const Key& key, std::span<const Value> values) const noexcept {
  Call call(*this, key);
  MessageList messages;
  if (!call || !call.Encode(values, &messages)) return call.error();
  return Done(call.channel().SendIfEmpty(call.key(), messages));
}

Result<Values> Channel::Get(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  bool found = false;
  MessagePtr copy;
  bool enough = core::EnoughMemory([&] {
    call.channel().Peek(call.key(), 1, [&](const Message& message) {
      found = true;
      copy = Message::New(message.bytes(), message.references());
    });
  });
  if (!found && enough) return Status::kEmpty;
  if (copy == nullptr) return Status::kNoMemory;
  return embed::DecodeValues(*copy, call.gate());
}

// NOLINTNEXTLINE(bugprone-exception-escape): numbers take no memory
Result<Value> Channel::Incr(const Key& key, const Value& by, Timeout ttl) const noexcept {
  const Call call(*this, key, ttl);
  if (!call) return call.error();
  core::Number number;
  if (by.kind() == Value::Kind::kInteger) {
    number = *by.get<std::int64_t>();
  } else if (by.kind() == Value::Kind::kNumber) {
    number = *by.get<double>();
  } else {
    return Error(Status::kMisuse, "only a number can be added");
  }
  const core::TimePoint expiry = ttl.time() == core::Duration::max()
                                     ? core::kNever
                                     : core::DeadlineAfter(call.machine().clock.Now(), ttl.time());
  core::Number sum;
  std::uint32_t generation = 0;
  const core::Status status =
      call.channel().Increment(call.key(), number, expiry, &sum, &generation);
  if (status != core::Status::kOk) return ErrorOf(status);
  if (generation != 0) {
    call.machine().expiries.Arm(call.channel(), call.key(), expiry, generation);
    call.machine().scheduler.DeadlineArmed(expiry);
  }
  if (const auto* const integer = std::get_if<std::int64_t>(&sum)) return Value(*integer);
  return Value(*std::get_if<double>(&sum));
}

Result<void> Channel::Expire(const Key& key, Timeout time) const noexcept {
  const Call call(*this, key, time);
  if (!call) return call.error();
  const core::TimePoint expiry = time.time() == core::Duration::max()
                                     ? core::kNever
                                     : core::DeadlineAfter(call.machine().clock.Now(), time.time());
  std::uint32_t generation = 0;
  const core::Status status = call.channel().Expire(call.key(), expiry, &generation);
  if (status == core::Status::kOk && generation != 0) {
    call.machine().expiries.Arm(call.channel(), call.key(), expiry, generation);
    call.machine().scheduler.DeadlineArmed(expiry);
  }
  return Done(status);
}

Result<std::chrono::nanoseconds> Channel::Ttl(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  const core::TimePoint expiry = call.channel().ExpiryOf(call.key());
  if (expiry == core::kNever) return Status::kNotFound;
  return std::max(expiry - call.machine().clock.Now(), core::Duration::zero());
}

Result<std::size_t> Channel::Count(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  return call.channel().Count(call.key());
}

Result<std::vector<Value>> Channel::Keys() const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  std::vector<Value> keys;
  const bool enough = core::EnoughMemory([&] {
    for (const core::StoredKeyName& name : call.channel().Keys()) {
      keys.push_back(embed::FromKeyName(name.view(), call.gate()));
    }
  });
  if (!enough) return Status::kNoMemory;
  return keys;
}

Result<std::uint64_t> Channel::Limit(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  return call.channel().Limit(call.key());
}

Result<std::uint64_t> Channel::SetLimit(const Key& key, std::uint64_t limit) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  return call.channel().SetLimit(call.key(), limit);
}

Result<void> Channel::Close() const noexcept {
  const Call call(*this);
  if (!call) return call.error();
  call.channel().Close();
  return {};
}

Result<void> Channel::Close(const Key& key) const noexcept {
  const Call call(*this, key);
  if (!call) return call.error();
  call.channel().CloseKey(call.key());
  return {};
}

}  // namespace shoal
