// SPDX-License-Identifier: MIT
/// \file
/// Runtime is a set of workers with the processes that run on them.
#pragma once

#include <shoal/channel.h>
#include <shoal/module.h>
#include <shoal/object.h>
#include <shoal/options.h>
#include <shoal/pool.h>
#include <shoal/process.h>
#include <shoal/result.h>
#include <shoal/run.h>
#include <shoal/spawn.h>
#include <shoal/timeout.h>
#include <shoal/values.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct lua_State;

namespace shoal {

namespace embed {
struct RuntimeState;
}  // namespace embed

/// A set of workers with the processes that run on them.
///
///     shoal::Runtime runtime({.workers = 4});
///     if (!runtime) return Fail(runtime.error());
///
/// There are no singletons: two runtimes in one program do not meet, and a handle of one is misuse
/// in a call of another. A runtime may be made and destroyed often.
///
/// A child of a fork has none of the threads of its parent. In it, use no runtime that was made
/// before the fork, and do not destroy it; a new one may be made.
///
/// Threads: any thread may call any member but the destructor, for which the usual rule holds: no
///          other thread uses the Runtime itself then. (Handles may be in use.)
class Runtime {
 public:
  /// Starts with the default options.
  Runtime() noexcept;
  /// Starts. If that fails, error() says why, and all else returns that error: kMisuse (an option
  /// is out of range), kNoThread, kNoMemory.
  explicit Runtime(const Options& options) noexcept;
  /// Ends all, in this order:
  ///   1 calls return kClosed from here on; those that wait are woken, with kClosed
  ///   2 it waits until no other thread is inside a call
  ///   3 handles let go of what they stand for
  ///   4 processes are cancelled, and have Options::shutdown_timeout to clean up
  ///   5 threads end, and all memory is freed
  /// A process that does not end, since it is stuck in a C function, is left behind with its
  /// runtime, and reported.
  /// REQUIRES: not on a thread of this runtime.
  ~Runtime();
  /// Takes over the one of the other, which is none from then on.
  Runtime(Runtime&& other) noexcept;
  /// Ends the one that was there.
  Runtime& operator=(Runtime&& other) noexcept;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Whether it has started.
  [[nodiscard]] explicit operator bool() const noexcept { return error().status() == Status::kOk; }
  /// Why it has not; kOk if it has.
  [[nodiscard]] const Error& error() const noexcept;
  /// How many threads of its own run Lua at a time; 0 with Options::workers = 0, and if it has not
  /// started.
  [[nodiscard]] int workers() const noexcept;

  /// Starts a process that runs `source`, with these arguments. It returns at once. If it fails,
  /// Process::error() says why: kError (a syntax error, or no such file), kMisuse (an option, or an
  /// argument that cannot be sent), kClosed, kNoMemory; and each call of the process returns that.
  [[nodiscard]] Process Spawn(const Source& source, const Values& arguments = {}) noexcept {
    return Spawn(SpawnOptions(), source, arguments);
  }
  /// The same with options.
  [[nodiscard]] Process Spawn(const SpawnOptions& options, const Source& source,
                              const Values& arguments = {}) noexcept;
  /// Spawn of Source::File(path).
  [[nodiscard]] Process SpawnFile(std::string path, const Values& arguments = {}) noexcept {
    return Spawn(SpawnOptions(), Source::File(std::move(path)), arguments);
  }
  /// The same with options.
  [[nodiscard]] Process SpawnFile(const SpawnOptions& options, std::string path,
                                  const Values& arguments = {}) noexcept {
    return Spawn(options, Source::File(std::move(path)), arguments);
  }
  /// A process that has not ended, by its id; kNotFound.
  Result<Process> FindProcess(std::uint64_t id) noexcept;
  /// The same by its name; of several, the oldest.
  Result<Process> FindProcess(std::string_view name) noexcept;
  /// All processes that have not ended.
  Result<std::vector<Process>> Processes() noexcept;
  /// Waits until all processes that are no daemons have ended. kTimeout.
  Result<void> Wait(Timeout timeout = kForever) noexcept;

