// SPDX-License-Identifier: MIT
/// \file
/// Poster sends messages from threads that must never wait.
#pragma once

#include <shoal/channel.h>
#include <shoal/key.h>
#include <shoal/value.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace shoal {

namespace embed {
class PosterState;
}  // namespace embed

/// Sends messages under one key of one channel from a thread that must never wait: an audio
/// callback, the thread of a user interface, an I/O callback.
///
///     shoal::Poster levels(channel, "level");
///     levels.Post(left, right);  // each 5 ms, on the audio thread
///
/// A Post takes no lock and waits for nothing. It writes the message into memory that the Poster
/// has ready, leaves it to a thread of the runtime to put it into the channel, and, if all of those
/// are asleep, makes one system call to wake one. Messages of one Poster arrive in their order.
/// They take no notice of the limit of the key.
///
/// Of memory, a Post needs none while fewer messages than the Poster has places are on their way,
/// each of at most 110 bytes of booleans, numbers and strings. (A string of more than 15 bytes is
/// memory of the caller.) What goes beyond is allocated.
///
/// A Poster may outlive its runtime. Then a Post does nothing.
///
/// Threads: one at a time. Each thread that posts has a Poster of its own.
class Poster {
 public:
  /// How many messages may be on their way without memory being allocated.
  static constexpr std::size_t kDefaultPlaces = 64;

  /// Of nothing: a Post does nothing.
  Poster() noexcept = default;
  /// Of that key, which is copied. If that fails, error() says why: as of Channel's calls.
  Poster(const Channel& channel, const Key& key, std::size_t places = kDefaultPlaces) noexcept;
  /// Takes over what the other one posts to; that one is of nothing then.
  Poster(Poster&& other) noexcept;
  /// The same.
  Poster& operator=(Poster&& other) noexcept;
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;
  /// What is on its way arrives all the same.
  ~Poster();

  /// Why it is one of nothing; kOk if it is not.
  [[nodiscard]] const Error& error() const noexcept { return error_; }

  /// Sends a message of these values. What cannot be sent (the first value is nil, a handle of
  /// another runtime, no memory) is counted in lost(). So is what comes when the channel has been
  /// closed.
  template <class... T>
  void Post(T&&... values) noexcept {
    const Result<void> posted = embed::WithValues(
        [this](std::span<const Value> all) -> Result<void> {
          PostValues(all);
          return {};
        },
        std::forward<T>(values)...);
    if (!posted) PostValues({});
  }

  /// How many messages have been lost.
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  void PostValues(std::span<const Value> values) noexcept;

  embed::PosterState* state_ = nullptr;
  Error error_;
};

}  // namespace shoal
