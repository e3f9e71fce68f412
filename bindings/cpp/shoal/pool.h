// SPDX-License-Identifier: MIT
/// \file
/// Pool is a set of processes that have loaded a script once, and are called again and again.
#pragma once

#include <shoal/channel.h>
#include <shoal/future.h>
#include <shoal/handle.h>
#include <shoal/key.h>
#include <shoal/result.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal {

/// What a pool is made with: Runtime::MakePool.
struct PoolOptions {
  /// No limit.
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  /// What each process runs first: a file of Lua. A table that it returns holds what is called by
  /// name; globals can be called, too.
  std::string file = {};
  /// The same as Lua source, in place of a file.
  std::string body = {};
  /// How many processes; 0: as many as the runtime has workers.
  int size = 0;
  /// How many calls a process works at at one time, in tasks: for calls that wait.
  int tasks = 1;
  /// How many calls may wait for a process. At the limit, who calls waits; at 0, until a process
  /// takes the call.
  std::uint64_t limit = kNoLimit;
  /// There is one pool of a name in a runtime: the second MakePool returns the first one's. Empty:
  /// it has none.
  std::string name = {};
  /// Globals of each process.
  Table env = {};
  /// The libraries that they have, "string", "shoal", …; nothing: all.
  std::optional<std::vector<std::string>> libs = std::nullopt;
  /// The channels that they may open by name; nothing: all, or, with `libs`, none.
  std::optional<std::vector<std::string>> channels = std::nullopt;
  /// Bytes of the Lua state of each process; 0: no limit.
  std::size_t memory_limit = 0;
  /// What the turns of a process may take in all; 0: no limit. (One that is at its limit is
  /// replaced.)
  std::chrono::nanoseconds cpu_limit{0};
  /// Bytes of what a process sends or returns; 0: no limit.
  std::size_t message_limit = 0;
  /// Of math.random in the first process; the others have the next numbers. Nothing: from chance.
  std::optional<std::int64_t> seed = std::nullopt;
};

/// A set of processes that have loaded a script once, and are called again and again, from
/// everywhere. One that dies is replaced.
///
///     shoal::Pool pool = runtime.MakePool({.file = "handler.lua", .size = 4});
///     shoal::Result<shoal::Values> row = pool.Call("handle_job", {17});
///     if (row) std::cout << row->get<std::string>(0).value_or("not found") << '\n';
///
/// What is called, `f`, is the name of a function, with dots for fields ("string.rep"); or one that
/// has come from Lua (an Opaque), which is copied with each call.
///
/// Errors of all calls: kError (what the function raised, or its process died of), kCancelled,
/// kClosed (the pool or its runtime has ended), kMisuse (`f` or a value cannot be called or sent;
/// the call would wait on a worker, outside of Blocking), kNoMemory.
///
/// Threads: as of Handle. Calls wait on the thread that makes them.
class Pool : public Handle {
 public:
  /// None.
  Pool() noexcept = default;
  /// The pool that `handle` stands for, if it does.
  explicit Pool(Handle handle) noexcept : Handle(std::move(handle)) {}
  /// For Value::get.
  [[nodiscard]] static bool Accepts(Kind kind) noexcept { return kind == Kind::kPool; }

  /// Why there is none: kMisuse (an option), kError (the script cannot be read or has a syntax
  /// error), …; kOk if there is one.
  [[nodiscard]] Error error() const noexcept;
  /// How many processes; 0: there is none, or its runtime has ended.
  [[nodiscard]] int size() const noexcept;