  /// The channel of that name, which is made if there is none. It lives as long as a handle, a
  /// message or a waiting task refers to it. If it fails, Channel::error() says why: kExists (it
  /// has another limit), kClosed, kNoMemory; and each call of the channel returns that.
  [[nodiscard]] Channel OpenChannel(std::string_view name) noexcept;
  /// A channel with these options; a new one, if they have no name.
  [[nodiscard]] Channel OpenChannel(const ChannelOptions& options) noexcept;
  /// A new channel without a name.
  [[nodiscard]] Channel NewChannel() noexcept { return OpenChannel(ChannelOptions()); }

  /// The pool of these options; of a name, that which is there. Its processes start at once, and
  /// load the script on their own: what goes wrong there is an error of calls. If it fails,
  /// Pool::error() says why: kError (the script cannot be read, or has a syntax error), kMisuse (an
  /// option), kClosed, kNoMemory; and each call of the pool returns that. It waits a moment, for a
  /// process in which the options are checked.
  [[nodiscard]] Pool MakePool(const PoolOptions& options) noexcept;

  // --- What the program adds for processes. Those find it that are spawned afterwards.

  /// `require(name)` calls `open` with the name, as it does with luaopen_… of a C library.
  /// kExists: there is such a module; kMisuse: the name is empty, or "shoal", or begins with
  /// "shoal."; kClosed, kNoMemory. What `open` and its functions throw must not leave them: see
  /// Guarded in `shoal/blocking.h`.
  Result<void> AddModule(std::string name, int (*open)(lua_State* L)) noexcept;
  /// `require(module.name())` brings a table with its functions and values. Outcomes as above, and
  /// kMisuse: a function is empty; kWrongType: a value is of a Lua module, which may be missing.
  Result<void> AddModule(Module module) noexcept;
  /// `require(name)` runs `source`, text or bytecode, as it does with the file of a module.
  /// Outcomes as above; errors in the source are raised by `require`.
  Result<void> AddLuaModule(std::string name, std::string source) noexcept;
  /// A global of that name: a value, of which each process gets its own copy, or a function, as of
  /// MakeFunction. One that was set before under this name is no more. Outcomes as above.
  template <class T>
  Result<void> SetGlobal(const std::string& name, T value) noexcept {
    return SetMember(name, [&value]() -> Module::Member {
      if constexpr (std::is_constructible_v<Value, T>) {
        return Value(std::move(value));
      } else {
        return MakeFunction(std::move(value));
      }
    });
  }
  /// What Lua code can do with objects of the type T: see Class. kClosed, kNoMemory.
  template <class T>
  Result<KnownClass<T>> AddClass(Class<T> known) noexcept {
    auto added = AddDraft(known.draft());
    if (!added) return added.error();
    return KnownClass<T>(std::move(*added));
  }

  // --- Options::workers = 0.

  /// Runs processes on the calling thread, for at most that time, or until none can go on. It makes
  /// no thread, and nothing runs between two calls. It returns later than `time` if a C function,
  /// or Lua code that cannot be suspended (a sort comparator, say), takes longer; at least one
  /// process has its turn, also if `time` is 0.
  ///
  /// In such a runtime, a wait in code that Lua cannot suspend is an error, and what blocks
  /// elsewhere beside the processes blocks the caller: `shoal.blocking`, Blocking, looking up
  /// names.
  ///
  /// kMisuse: the runtime has workers, or the calling thread runs a process, here or in another
  /// runtime; kClosed: the runtime ends.
  /// Threads: any, one at a time.
  Result<RunState> RunFor(std::chrono::nanoseconds time,
                          WhenIdle when_idle = WhenIdle::kReturn) noexcept;
  /// How long until a timer is due, for an engine that sleeps by itself; nothing if there is none.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> TimeToTimer() noexcept;

  /// For the library. Null: it was moved from.
  [[nodiscard]] embed::RuntimeState* state() const noexcept { return state_.get(); }
  /// For the library.
  [[nodiscard]] const std::shared_ptr<embed::RuntimeState>& shared_state() const noexcept {
    return state_;
  }

 private:
  Result<void> SetMember(const std::string& name,
                         const std::function<Module::Member()>& make) noexcept;
  Result<std::shared_ptr<const embed::ObjectClass>> AddDraft(embed::ClassDraft& draft) noexcept;

  std::shared_ptr<embed::RuntimeState> state_;
};

}  // namespace shoal
