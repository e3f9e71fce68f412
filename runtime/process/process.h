// SPDX-License-Identifier: MIT
// A Process is one lua_State with its tasks: the unit that is scheduled. It shares nothing with
// others; they meet in channels.
//
// Its state word, with who owns the lua_State in which state, is in completions.h.
//
// Threads:   members say which. "The owner" is the thread that owns the lua_State at the time: a
//            worker, or a thread without a seat that waits in a frame which cannot yield.
// Ownership: shared by handles and messages; the process table holds it until it has exited.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <string>

#include "runtime/base/count.h"
#include "runtime/base/intrusive_list.h"
#include "runtime/base/ref_counted.h"
#include "runtime/lua/state.h"
#include "runtime/lua/state_record.h"
#include "runtime/process/call_requests.h"
#include "runtime/process/completions.h"
#include "runtime/process/cpu_limit.h"
#include "runtime/process/cpu_time.h"
#include "runtime/process/end_request.h"
#include "runtime/process/exit.h"
#include "runtime/process/host_seat.h"
#include "runtime/process/machine.h"
#include "runtime/process/spawn_options.h"
#include "runtime/process/task.h"
#include "runtime/process/usage.h"
#include "runtime/sched/interrupt.h"
#include "runtime/sched/runnable.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class CleanupAlarm;

// As `p:status()` shows it.
enum class ProcessPhase : std::uint8_t { kReady, kRunning, kWaiting, kExited };

