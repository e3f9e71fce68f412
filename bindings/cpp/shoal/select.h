// SPDX-License-Identifier: MIT
/// \file
/// Select makes one of several cases happen.
#pragma once

#include <shoal/channel.h>
#include <shoal/future.h>
#include <shoal/key.h>
#include <shoal/process.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace shoal {

/// One of several things of which Select makes one happen.
///
/// It looks at its key, as a Key does, so it is for arguments of calls.
class Case {
 public:
  /// A message is received: its values.
  [[nodiscard]] static Case Receive(Channel channel, const Key& key) {
    return Case(Kind::kReceive, std::move(channel), key, {});
  }
  /// A message of these values is sent: no values. One argument that is a Values stands for those
  /// in it.
  template <class... T>
  [[nodiscard]] static Case Send(Channel channel, const Key& key, T&&... values) {
    if constexpr (sizeof...(T) == 1 && (std::same_as<std::remove_cvref_t<T>, Values> && ...)) {
      return Case(Kind::kSend, std::move(channel), key, Values(values...));
    } else {
      return Case(Kind::kSend, std::move(channel), key, Values::Of(std::forward<T>(values)...));
    }
  }
  /// A process ends: as Process::Join.
  [[nodiscard]] static Case End(Process process) {
    return Case(Kind::kProcess, std::move(process), Key(false), {});
  }
  /// A call of a pool ends: as Future::Join.
  [[nodiscard]] static Case End(const Future& future) {
    return Case(Kind::kCall, future.call(), Key(false), {});
  }

  /// For the library: what it is.
  enum class Kind : std::uint8_t { kReceive, kSend, kProcess, kCall };
  /// For the library.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// For the library.
  [[nodiscard]] const Handle& handle() const noexcept { return handle_; }
  /// For the library.
  [[nodiscard]] const Key& key() const noexcept { return key_; }
  /// For the library.
  [[nodiscard]] const Values& values() const noexcept { return values_; }

 private:
  Case(Kind kind, Handle handle, const Key& key, Values values)
      : kind_(kind), handle_(std::move(handle)), key_(key), values_(std::move(values)) {}

  Kind kind_;
  Handle handle_;
  Key key_;
  Values values_;
};

/// Which case has happened.
struct Selected {
  std::size_t index;      ///< Its place in the list, from 0.
  Result<Values> result;  ///< What its own call would return: kClosed, too, of its channel.
};

/// Makes one of the cases happen: the first in the list that is ready, or else the first that
/// becomes ready.
///
///     const auto selected = shoal::Select({shoal::Case::Receive(jobs, "job"),
///                                          shoal::Case::Send(log, "line", text),
///                                          shoal::Case::End(process)}, 1s);
///     if (selected && selected->index == 0) Do(*selected->result);
///
/// kTimeout: none has happened; kMisuse: what is wrong with which case, or there is none; kClosed:
/// the runtime has ended; kNoMemory.
///
/// Threads: any; on one that runs a process, what would wait is kMisuse, but in a Blocking section.
[[nodiscard]] Result<Selected> Select(std::span<const Case> cases,
                                      Timeout timeout = kForever) noexcept;
/// The same.
[[nodiscard]] inline Result<Selected> Select(std::initializer_list<Case> cases,
                                             Timeout timeout = kForever) noexcept {
  return Select(std::span<const Case>(cases.begin(), cases.size()), timeout);
}

}  // namespace shoal
