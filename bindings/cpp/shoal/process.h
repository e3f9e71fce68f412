// SPDX-License-Identifier: MIT
/// \file
/// Process is one Lua state with its tasks, which runs beside others.
#pragma once

#include <shoal/awaiter.h>
#include <shoal/channel.h>
#include <shoal/handle.h>
#include <shoal/key.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shoal {

/// What a process does, or how it has ended.
enum class ProcessState : std::uint8_t {
  kReady,      ///< To run.
  kRunning,    ///< Now, or it was a moment ago.
  kWaiting,    ///< For a message, a time, …
  kDone,       ///< Has ended: its body has returned.
  kError,      ///< Has ended by an error.
  kCancelled,  ///< Has ended, because it was asked to.
};

/// What a process has used so far.
struct ProcessStats {
  std::size_t memory = 0;           ///< Bytes of its Lua state now; 0 when it has ended.
  std::chrono::nanoseconds cpu{0};  ///< Of its turns. Without a limit for it, sampled.
  std::uint64_t slices = 0;         ///< How many turns it has had.
  std::uint64_t sent = 0;           ///< Messages.
  std::uint64_t received = 0;       ///< Messages.
};

/// A promise that the end of a process will be told to a channel. It is kept also if this is
/// dropped.
///
/// Threads: any thread may call any member.
class Monitor {
 public:
  /// None.
  Monitor() noexcept = default;
  /// Takes it back. False: the message has been sent, or there is none to be sent.
  bool Cancel() const noexcept;

  /// For the library.
  Monitor(Handle process, Handle monitor) noexcept
      : process_(std::move(process)), monitor_(std::move(monitor)) {}

 private:
  Handle process_;
  Handle monitor_;
};

/// One Lua state with its tasks, which runs beside others. To drop a Process does not end it.
///
/// What each call can return besides: kClosed (the runtime has ended), kMisuse (no process),
/// kNoMemory.
///
/// Threads: any thread may call any member. A thread that waits holds up nobody but itself. On a
///          thread that runs a process, what would wait returns kMisuse, but in a Blocking section.
class Process : public Handle {
 public:
  /// No process.
  Process() noexcept = default;
  /// The process that `handle` stands for, if it does.
  explicit Process(Handle handle) noexcept : Handle(std::move(handle)) {}
  /// For Value::get.
  [[nodiscard]] static bool Accepts(Kind kind) noexcept { return kind == Kind::kProcess; }

  /// Why there is no process: Spawn has failed. A syntax error in its source is kError.
  [[nodiscard]] Error error() const noexcept;
  /// Its number, which is not used again; 0 if the runtime has ended.
  [[nodiscard]] std::uint64_t id() const noexcept;
  /// Its name; empty if it has none, or the runtime has ended.
  [[nodiscard]] std::string name() const;

  /// Waits for the end, and returns the results of the body. kError: it has raised; the Error has
  /// the value, its text and the traceback. kCancelled. kTimeout. It may be called by many, and
  /// again.
  Result<Values> Join(Timeout timeout = kForever) const noexcept;
  /// Calls `callback` once, with what Join would return without a timeout: when the process ends,
  /// on the worker on which it does; that of the end of the runtime, with kClosed; or, if it has
  /// ended, or there is none, at once, here.
  ///
  /// A callback must be quick, and must not wait: it holds up a worker. What it throws is dropped.
  /// kNoMemory, kMisuse (an empty one): it will not be called.
  Status OnDone(ResultCallback callback) const noexcept;
  /// `co_await process`: what Join would return. The coroutine is resumed as a callback is called,
  /// so it goes on, mostly, on a worker, and the same holds for it up to its next suspension.
  [[nodiscard]] Awaiter<Process> operator co_await() const noexcept;
  /// Asks the process to end: `cancelled` is raised where it waits, and `<close>` handlers run,
  /// which may wait for at most five seconds. Returns at once.
  Result<void> Cancel() const noexcept;
  /// The same, with this time for handlers; then waits so long for the end. kTimeout.
  Result<void> Cancel(Timeout timeout) const noexcept;
  /// When it ends, `id, "done" | "error" | "cancelled"` is sent to the channel, and for an error
  /// its value as the third; at once, if it has ended. The send takes no notice of limits.
  Result<Monitor> SendEndTo(const Channel& channel, const Key& key) const noexcept;
  /// What it does. Out of date when it is read, unless it has ended.
  Result<ProcessState> State() const noexcept;
  /// What it has used so far.
  Result<ProcessStats> Stats() const noexcept;
};

inline Awaiter<Process> Process::operator co_await() const noexcept {
  return Awaiter<Process>(*this);
}

}  // namespace shoal

/// Processes may be keys of unordered containers.
template <>
struct std::hash<shoal::Process> : std::hash<shoal::Handle> {};
