// SPDX-License-Identifier: MIT
/// \file
/// After and Every send a message at a time, or again and again.
#pragma once

#include <shoal/channel.h>
#include <shoal/handle.h>
#include <shoal/key.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/value.h>

#include <span>
#include <utility>

namespace shoal {

/// A message that will be sent, or is sent again and again. To drop a Timer does not end it.
///
/// Threads: any thread may call any member.
class Timer {
 public:
  /// None.
  Timer() noexcept = default;
  /// Nothing more is sent; what was sent before may still stand there. False: there is nothing left
  /// to be sent, or the runtime has ended.
  bool Cancel() const noexcept;

  /// For the library.
  explicit Timer(Handle timer) noexcept : timer_(std::move(timer)) {}

 private:
  Handle timer_;
};

namespace embed {
Result<Timer> StartTimer(Timeout time, bool again, const Channel& channel, const Key& key,
                         std::span<const Value> values) noexcept;
}  // namespace embed

/// Sends the message once, when this time is over. It takes no notice of the limit of the key.
/// kMisuse, kClosed (the runtime), kNoMemory. With `workers = 0`, it is sent in RunFor.
///
/// Threads: any; does not wait.
template <class... T>
Result<Timer> After(Timeout time, const Channel& channel, const Key& key, T&&... values) noexcept {
  return embed::WithValues(
      [&](std::span<const Value> all) { return embed::StartTimer(time, false, channel, key, all); },
      std::forward<T>(values)...);
}

/// Sends the message each time that this period is over, until it is cancelled, or the channel is
/// closed, or nobody else refers to it. A beat is left out while the last one stands there.
/// Otherwise as After.
template <class... T>
Result<Timer> Every(Timeout period, const Channel& channel, const Key& key,
                    T&&... values) noexcept {
  return embed::WithValues(
      [&](std::span<const Value> all) {
        return embed::StartTimer(period, true, channel, key, all);
      },
      std::forward<T>(values)...);
}

}  // namespace shoal
