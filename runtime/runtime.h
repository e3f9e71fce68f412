// SPDX-License-Identifier: MIT
// A Runtime is a set of workers with the processes that run on them: the composition root.
//
// There are no singletons: two runtimes in one program do not meet.
//
// Threads:   made, started, and destroyed by one thread of the host, which is no worker. Spawn,
//            RequestExit and machine() from any thread.
// Ownership: owns all parts of the machine. Options' references outlive it.
//
// Simulated (Options::simulated_clock), a run repeats itself: the same seed, the same run. One
// worker runs Lua, in an order that is drawn; time passes only when nothing can run; and the host's
// thread and the worker take turns (baton_), so nothing depends on which of them is faster.
//
// How it ends, in Shutdown:
//   1 no process can be spawned any more
//   2 all processes are asked to end: `cancelled` is raised where they wait, `<close>` handlers and
//     finalizers run
//   3 as long as the time allows, it waits until all have exited
//   4 channels are closed, for the waits of hosts
//   5 workers finish what they run, and are joined; the tick thread before them
//   6 the blocking pool: its threads end, and a job that hangs is left behind
//   7 timers, expiries and the poller go
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/baton.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/mutex.h"
#include "runtime/base/random.h"
#include "runtime/base/status.h"
#include "runtime/errands.h"
#include "runtime/lua/arena.h"
#include "runtime/process/machine.h"
#include "runtime/process/process.h"
#include "runtime/process/process_images.h"
#include "runtime/process/spawn_options.h"

namespace shoal::core {

// Who ends the program that has a host, when a process of it calls os.exit.
class HostExit {
 public:
  // Once. On a worker, which goes on at once: the end is for another thread. It calls Shutdown, and
  // WaitForEnd has the status.
  virtual void OnExitRequested() = 0;

 protected:
  ~HostExit() = default;
};

// What is left when a thread of the host has run the processes of a runtime without threads.
enum class RunState : std::uint8_t {
  kReady,    // the time is up, and something is ready
  kWaiting,  // nothing is, and processes wait: for time, sockets, or messages
  kEmpty,    // there are no processes
  kBusy,     // another thread runs them, or this one does: nothing was done
  kClosed,   // the end has begun
};

class Runtime final : private IdleSource, private ProgramEnd, private BlockingPool::Listener {
 public:
  struct Options {
    int workers = 0;  // 0: one for each core that the program may use
    // kGuests: the runtime makes no thread at all, whatever `workers` says. Processes run in RunFor
    // alone, WaitForEnd and Shutdown, on the thread that calls. Slices end by counting, and what
    // would need another thread cannot be done: a wait in a function that cannot yield is an error,
    // and what blocks (look-ups of names) blocks the caller.
    Scheduler::Threads threads = Scheduler::Threads::kOwn;
    std::size_t queue_memory = 0;                     // bytes; 0: a quarter of the machine's memory
    std::uint64_t channel_limit = Channel::kNoLimit;  // of channels that are made without one
    const Clock& clock;
    Log& log;
    const ScriptLibrary& library;
    int max_blocked_threads = 256;
    int max_blocking_threads = 64;  // of the pool for jobs that block, such as look-ups of names
    // Sent to a thread of the runtime whose process is to end its slice. The handler stays
    // installed, restarts system calls (SA_RESTART; poll, sleeps and the like return EINTR all the
    // same), and leaves other threads to the handler that was there before. 0: no signals; then Lua
    // code counts its instructions, which makes tight loops half as fast, and nothing interrupts C
    // functions.
    int signal = SIGURG;
    // Test mode: all tasks are interrupted at every instruction of Lua.
    bool yield_at_every_instruction = false;
    bool collect_at_switch = false;  // test mode
    std::uint64_t seed = 0;          // 0: from the system
    // Whether processes begin as copies of an opened state; the simulator's do not.
    StateImages state_images = StateImages::kForMany;
    // The simulator: one worker, and all chance comes from `seed`. It is also `clock`.
    SimulatedClock* simulated_clock = nullptr;
    HostExit* host_exit = nullptr;  // not null, if there is a host
  };

  explicit Runtime(const Options& options);
  // REQUIRES: not started, or Shutdown has returned true.
  ~Runtime() override;

  // kNoThread, kNoMemory: nothing runs.
  Status Start();

  // Start, with a host in the place of a script: the state whose main thread is `main`. The calling
  // thread is the host, and so is, later, whichever runs the state. kNoThread, kNoMemory, kNotFound
  // (there is no such signal). If it fails, Shutdown comes next.
  Status StartWithHost(lua_State* main);
  // The process of the host.
  [[nodiscard]] Process& host() { return *script_; }

  // Spawns the script: the process with whose return the end of the program begins.
  Status SpawnScript(SpawnOptions&& options);

  // Waits, on the host's thread, until the program has ended: the script has returned and no
  // process that is no daemon can run any more; or the script has failed; or os.exit was called.
  // Returns the exit status.
  int WaitForEnd();
  // The same, for at most `time`: whether the program has ended.
  bool WaitForEnd(Duration time);

  // Runs processes on the calling thread, for at most that time (real time; a dispatch at least),
  // or till nothing is ready. kSleep: sleeps while nothing is, till the time is up or there are no
  // processes; `clock` must be one of real time then. Any thread but workers, one at a time.
  // REQUIRES: Start has returned kOk, with kGuests.
  RunState RunFor(Duration time, WhenIdle when_idle);
  // Threads in RunFor leave it, and nobody enters any more: they get kClosed. Shutdown begins with
  // it. Any thread.
  void DismissGuests();
  // How long, from now, until a timer is due; Duration::max(): there is none. Any thread.
  [[nodiscard]] Duration TimeToDeadline();

