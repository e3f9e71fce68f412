// SPDX-License-Identifier: MIT
/// \file
/// Options are what a runtime is given when it is made.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace shoal {

/// How important a report is. The larger, the less.
enum class LogLevel : std::uint8_t { kOff, kError, kWarning, kNotice };

/// Takes reports for people: errors of processes that nobody joined, deadlocks. Lines are separated
/// by '\n', the last one has none. Called on any thread, several at once; it must not use the
/// runtime, and what it throws is dropped.
using LogFunction = std::function<void(LogLevel level, std::string_view text)>;

/// Whether the state of a new process is a copy of one in which the libraries have been opened,
/// which takes a fraction of the time. Scripts do not see the difference, but that the hash seeds
/// of their strings are the same.
enum class StateImages : std::uint8_t {
  kOff,        ///< never
  kForMany,    ///< from the 16th process with the same libraries on
  kFromFirst,  ///< from the first one on, which takes longer
};

/// What a runtime is given when it is made.
struct Options {
  /// One worker for each core that the program may use.
  static constexpr int kOneForEachCore = -1;
  /// No limit.
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  /// How many threads run Lua at a time, up to 1024. 0: none of the runtime's own; processes run
  /// while some thread of the program is in Runtime::RunFor.
  int workers = kOneForEachCore;
  /// How many messages may stand under a key of a channel that is made without a limit of its own.
  std::uint64_t channel_limit = kNoLimit;
  /// Bytes that may stand in all channels together; 0: a quarter of the machine's memory.
  std::size_t queue_memory = 0;
  /// Threads that may be blocked in waits that Lua cannot suspend, at one time.
  int max_blocked_threads = 256;
  /// Threads for calls that must block, such as looking up names in the network.
  int max_blocking_threads = 64;
  /// Sent to a thread of the runtime whose process has run for too long while others wait. Its
  /// handler stays installed when the runtime has ended; on other threads, it calls the one that
  /// was there before. 0: no signals; then Lua code counts its instructions, which makes tight
  /// loops half as fast, and nothing interrupts C functions.
  int signal = SIGURG;
  /// Of all chance, such as math.random in the processes. Nothing: from the system.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// How new processes get their libraries.
  StateImages state_images = StateImages::kForMany;
  /// Where reports go; nothing: to stderr, with "shoal: " in front.
  LogFunction log = nullptr;
  /// The least important reports that are made.
  LogLevel log_level = LogLevel::kWarning;
  /// How long processes have, at the end of the runtime, to clean up.
  std::chrono::nanoseconds shutdown_timeout = std::chrono::seconds(2);
};

}  // namespace shoal
