// SPDX-License-Identifier: MIT
/// \file
/// Awaiter is what `co_await` of a Future or a Process waits with.
#pragma once

#include <shoal/result.h>
#include <shoal/values.h>

#include <atomic>
#include <coroutine>
#include <functional>
#include <optional>
#include <utility>

namespace shoal {

/// Takes what comes of a call, or of a process.
using ResultCallback = std::function<void(Result<Values>)>;

/// What `co_await` waits with. `Source` is a Future or a Process: its OnDone says when it has
/// ended.
///
/// Threads: the coroutine's.
template <class Source>
class Awaiter {
 public:
  /// For `co_await`.
  explicit Awaiter(Source source) noexcept : source_(std::move(source)) {}
  /// For the language.
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  /// For the language. False: it goes on at once.
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    const Status status = source_.OnDone([this](Result<Values> result) {
      result_.emplace(std::move(result));
      // If the suspension is through, this resumes it; else whoever suspends does not. Either way
      // the other one does not touch the awaiter after its exchange: it may be gone.
      if (phase_.exchange(kDone) == kSuspended) waiting_.resume();
    });
    if (status != Status::kOk) {
      result_.emplace(status);
      return false;
    }
    return phase_.exchange(kSuspended) != kDone;
  }
  /// For the language.
  Result<Values> await_resume() noexcept { return *std::move(result_); }

 private:
  enum Phase : int { kBegun, kSuspended, kDone };
  Source source_;
  std::coroutine_handle<> waiting_;
  std::optional<Result<Values>> result_;
  std::atomic<int> phase_ = kBegun;  // publishes the result to who does not resume
};

}  // namespace shoal
