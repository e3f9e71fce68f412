// SPDX-License-Identifier: MIT
// A Machine is what all processes of one runtime run on. The runtime composes it and owns its
// parts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/random.h"
#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"
#include "runtime/driver/blocking_pool.h"
#include "runtime/driver/poller.h"
#include "runtime/driver/timers.h"
#include "runtime/lua/code_cache.h"
#include "runtime/lua/state.h"
#include "runtime/process/active_hosts.h"
#include "runtime/process/error_reports.h"
#include "runtime/process/expiry.h"
#include "runtime/process/process_images.h"
#include "runtime/process/process_table.h"
#include "runtime/sched/scheduler.h"

namespace shoal::core {

// What scripts see of the runtime. The core never names it: the bindings pass it in.
//
// Threads: the one that runs the state.
class ScriptLibrary {
 public:
  virtual ~ScriptLibrary() = default;
  // Makes `require "shoal"` and the like possible in a state whose libraries have been opened.
  // [-0, +0, e]
  // The same in all states with these libraries: they may be copies of one.
  virtual void Open(lua_State* L, LibrarySet libraries) const = 0;
  // What comes to that in each new state. [-0, +0, e]
  virtual void Add(lua_State* /*L*/) const {}
  // As in StateHost.
  virtual RefCounted* ToReference(lua_State* L, int index) const = 0;
  virtual void PushReference(lua_State* L, RefCounted* object) const = 0;
  virtual bool PushTransfer(lua_State* /*L*/) const { return false; }
  // Pushes the value that a cancelled task raises. [-0, +1, m]
  virtual void PushCancelled(lua_State* L) const = 0;
};

// Whether `os.exit` runs what stands in `<close>` variables and finalizers of its own process.
enum class CloseStates : std::uint8_t { kNo, kYes };

// How far the end of the runtime has come.
class ProgramEnd {
 public:
  virtual ~ProgramEnd() = default;
  // Something has happened that may be the end: a process has exited. Any thread, no lock held.
  virtual void Reconsider() = 0;
  // `os.exit`: the program ends with that status, whoever still runs. Any thread. Returns at once.
  virtual void RequestExit(int status, Process& caller, CloseStates close) = 0;
  // An interrupt has come to the first process when its body had ended: that ends the program. Any
  // thread. Returns at once.
  virtual void EndInterrupted() = 0;
};

// How the end of a slice reaches Lua code (runtime/lua/slice.h).
struct Slices {
  // The hook stays armed, for each so many instructions; 0: a signal arms it.
  int kept_period = 0;
  enum class End : std::uint8_t {
    kAsked,  // when the scheduler asks for it
    kEvery,  // whenever the hook is called: for tests
  };
  End end = End::kAsked;
  // After so many, a task lets its siblings go first.
  int in_turn = 1;
};

struct Machine {
  const Clock& clock;
  Scheduler& scheduler;
  Timers& timers;
  Poller& poller;
  BlockingPool& blocking_pool;
  ChannelRegistry& channels;
  Expiries& expiries;
  ErrorReports& error_reports;
  ProcessTable& processes;
  Log& log;
  const ScriptLibrary& library;
  ProcessImages& images;
  CodeCache& code_cache;
  ProgramEnd& program_end;
  int workers = 1;
  // False: those of guests run everything. Then no frame that cannot be suspended can wait, and
  // what blocks is done where it is asked for.
  bool has_threads = true;
  Slices slices;
  // Threads that may be blocked in waits that Lua cannot suspend, at one time.
  int max_blocked_threads = 256;
  // Of those, how many are; a bound, so relaxed is enough.
  std::atomic<int> blocked_threads{0};
  // Hosts that do not wait: what they do next may bring work. seq_cst: see IdleSource.
  ActiveHosts active_hosts{};
  // Failures of processes that are no daemons, of which nobody knows. Read at the end.
  std::atomic<int> unjoined_errors{0};
  // By processes that have exited. relaxed: publishes nothing.
  std::atomic<std::uint64_t> messages_sent{0};
  // For the seeds of math.random: each process takes the next one.
  std::atomic<std::uint64_t> next_seed{0};
  // New processes begin with their warnings on. Publishes nothing.
  std::atomic<bool> warnings_on{false};
  // The simulator: how long turns are is drawn from `chance`, and states stand in `arena`. Both or
  // none are there.
  Random* chance = nullptr;
  Arena* arena = nullptr;
  [[nodiscard]] bool simulated() const { return chance != nullptr; }
  // Test mode: a full collection at every switch of tasks.
  bool collect_at_switch = false;

  // After a timer has been armed on a runtime thread: one without a seat has to say so.
  void NoteDeadline(TimePoint deadline) {
    if (scheduler.CurrentWorker() < 0) scheduler.DeadlineArmed(deadline);
  }
};

}  // namespace shoal::core