  // See above. False if some thread has not ended by then: the runtime must be kept, and the
  // program can only exit.
  [[nodiscard]] bool Shutdown(Duration grace);

  // Raises "interrupted" in the body of the script: at its wait, or at the next call that can wait.
  // If it ends before that, or has, the program ends, with that status. Any thread. REQUIRES:
  // SpawnScript has returned.
  void InterruptScript(int status_if_ended);

  // "3 processes:" and a line for each task that waits, and for each process that runs or is ready
  // to, for a program that seems to hang. Any thread but workers; it does not wait for them.
  std::string ListProcesses();

  // Does `errand` soon, on a thread of the runtime; at the latest, in the destructor. Never waits.
  // Any thread. REQUIRES: started.
  void RunSoon(Errand& errand) {
    if (errands_.Push(errand)) scheduler_.DeadlineArmed(kNow);
  }

  [[nodiscard]] Machine& machine() { return machine_; }
  // os.exit was called: states are left as they are, as the stock interpreter does.
  [[nodiscard]] bool exit_requested() const { return exit_requested_.load(); }

 private:
  // IdleSource.
  void Turn(int worker) override {
    if (options_.simulated_clock != nullptr) return SimulatedTurn();
    if (!errands_.empty()) errands_.Run();
    timers_.Turn(worker);
    poller_.Turn(worker);
  }
  void Poll() override;
  TimePoint NextDeadline() override;
  bool NeedsTimekeeper() override { return poller_.Armed() || NextDeadline() != kNever; }
  void Sleep(TimePoint deadline) override;
  void Interrupt() override { poller_.Interrupt(); }
  bool Armed() override {
    const ActiveHosts::Look hosts = machine_.active_hosts.Begin();
    return hosts.any() || timers_.Armed() || poller_.Armed() || blocking_pool_.Armed() ||
           errands_.Armed() || looks_.load() != 0 || machine_.active_hosts.HasChangedSince(hosts);
  }
  void OnQuiescent() override;

  // ProgramEnd.
  void Reconsider() override;
  void RequestExit(int status, Process& caller, CloseStates close) override;
  void EndInterrupted() override;

  // BlockingPool::Listener.
  void OnJobEnded() override { scheduler_.ArmedEnded(); }

  [[nodiscard]] bool has_threads() const { return options_.threads == Scheduler::Threads::kOwn; }
  [[nodiscard]] RunState StateAfter(RunEnd end);
  void End();
  void NotifyHost();
  // The host's thread: sleeps until something has been notified since `seen`, or the deadline.
  void AwaitEvent(std::uint32_t seen, TimePoint deadline);

  // The same, of a runtime without threads: runs its processes.
  void RunTillEvent(std::uint32_t seen, TimePoint deadline);

  // The simulator. The worker, at the start of a turn, and when nothing can run.
  void SimulatedTurn();
  void SimulatedSleep(TimePoint deadline);
  // Whether the host's thread has something to look at.
  bool HostIsDue();
  enum class AtRest : bool { kGoOn, kEnd };
  AtRest LookAtRest() SHOAL_REQUIRES_LOCK(look_mu_);
  std::string DeadlockReport(WaitReason reason) SHOAL_REQUIRES_LOCK(look_mu_);
  // Some process waits to send, and a ttl will pass that may make room.
  bool RoomWillCome() SHOAL_REQUIRES_LOCK(look_mu_);
  // Some process waits where a timer will send to.
  bool TimerWillCome() SHOAL_REQUIRES_LOCK(look_mu_);

  // A deadline that has passed, and is one that the timekeeper may oversleep.
  static constexpr TimePoint kNow{};

  const Options options_;
  Errands errands_;
  // The simulator's; see Machine.
  Random chance_;
  Arena arena_;
  // Before what holds states.
  ProcessImages images_;
  CodeCache code_cache_;
  // Before what may hold descriptors.
  Poller poller_;
  ProcessTable processes_;
  ChannelRegistry channels_;
  Timers timers_;
  BlockingPool blocking_pool_;
  Expiries expiries_;
  ErrorReports error_reports_;
  Scheduler scheduler_;
  Machine machine_;
  Ref<Process> script_;

  // Held by who takes waiting processes to look at them, since one that is being looked at does not
  // seem to wait. What completes meanwhile is made ready under it.
  Mutex look_mu_{LockRank::kLook};
  // Looks that are under way from outside: they may make things ready, so they count in Armed().
  std::atomic<int> looks_{0};

  // What the host's thread sleeps on: counts events. It reads it, looks, and sleeps while it is the
  // same; whoever changes what it looks at adds one after that.
  std::atomic<std::uint32_t> events_{0};
  std::atomic<bool> ended_{false};  // nothing more is to be waited for
  // Shutdown waits for exits; before that, nobody looks at them. Set before the table is looked at,
  // and read after a process has left it, so by the lock of the table one of the two sees the
  // other.
  std::atomic<bool> awaits_exits_{false};
  // 1: guests have been dismissed, and Shutdown runs the processes.
  std::atomic<std::uint32_t> ending_{0};
  std::atomic<bool> exit_claimed_{false};
  std::atomic<bool> exit_requested_{false};  // publishes the two below
  std::atomic<int> exit_status_{0};
  std::atomic<int> interrupted_status_{0};         // the next interrupt publishes it
  std::atomic<std::uint64_t> exiting_process_{0};  // not to be cancelled; 0: none
  // The simulator: the host's thread begins. What it has seen of events_, and until when it waits,
  // when it gives the baton away.
  Baton baton_;
  std::uint32_t host_seen_ = 0;
  TimePoint host_deadline_ = kNever;
};

}  // namespace shoal::core