  /// Calls `f` in one of the processes with these arguments, and waits for its results. One
  /// argument that is a Values stands for those in it, and so does a list in braces.
  template <class... T>
  Result<Values> Call(const Value& f, T&&... arguments) const noexcept {
    return CallFor(kForever, f, std::forward<T>(arguments)...);
  }
  /// The same.
  Result<Values> Call(const Value& f, std::initializer_list<Value> arguments) const noexcept {
    return CallValues(kForever, nullptr, f, {arguments.begin(), arguments.size()});
  }
  /// The same for at most `timeout`, from the call on: then the call is cancelled, and the result
  /// is kTimeout.
  template <class... T>
  Result<Values> CallFor(Timeout timeout, const Value& f, T&&... arguments) const noexcept {
    return embed::WithValues(
        [&](std::span<const Value> all) { return CallValues(timeout, nullptr, f, all); },
        std::forward<T>(arguments)...);
  }
  /// The same.
  Result<Values> CallFor(Timeout timeout, const Value& f,
                         std::initializer_list<Value> arguments) const noexcept {
    return CallValues(timeout, nullptr, f, {arguments.begin(), arguments.size()});
  }
  /// The same as Call. Calls with equal keys are made in one process, in their order, one at a
  /// time; with several tasks, beside its other calls.
  template <class... T>
  Result<Values> CallOn(const Key& key, const Value& f, T&&... arguments) const noexcept {
    return embed::WithValues(
        [&](std::span<const Value> all) { return CallValues(kForever, &key, f, all); },
        std::forward<T>(arguments)...);
  }
  /// The same.
  Result<Values> CallOn(const Key& key, const Value& f,
                        std::initializer_list<Value> arguments) const noexcept {
    return CallValues(kForever, &key, f, {arguments.begin(), arguments.size()});
  }
  /// Makes a call, and does not wait for its results. (At the limit it waits for room; on a worker,
  /// that is misuse.)
  template <class... T>
  [[nodiscard]] Future Async(const Value& f, T&&... arguments) const noexcept {
    return embed::WithValues(
        [&](std::span<const Value> all) { return AsyncValues(kForever, f, all); },
        std::forward<T>(arguments)...);
  }
  /// The same.
  [[nodiscard]] Future Async(const Value& f,
                             std::initializer_list<Value> arguments) const noexcept {
    return AsyncValues(kForever, f, {arguments.begin(), arguments.size()});
  }
  /// The same, but never waits: kFull at the limit. Allowed on all threads.
  template <class... T>
  [[nodiscard]] Future TryAsync(const Value& f, T&&... arguments) const noexcept {
    return embed::WithValues(
        [&](std::span<const Value> all) { return AsyncValues(kNoWait, f, all); },
        std::forward<T>(arguments)...);
  }
  /// The same.
  [[nodiscard]] Future TryAsync(const Value& f,
                                std::initializer_list<Value> arguments) const noexcept {
    return AsyncValues(kNoWait, f, {arguments.begin(), arguments.size()});
  }

  /// Calls `f(item, index)` for each item of the list, the first of which has the index 1, and
  /// returns the first results in the order of the items. Of several errors, that of the first item
  /// counts; "item 17: " stands before its message. Then, and when the time is over (kTimeout), the
  /// calls that are under way are cancelled. Each item is a call of its own.
  Result<Values> Map(const Value& f, std::span<const Value> list,
                     Timeout timeout = kForever) const noexcept;

  /// The processes run the script anew, which is read again if it is a file; each when it has
  /// answered the calls that it works at. Calls that are made afterwards see the new one, and no
  /// call is lost. kError: the file cannot be read or has a syntax error; then nothing changes.
  Result<void> Reload() const noexcept;

  /// No more calls; those that have been made are still answered, and their end is waited for.
  /// kTimeout: they are cancelled, and the pool ends. May be called again.
  Result<void> Close(Timeout timeout = kForever) const noexcept;

 private:
  static constexpr std::chrono::nanoseconds kNoWait{0};

  // `key`: null for any process.
  Result<Values> CallValues(Timeout timeout, const Key* key, const Value& f,
                            std::span<const Value> arguments) const noexcept;
  Future AsyncValues(Timeout timeout, const Value& f,
                     std::span<const Value> arguments) const noexcept;
};

}  // namespace shoal

/// Pools may be keys of unordered containers.
template <>
struct std::hash<shoal::Pool> : std::hash<shoal::Handle> {};
