// SPDX-License-Identifier: MIT
/// \file
/// Future is a call of a pool that has been made: what comes of it, and when.
#pragma once

#include <shoal/awaiter.h>
#include <shoal/handle.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <chrono>
#include <cstdint>
#include <utility>

namespace shoal {

/// A call of a Pool. Copies are the same call.
///
///     shoal::Future future = pool.Async("resize", {"a.png", 640});
///     shoal::Result<shoal::Values> resized = future.Join(2s);
///     if (resized == shoal::Status::kTimeout) future.Cancel();
///
/// A call goes on, whoever drops its Future. When the runtime ends, so does the call.
///
/// It cannot be sent: who is to have the results gets them by a message.
///
/// Threads: any thread may call any const member, also of copies that others use.
class Future {
 public:
  /// Where a call has come to.
  enum class State : std::uint8_t {
    kNone,       ///< There is no call: see error().
    kReady,      ///< It waits for a process.
    kRunning,    ///< A process runs it.
    kDone,       ///< It has returned.
    kError,      ///< It has failed, or the pool has been closed.
    kCancelled,  ///< It has been cancelled.
    kEnded,      ///< Its runtime has ended: what came of it is not known any more.
  };
  /// Takes what comes of a call.
  using Callback = ResultCallback;

  /// No call.
  Future() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): an error is returned as what comes of a call.
  /// No call, because of this.
  Future(Error error) noexcept;
  /// The same.
  Future(Status status) noexcept : Future(Error(status)) {}
  // NOLINTEND(google-explicit-constructor)

  /// Both are the same call, or both none.
  friend bool operator==(const Future& a, const Future& b) noexcept = default;
  /// Why there is no call: kMisuse, kClosed (the pool), kFull, …; kOk if there is one.
  [[nodiscard]] Error error() const noexcept;
  /// May be out of date when it is read, unless the call has ended.
  [[nodiscard]] State state() const noexcept;

  /// Waits for the end of the call. The results; kError (what it raised, or that its process has
  /// died of), kCancelled, kClosed (nobody will make it any more: the pool or the runtime has
  /// ended), kTimeout (it goes on; ask again). For each who asks, as often as he likes.
  Result<Values> Join(Timeout timeout = kForever) const noexcept;

  /// Asks the call to end. If no process has taken it, it is never made; else it is cancelled in
  /// its task, also in a loop, and has `cleanup` to run what is to be closed. Returns at once.
  void Cancel(Timeout cleanup = std::chrono::seconds(5)) const noexcept;

  /// Calls `callback` once, with what Join would return without a timeout: when the call ends, on
  /// the thread on which it does; mostly a worker; that of a Cancel, of the end of the runtime. If
  /// it has ended, or there is none, at once, here.
  ///
  /// A callback must be quick, and must not wait: it holds up a worker. What it throws is dropped.
  /// kNoMemory: it will not be called.
  Status OnDone(Callback callback) const noexcept;

  /// `co_await future`: what Join would return. The coroutine is resumed as a callback is called,
  /// so it goes on, mostly, on a worker, and the same holds for it up to its next suspension.
  [[nodiscard]] Awaiter<Future> operator co_await() const noexcept;

  /// For the library: what stands for the call, or says why there is none.
  [[nodiscard]] const Handle& call() const noexcept { return call_; }
  /// For the library.
  explicit Future(Handle call) noexcept : call_(std::move(call)) {}

 private:
  Handle call_;
};

inline Awaiter<Future> Future::operator co_await() const noexcept { return Awaiter<Future>(*this); }

}  // namespace shoal
