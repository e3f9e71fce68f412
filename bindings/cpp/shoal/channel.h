// SPDX-License-Identifier: MIT
/// \file
/// Channel is a set of message queues, one for each key.
#pragma once

#include <shoal/handle.h>
#include <shoal/key.h>
#include <shoal/options.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace shoal {

/// What a channel is given when it is made.
struct ChannelOptions {
  /// Others get the same channel by this name; empty: none.
  std::string name = {};
  /// How many messages may stand under each key: 0 for rendezvous, Options::kNoLimit for no limit.
  /// Nothing: Options::channel_limit.
  std::optional<std::uint64_t> limit = std::nullopt;
  /// How many bytes may stand in the channel as a whole; nothing: no limit. A larger message is
  /// taken when the channel is empty.
  std::optional<std::size_t> bytes = std::nullopt;
};

/// A message that was received under one of several keys.
struct KeyedValues {
  std::size_t index;  ///< Which of the keys, from 0.
  Values values;      ///< The message.
};

namespace embed {

// Calls `use` with the arguments as a span of values; one argument that is a Values stands for
// those in it. What is thrown on the way becomes a result.
template <class Use, class... T>
auto WithValues(Use&& use, T&&... arguments) noexcept -> decltype(use(std::span<const Value>())) {
  try {
    if constexpr (sizeof...(T) == 1 && (std::same_as<std::remove_cvref_t<T>, Values> && ...)) {
      return use(std::span<const Value>((arguments.vector(), ...)));
    } else if constexpr (sizeof...(T) == 0) {
      return use(std::span<const Value>());
    } else {
      const Value values[] = {Value(std::forward<T>(arguments))...};
      return use(std::span<const Value>(values));
    }
  } catch (const std::bad_alloc&) {
    return Status::kNoMemory;
  } catch (...) {
    return Error(Status::kMisuse, "a shoal::Convert has thrown an exception");
  }
}

template <class... T, std::size_t... kIndex>
Result<std::tuple<T...>> ReadAs(const Values& values, std::index_sequence<kIndex...> /*indices*/) {
  std::tuple<std::optional<T>...> read(values.get<T>(kIndex)...);
  if (!(std::get<kIndex>(read).has_value() && ...)) {
    return Error(Status::kWrongType, "the message is not of the types that were asked for");
  }
  return std::tuple<T...>(std::move(*std::get<kIndex>(read))...);
}

}  // namespace embed

/// A set of message queues, one for each key. Keys need not be made. A message is one or more
/// values, of which the first is not nil.
///
/// What each call can return besides: kClosed (the channel, the key, or the runtime), kMisuse (no
/// channel, no key, a value that cannot be sent, a handle of another runtime), kNoMemory.
///
/// Threads: any thread may call any member. A thread that waits holds up nobody but itself. On a
///          thread that runs a process (in a C function of Lua), what would wait returns kMisuse,
///          but in a Blocking section.
class Channel : public Handle {
 public:
  /// No channel.
  Channel() noexcept = default;
  /// The channel that `handle` stands for, if it does.
  explicit Channel(Handle handle) noexcept : Handle(std::move(handle)) {}
  /// For Value::get.
  [[nodiscard]] static bool Accepts(Kind kind) noexcept { return kind == Kind::kChannel; }

  /// Why there is no channel: OpenChannel has failed.
  [[nodiscard]] Error error() const noexcept;
  /// A number of the channel in its runtime; 0 if that has ended.
  [[nodiscard]] std::uint64_t id() const noexcept;
  /// Its name; empty if it has none, or the runtime has ended.
  [[nodiscard]] std::string name() const;

  /// Puts a message under the key, behind those that stand there. Waits as long as the key is at
  /// its limit. At the limit 0, it returns when the message has been received.
  template <class... T>
  Result<void> Send(const Key& key, T&&... values) const noexcept {
    return SendFor(kForever, key, std::forward<T>(values)...);
  }
  /// The same with a timeout: kTimeout.
  template <class... T>
  Result<void> SendFor(Timeout timeout, const Key& key, T&&... values) const noexcept {
    return embed::WithValues(
        [&](std::span<const Value> all) { return SendValues(timeout, key, all); },
        std::forward<T>(values)...);
  }
  /// The same without waiting for room or a receiver: kFull. It takes the lock of a part of the
  /// channel, in which a few list operations are made. (What may not even wait for that has a
  /// Poster.) Allowed on all threads.
  template <class... T>
  Result<void> TrySend(const Key& key, T&&... values) const noexcept {
    return embed::WithValues([&](std::span<const Value> all) { return TrySendValues(key, all); },
                             std::forward<T>(values)...);
  }
  /// Sends each element as a message of one value: all of them, in one piece, or none. kMisuse: the
  /// list is longer than the limit of the key, or has a nil.
  Result<void> SendBatch(const Key& key, std::span<const Value> list,
                         Timeout timeout = kForever) const noexcept;