class Process final : public RefCounted,
                      public Runnable,
                      public WaitOwner,
                      public StateHost,
                      public WaitPlace {
 public:
  // How long cleanup code of a cancelled task may wait, if the canceller does not say.
  static constexpr Duration kCleanupTime = std::chrono::seconds(5);

  // Makes the process and puts it at the tail of the run queue. kClosed when the runtime ends,
  // kNoMemory. Any thread.
  static Status Spawn(Machine& machine, SpawnOptions&& options, Ref<Process>* process);

  // The process of a host, the first of which has the id 0: its body is what runs in the state
  // whose main thread is `main`, and that thread of the host is its owner for good. It is never in
  // a queue. kNoMemory.
  static Status AdoptHost(Machine& machine, lua_State* main, SpawnOptions&& options,
                          Ref<Process>* process);

  // The process that runs the state of `L`. Raises if that was a host's and is one no more; its
  // first use starts the runtime. The owner. [-0, +0, e]
  static Process& Of(lua_State* L) { return static_cast<Process&>(HostOf(L)); }

  // --- Any thread.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] bool daemon() const { return options_.daemon; }
  // The program does not end before it (unless nothing can run any more).
  [[nodiscard]] bool awaited() const { return !options_.daemon && !options_.script; }
  [[nodiscard]] LibrarySet libraries() const { return options_.libraries; }
  [[nodiscard]] const Limits& limits() const { return options_.limits; }
  [[nodiscard]] const Reach& reach() const { return options_.reach; }
  // A hint: it may change at once.
  [[nodiscard]] ProcessPhase phase() const { return phase_.load(std::memory_order_relaxed); }
  [[nodiscard]] Exit& exit() { return exit_; }
  // Asks it to end: `cancelled` is raised in its tasks at their waits. What they do to clean up may
  // wait for at most `cleanup_time`; of several requests, the earliest end of that counts.
  void Cancel(Duration cleanup_time = kCleanupTime);
  // Cancels the task that runs `call`, if one still does.
  void CancelCall(Call& call);
  // Raises "interrupted" in the body: where it waits, at its next call that can wait, or at the end
  // of its slice. If that comes before the last one has been raised, they are one.
  void Interrupt();
  [[nodiscard]] Usage usage() const;
  // What the body waits for, "receive on channel …"; empty if it does not wait. On a worker, in the
  // process `viewer`.
  [[nodiscard]] std::string WaitingOn(const Process& viewer);

  // Runnable: a worker runs it until nothing in it can go on, or its turn is over.
  void Run() override;
  // WaitOwner.
  void OnComplete(Waiter& waiter) override;

  [[nodiscard]] bool is_host() const { return host_seat_ != nullptr; }

  // --- The owner.
  [[nodiscard]] Machine& machine() const { return machine_; }
  [[nodiscard]] StateRecord& record() { return record_; }
  [[nodiscard]] Task& current_task() const { return *current_; }
  [[nodiscard]] const SpawnOptions& options() const { return options_; }
  [[nodiscard]] SpawnOptions& options() { return options_; }
  // A task that will call the function on top of `L`'s stack, below its `arguments` arguments,
  // which it takes away. Returns with one reference for the caller. [-(arguments+1), +0, m]
  Task* NewTask(lua_State* L, int arguments);
  // Lets the calls of the present turn count: false when the turn is over.
  [[nodiscard]] bool SpendCall() {
    // A frame that cannot yield may go on for long.
    if (calls_left_ > 0) --calls_left_;
    return calls_left_ > 0;
  }
  // A host, whose turn is over and which cannot be suspended: its other tasks have theirs.
  void LetTasksRun();
  // A host has an allocator of its own: what usage() says of its memory is from here on as now.
  void CountHostMemory();
  // The running task has been suspended at the end of a slice, so its siblings have waited for
  // long, however few calls it makes: they go first at its next wait.
  [[nodiscard]] bool owes_turn() const { return slices_in_turn_ >= machine_.slices.in_turn; }
  // Runs the process' other tasks on this thread until the wait of the current task has completed.
  // kOk; otherwise the wait has not completed and cannot be waited for here: kNoThread, kFull (too
  // many such waits), kInterrupted (a hook has raised: the error stands on top of `L`).
  Status WaitNested(lua_State* L);
  // The thread gives its seat away, and may block; the process' other tasks stand still, unless
  // what runs waits. kOk: then EndBlocking, or LeaveBlocking and a yield of the turn. Otherwise it
  // has kept its seat: kFull (too many threads are blocked), kNoThread, kNoMemory.
  Status BeginBlocking();
  void LeaveBlocking();
  // Waits for a seat, and takes in what has been asked meanwhile.
  void EndBlocking();
  // Runs `section` between the two; or with the seat, if BeginBlocking says so.
  Status BlockingSection(void (*section)(void*), void* argument);
  // --- Of a host, whose state is being closed.
  // What waits, tasks and perhaps the body, will never go on. Before the first handle on which they
  // may wait is collected.
  void DropTasks();
  // The same, and the end is published. What the host still does with the process raises.
  void FinishHost();
  // A linked process has failed: this one is cancelled, and ends by that failure.
  void EndLinked(const Ref<Failure>& failure);
  // Somebody knows how it ended. REQUIRES: it has exited.
  void MarkJoined();
  // Cancel, for the process that runs: the caller meets it at its next wait.
  void CancelSelf(Duration cleanup_time);
  // Ends a task of this process as Cancel ends the process.
  void CancelTask(Task& task, Duration cleanup_time = kCleanupTime);
  [[nodiscard]] bool closing() const { return closing_; }
  // Takes an interrupt that has not been raised yet; true: the caller, in the current task, raises
  // it. For calls that can wait, and for whatever stops a busy body.
  [[nodiscard]] bool TakeInterrupt() {
    if (!interrupted_ || current_ != body_.get()) return false;
    interrupted_ = false;
    return true;
  }
  // Why its tasks are being ended, if that is not a cancel: a limit.
  [[nodiscard]] const std::string& end_text() const { return end_text_; }
  void CountSent(std::uint64_t messages) { sent_.Add(messages); }
  void CountReceived(std::uint64_t messages) { received_.Add(messages); }
  // Why a wait of this process was ended with kDeadlock.
  [[nodiscard]] const std::string& deadlock_report() const { return deadlock_report_; }

  // --- Looks from outside: the deadlock check, on a worker while nothing runs, and lists. Each
  // takes
  // --- the process and gives it back; false if it was not waiting. One at a time for each process.
  // Appends "  process 7 (worker): receive on …" for each task that waits.
  bool AppendWaits(std::string& report);
  // The same; a process that does not wait gets a line, too: "  process 7 (worker): running".
  void AppendWaitsOrPhase(std::string& report);
  // Whether one of its tasks waits to send.
  bool WaitsToSend();
  // Whether one of its tasks waits where a timer will send to.
  bool WaitsForTimer();
  // What the body waits for; kNone if it has ended, or if another task is what waits.
  bool BodyWait(WaitReason* reason);
  // Completes the wait of the body: with kOk if it waits for the end of all others, else with
  // kDeadlock and that report. False also if the body does not wait.
  bool EndBodyWait(const std::string& report);

  // StateHost.
  const void* CurrentTask() override { return current_; }
  int WaitForLoads(lua_State* L, lua_KContext context, lua_KFunction k) override;
  void EndWaitForLoads(lua_State* L) override;
  void LoadsChanged() override;
  SliceEnd SliceIsOver() override;
  void HasMadeWay() override { machine_.scheduler.HasLooked(); }
  void TakeRequests(lua_State* L) override;
  void GiveWay() override;
  void PushCancelled(lua_State* L) override { machine_.library.PushCancelled(L); }
  // In the simulator, nothing may depend on the time at which a file was written.
  CodeCache* code_cache() override { return machine_.simulated() ? nullptr : &machine_.code_cache; }
  // WaitPlace, of those who wait for loads.
  void Withdraw(WaitNode& node) override;
  RefCounted* ToReference(lua_State* L, int index) override {
    return machine_.library.ToReference(L, index);
  }
  void PushReference(lua_State* L, RefCounted* object) override {
    machine_.library.PushReference(L, object);
  }
  bool PushTransfer(lua_State* L) override { return machine_.library.PushTransfer(L); }

 private:
  friend class ProcessTable;
  friend class Task;
  friend class TaskEntry;
  enum class Turn : std::uint8_t { kGoesOn, kIsOver };
  enum class Rest : std::uint8_t { kWait, kTurn };

  // The Lua code that runs. Not a base of the process: the compiler would make a function to get
  // from one to the other, in which the thread sanitizer's calls cannot be forbidden.
  class RunningCode final : public Interruptible {
   public:
    explicit RunningCode(StateRecord& record) : record_(record) {}
    // It is to end its slice.
    void OnInterrupt() override;

   private:
    StateRecord& record_;
  };

  // A turn ends after so many calls of the runtime, at the next one that can yield.
  static constexpr int kCallsInTurn = 2000;
  // The simulator's shortest: the resume counts, and the call at which the turn ends.
  static constexpr int kFewestCalls = 3;

  Process(Machine& machine, SpawnOptions&& options);
  ~Process() override;

  [[nodiscard]] int TurnLength() const;
  // A turn on a worker, or on a thread that has been given its seat back.
  void BeginTurn();
  void EndTurn();  // nothing, if it has ended
  [[nodiscard]] Duration CpuNow() const;
  void SimulateCpu(int instructions);
  void LookAtCpuLimit();  // REQUIRES: there is one
  void KeepLimitAsError();
  [[nodiscard]] std::string BodyWaitText() const;
  bool Start();                           // makes the state and the body; false: memory is short
  [[nodiscard]] int CurrentList() const;  // see StateSlots
  void TakeCompletions();
  void WaitIsOver(Task& task);
  [[nodiscard]] bool WaitsForQueueMemory(const Task& task) const;
  bool AnyTask(bool (Task::*holds)() const);
  void AskToEnd(Duration cleanup_time, Ref<Failure> failure);
  void BeginCancel(TimePoint cleanup_deadline);  // the request has reached the owner
  void CancelBy(Task& task, TimePoint cleanup_deadline);
  void CancelCalls();  // requests for some have reached the owner
  // Cleanup code that has begun is interrupted at that time, should it not wait then.
  void LimitCleanup(TimePoint deadline);
  void AppendName(std::string& text) const;
  void BeginInterrupt();  // the interrupt request has reached the owner
  Turn Resume(Task& task);
  Turn ResumeInline(Task& task);
  void EndTask(Task& task, ExitKind end);
  void CollectBetweenTasks();
  void ReportTask(Task& task);
  void ReportCleanup(Task& task);
  void WriteCleanupReport(Task& task);
  // Lua code is about to run on the thread of `task`, which has ended.
  void BeginAside(Task& task);
  void Finish();  // closes the state and publishes the exit; may free this
  void FinishWith(ExitKind kind, MessagePtr message, std::string traceback);
  Ref<Failure> FailureOf(const std::string& text, const std::string& traceback);
  void ReportError(const Ref<Failure>& failure, const std::string& text,
                   const std::string& traceback);
  // Whoever has become the owner of a waiting process, once.
  void MakeReady();
  // A host's thread counts as one that has a seat.
  [[nodiscard]] bool HasSeat() { return is_host() || machine_.scheduler.HoldsSeat(); }
  // A thread with frames of the process gives up its seat and sleeps until it is given one. A host:
  // in a wait of `me` that was made in `L`; kInterrupted as for WaitNested.
  Status RestWithoutSeat(lua_State* L, Task& me, Rest rest);
  Status GiveSeatAway(Rest rest);
  void TakeSeat(Rest rest);
  // What the current task is to the state: restored after others have run on top of it.
  void ComeBackTo(Task& task, const StateRecord& saved);
  // --- A host's: see host.cc.
  struct Hook;
  void DropTask(Task& task);
  void DropWait(Task& task);
  Status RestAsHost(lua_State* L, Task& me, Rest rest);
  void WaitAsHost();
  bool CallHooks(lua_State* L, Task& me);
  [[nodiscard]] Hook HookNow() const;

  Machine& machine_;
  SpawnOptions options_;
  std::uint64_t id_ = 0;  // written by ProcessTable::Add before anybody else sees the process
  Exit exit_;
  Completions completions_;
  EndRequest end_request_;
  Waiter cancel_request_;  // stands in completions_ from end_request_'s Ask to its Take
  CallRequests call_requests_;
  Waiter call_request_;  // as cancel_request_, for call_requests_
  Waiter interrupt_request_;
  // Set by the one who asks before it pushes that; the owner clears it when it has taken it out.
  std::atomic<bool> interrupt_asked_{false};
  std::atomic<ProcessPhase> phase_{ProcessPhase::kReady};  // shown only: publishes nothing
  Count slices_;
  Count sent_;
  Count received_;
  CpuTime cpu_time_;
  Duration simulated_cpu_{};             // the simulator's clock for it
  std::unique_ptr<HostSeat> host_seat_;  // null: it is no host. Set when the process is made
  std::unique_ptr<CpuLimit> cpu_limit_;  // null: it has none. Set when the process is made

  // The owner's.
  Allocator allocator_;
  StateRecord record_;
  RunningCode running_code_{record_};
  lua_State* L_ = nullptr;
  Ref<Task> body_;
  Task* current_ = nullptr;
  List<Task, TaskTag> tasks_;
  List<Task, ReadyTag> ready_;
  List<WaitNode, WaitTag> loads_;  // tasks that wait for a module another one loads
  SeatTicket* blocked_thread_ = nullptr;
  int nesting_ = 0;
  int calls_left_ = 0;
  int slices_in_turn_ = 0;  // that have ended since a task was resumed
  std::unique_ptr<CleanupAlarm> cleanup_alarm_;
  bool cancelled_ = false;  // the request has been taken in
  bool cut_short_ = false;  // … and has ended tasks
  TimePoint cleanup_deadline_ = kNever;
  bool interrupted_ = false;  // an interrupt has been taken in, and not raised yet
  bool closing_ = false;
  bool begun_ = false;  // its own code has: the state and what it was given are complete
  std::string end_text_;
  std::string deadlock_report_;
  MessagePtr exit_message_;  // the body's results, or its error value
  std::string exit_text_;    // the error value as text, for the log
  std::string exit_traceback_;
};

}  // namespace shoal::core
