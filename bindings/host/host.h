// SPDX-License-Identifier: MIT
// A Host is what a state of the stock interpreter, or of another program, has of Shoal: settings,
// and a runtime of its own from the first use on. It stands in the state's registry, and ends by a
// finalizer when the state is closed, for whatever reason:
//   1 its tasks are dropped, and it exits as a process does
//   2 it waits for the others, as the end of the program does; after a while it says for whom
//   3 the runtime is shut down, and goes; if some thread is stuck, it is kept till the program ends
//
// The finalizer runs after those of all that was made of Shoal in the state, because it was set
// first. What an older finalizer still does with Shoal raises.
//
// Threads: the one that runs the state, but for what a process asks for by os.exit: a thread of its
//          own ends the program then.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <memory>

#include "bindings/lua/shoal_library.h"
#include "bindings/lua/stderr_log.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/channel/channel.h"
#include "runtime/lua/host_states.h"
#include "runtime/lua/state_record.h"
#include "runtime/runtime.h"

namespace shoal::bindings {

// What shoal.configure sets.
struct HostSettings {
  int workers = 0;                                // 0: one for each core
  std::uint64_t limit = core::Channel::kNoLimit;  // of channels that are made without one
  std::size_t queue_memory = 0;                   // 0: a quarter of the machine's memory
  core::LogLevel log = core::LogLevel::kWarning;  // the most that is reported
  core::Duration shutdown_timeout = std::chrono::seconds(2);  // for those who are cancelled
  int signal = SIGURG;                                        // 0: none
};

class Host final : private core::HostExit {
 public:
  // Makes the host of the state of `L`, unless it has one. [-0, +0, e]
  static Host& Of(lua_State* L);

  [[nodiscard]] HostSettings& settings() { return settings_; }
  // It has been used: settings do not count any more.
  [[nodiscard]] bool started() const { return runtime_ != nullptr; }

  // os.exit has been called in the state: cancels the processes, and gives them a second. Returns
  // when the program may end. In a child of a fork, at once.
  static void PrepareExit(lua_State* L);

 private:
  // Stands in the place of the process' own record till the first use.
  struct FirstRecord : core::StateRecord {
    Host* owner = nullptr;
  };

  Host() = default;
  ~Host() = default;
  static int Collect(lua_State* L);
  static core::StateHost* Start(lua_State* L, core::StateRecord& record);
  core::Status StartRuntime(lua_State* main);
  void Close();
  void AwaitProcesses();
  void OnExitRequested() override;
  // With the status that os.exit was given in a process. Does not return.
  static void* EndProgram(void* host);

  HostSettings settings_;
  FirstRecord first_record_;
  core::HostStates::Entry entry_;
  const core::SteadyClock clock_{};
  const ShoalLibrary library_{};
  std::unique_ptr<StderrLog> log_;  // null till the first use, as is
  std::unique_ptr<core::Runtime> runtime_;
  bool shut_down_ = false;  // the runtime has been, by os.exit …
  bool is_clean_ = false;   // … and no thread is left
  // Somebody ends the program: os.exit here, or in a process. Nobody else shuts the runtime down.
  std::atomic<bool> exit_claimed_{false};
};

}  // namespace shoal::bindings