  /// Takes the oldest message under the key. kTimeout. After Close, what was sent before is still
  /// received; kClosed means that nothing is left.
  Result<Values> Receive(const Key& key, Timeout timeout = kForever) const noexcept;
  /// The same as values of these types. kWrongType: the message, which has been taken, is of
  /// others.
  template <class... T>
  Result<std::tuple<T...>> ReceiveAs(const Key& key, Timeout timeout = kForever) const noexcept {
    Result<Values> values = Receive(key, timeout);
    if (!values) return values.error();
    try {
      return embed::ReadAs<T...>(*values, std::index_sequence_for<T...>());
    } catch (const std::bad_alloc&) {
      return Status::kNoMemory;
    } catch (...) {
      return Error(Status::kMisuse, "a shoal::Convert has thrown an exception");
    }
  }
  /// Takes the oldest message, if there is one: kEmpty. Allowed on all threads.
  Result<Values> TryReceive(const Key& key) const noexcept;
  /// Takes one message from the first of the keys under which there is one. kTimeout; kClosed: all
  /// of the keys are.
  Result<KeyedValues> ReceiveAny(std::span<const Key> keys,
                                 Timeout timeout = kForever) const noexcept;
  /// The same: `ch.ReceiveAny({"stop", "job"})`.
  Result<KeyedValues> ReceiveAny(std::initializer_list<Key> keys,
                                 Timeout timeout = kForever) const noexcept {
    return ReceiveAny(std::span<const Key>(keys.begin(), keys.size()), timeout);
  }
  /// Takes from 1 to `max` messages: waits for the first, and takes what stands behind it.
  Result<std::vector<Values>> ReceiveBatch(const Key& key, std::uint32_t max,
                                           Timeout timeout = kForever) const noexcept;

  // --- A key as a variable. These never wait, and take no notice of the limit.

  /// Replaces all that stands under the key by this message; without values, clears it.
  template <class... T>
  Result<void> Set(const Key& key, T&&... values) const noexcept {
    return embed::WithValues([&](std::span<const Value> all) { return SetValues(key, all); },
                             std::forward<T>(values)...);
  }
  /// Set, if nothing stands there: else kExists.
  template <class... T>
  Result<void> Add(const Key& key, T&&... values) const noexcept {
    return embed::WithValues([&](std::span<const Value> all) { return AddValues(key, all); },
                             std::forward<T>(values)...);
  }
  /// The oldest message, which stays there. kEmpty.
  Result<Values> Get(const Key& key) const noexcept;
  /// Adds `by`, a number, to the number that stands there, at once and in one piece, and returns
  /// the sum; nothing there counts as 0, and gets the time to live `ttl`. kNotNumber: something
  /// else stands there.
  // NOLINTNEXTLINE(bugprone-exception-escape): a number takes no memory
  Result<Value> Incr(const Key& key, const Value& by = 1, Timeout ttl = kForever) const noexcept;
  /// What stands under the key goes away after this time; kForever: it does not. kNotFound.
  Result<void> Expire(const Key& key, Timeout time) const noexcept;
  /// How long that will be. kNotFound: it does not go away, or nothing stands there.
  Result<std::chrono::nanoseconds> Ttl(const Key& key) const noexcept;
  /// How many messages stand there.
  Result<std::size_t> Count(const Key& key) const noexcept;
  /// The keys under which there are messages.
  Result<std::vector<Value>> Keys() const noexcept;
  /// The limit of the key; Options::kNoLimit: none.
  Result<std::uint64_t> Limit(const Key& key) const noexcept;
  /// Sets it; returns what it was.
  Result<std::uint64_t> SetLimit(const Key& key, std::uint64_t limit) const noexcept;

  /// Closes all keys, for ever. Who waits to send gets kClosed, and so does who waits to receive.
  /// It may be called again.
  Result<void> Close() const noexcept;
  /// The same for one key.
  Result<void> Close(const Key& key) const noexcept;

 private:
  Result<void> SendValues(Timeout timeout, const Key& key,
                          std::span<const Value> values) const noexcept;
  Result<void> TrySendValues(const Key& key, std::span<const Value> values) const noexcept;
  Result<void> SetValues(const Key& key, std::span<const Value> values) const noexcept;
  Result<void> AddValues(const Key& key, std::span<const Value> values) const noexcept;
};

}  // namespace shoal

/// Channels may be keys of unordered containers.
template <>
struct std::hash<shoal::Channel> : std::hash<shoal::Handle> {};
