// SPDX-License-Identifier: MIT
#include <shoal/pool.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "bindings/cpp/host_wait.h"
#include "bindings/cpp/outcome.h"
#include "runtime/base/clock.h"
#include "runtime/base/enough_memory.h"

namespace shoal {

namespace {

// Calls that are under way, for each process: those that it works at, and one for it to take then.
constexpr std::size_t kAhead = 2;

// The same error, of the item at `index`.
Error OfItem(std::size_t index, const Error& error) {
  if (error.status() == Status::kTimeout || error.status() == Status::kNoMemory) return error;
  const std::string text =
      "item " + std::to_string(index + 1) + ": " + std::string(error.message());
  if (error.status() != Status::kError) return Error(error.status(), text);
  const bool is_text = error.value().kind() == Value::Kind::kString;
  return Error(is_text ? Value(text) : error.value(), text, error.traceback());
}

// The calls of a map that have not been joined.
class Calls {
 public:
  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    for (const Future& future : futures_) future.Cancel();
  }
  void Add(Future future) { futures_.push_back(std::move(future)); }
  [[nodiscard]] std::size_t size() const { return futures_.size(); }
  Result<Values> JoinFirst(Timeout timeout) {
    Result<Values> results = futures_.front().Join(timeout);
    if (results != Status::kTimeout) futures_.pop_front();
    return results;
  }

 private:
  std::deque<Future> futures_;
};

// What is left of the time.
Timeout Left(core::TimePoint deadline) {
  if (deadline == core::kNever) return kForever;
  return std::max(deadline - core::SteadyClock().Now(), core::Duration::zero());
}

// Makes a call of an item and its index, and waits as long for room.
using Start = std::function<Future(Timeout timeout, std::span<const Value> arguments)>;

Result<Values> MapIn(std::size_t most, const Start& start, std::span<const Value> list,
                     core::TimePoint deadline) {
  Calls calls;
  Values results;
  for (std::size_t sent = 0; results.size() < list.size();) {
    for (; sent < list.size() && calls.size() < most; ++sent) {
      // While calls are under way, there will be room when they have ended.
      const bool waits = calls.size() == 0;
      const Value arguments[] = {list[sent], sent + 1};
      Future future = start(waits ? Left(deadline) : Timeout(core::Duration::zero()), arguments);
      const Error error = future.error();
      if (error.status() == Status::kFull) {
        if (waits) return Status::kTimeout;
        break;
      }
      if (error.status() != Status::kOk) return OfItem(sent, error);
      calls.Add(std::move(future));
    }
    // The first one that is left is that of the next result.
    const Result<Values> one = calls.JoinFirst(Left(deadline));
    if (!one) return OfItem(results.size(), one.error());
    results.Append((*one)[0]);
  }
  return results;
}

}  // namespace

Result<Values> Pool::Map(const Value& f, std::span<const Value> list,
                         Timeout timeout) const noexcept {
  Error wrong = embed::CheckTimeout(timeout);
  if (wrong.status() == Status::kOk) wrong = error();
  if (wrong.status() != Status::kOk) return wrong;
  if (!embed::HostWait::IsAllowedHere()) return embed::NoWaitHere();
  const core::TimePoint deadline = embed::DeadlineOf(timeout);
  Result<Values> results = Status::kNoMemory;
  static_cast<void>(core::EnoughMemory([&] {
    const std::size_t most = kAhead * static_cast<std::size_t>(std::max(size(), 1));
    const Start start = [&](Timeout room, std::span<const Value> arguments) {
      return AsyncValues(room, f, arguments);
    };
    results = MapIn(most, start, list, deadline);
  }));
  return results;
}

}  // namespace shoal
