// SPDX-License-Identifier: MIT
// The process of a host: a state that somebody else has made and runs, on a thread of his own.
//
// The host's code is the body, which has begun long ago and is suspended by nobody: all its waits
// are in frames that cannot yield (nested_wait.cc), so the thread runs the host's other tasks on
// top of them, and sleeps in the HostSeat if there are none. The process is "running" in the sense
// of completions.h whenever the thread does not sleep there.
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "runtime/lua/codec.h"
#include "runtime/lua/hook.h"
#include "runtime/process/process.h"
#include "runtime/process/task_entry.h"

namespace shoal::core {

namespace {
// How long until a host that was woken by a signal, while somebody looked at it, tries again.
constexpr Duration kLookTime = std::chrono::milliseconds(1);
// What is run to have hooks called: calls, lines and instructions are all in it.
constexpr std::string_view kNothing = "return";
}  // namespace

struct Process::Hook {
  lua_Hook function;
  int mask;
  int count;
  bool operator==(const Hook&) const = default;
};

Status Process::AdoptHost(Machine& machine, lua_State* main, SpawnOptions&& options,
                          Ref<Process>* process) {
  auto* made = new (std::nothrow) Process(machine, std::move(options));
  if (made == nullptr) return Status::kNoMemory;
  auto owned = Ref<Process>::Adopt(made);
  made->host_seat_.reset(new (std::nothrow) HostSeat(machine.active_hosts));
  if (made->host_seat_ == nullptr) return Status::kNoMemory;
  made->body_ = Ref<Task>::Adopt(new (std::nothrow) Task(*made, main, LUA_NOREF));
  Status status = made->body_ ? made->host_seat_->Open() : Status::kNoMemory;
  if (status == Status::kOk) status = machine.processes.AddHost(*made);
  if (status != Status::kOk) {
    made->host_seat_->Deactivate();
    return status;
  }
  made->L_ = main;
  made->record_.main = made->record_.task = made->record_.current = main;
  made->body_->AddRef();
  made->tasks_.PushBack(*made->body_);
  made->body_->started_ = true;
  made->current_ = made->body_.get();
  made->begun_ = true;
  made->phase_.store(ProcessPhase::kRunning, std::memory_order_relaxed);
  made->calls_left_ = made->TurnLength();
  made->BeginTurn();
  *process = std::move(owned);
  return Status::kOk;
}

// Turns -------------------------------------------------------------------------------------------

void Process::LetTasksRun() {
  calls_left_ = TurnLength();
  Task& me = *current_;
  const StateRecord saved = record_;
  TakeCompletions();
  // Each once: those that become ready again have had their turn.
  int count = 0;
  for (Task* task = ready_.empty() ? nullptr : &ready_.front(); task != nullptr;
       task = ready_.Next(*task)) {
    ++count;
  }
  for (; count > 0; --count) {
    Task* const task = ready_.PopFront();
    if (task == nullptr) break;  // some have ended others
    static_cast<void>(Resume(*task));
  }
  ComeBackTo(me, saved);
}

void Process::CountHostMemory() {
  allocator_.used.store(static_cast<std::size_t>(lua_gc(L_, LUA_GCCOUNT)) * 1024U,
                        std::memory_order_relaxed);
}

// Waits -------------------------------------------------------------------------------------------

Status Process::RestAsHost(lua_State* L, Task& me, Rest rest) {
  if (rest == Rest::kTurn) {
    calls_left_ = TurnLength();
    return CallHooks(L, me) ? Status::kOk : Status::kInterrupted;
  }
  for (;;) {
    // 1 What a signal handler has asked for.
    const Hook seen = HookNow();
    if (!CallHooks(L, me)) return Status::kInterrupted;
    if (!completions_.empty()) return Status::kOk;
    // 2 Again, now that no handler comes between this look and the sleep.
    host_seat_->HoldSignals();
    if (HookNow() == seen) break;
    host_seat_->ReleaseSignals();
  }
  CountHostMemory();
  EndTurn();
  phase_.store(ProcessPhase::kWaiting, std::memory_order_relaxed);
  // 3 From here on, the process may be made ready, or be looked at.
  if (completions_.TryWait()) WaitAsHost();
  host_seat_->ReleaseSignals();
  phase_.store(ProcessPhase::kRunning, std::memory_order_relaxed);
  calls_left_ = TurnLength();
  BeginTurn();
  return Status::kOk;
}

void Process::WaitAsHost() {
  // A wait that ends by itself is no deadlock.
  const bool may_be_last = !body_->armed_;
  bool by_signal = false;
  for (;;) {
    host_seat_->Deactivate();
    if (may_be_last) machine_.scheduler.ReconsiderRest();
    const Duration most = by_signal ? kLookTime : Duration::max();
    if (host_seat_->Sleep(most) == HostSeat::Woken::kByWake) return;
    // Nobody has made it ready, so the host takes the process itself; unless somebody looks at it
    // just now, or is about to wake it.
    by_signal = true;
    host_seat_->Activate();
    if (completions_.TryOwn()) return;
  }
}

// Hooks -------------------------------------------------------------------------------------------

// Signal handlers know the main thread only.
Process::Hook Process::HookNow() const {
  return {.function = lua_gethook(L_), .mask = lua_gethookmask(L_), .count = lua_gethookcount(L_)};
}

// Has the hook of the main thread called, if it has one, while `me` waits. False: it has raised,
// and the wait is over; the error stands on top of `L`.
bool Process::CallHooks(lua_State* L, Task& me) {
  const Hook hook = HookNow();
  if (hook.function == nullptr || hook.mask == 0) return true;
  // The main thread has either made the wait or called what did, so a call on top of it is like one
  // of the C function that stands there.
  if (lua_checkstack(L_, 2) == 0 || lua_checkstack(L, 1) == 0) return true;
  current_ = &me;
  int status = luaL_loadbufferx(L_, kNothing.data(), kNothing.size(), "=[shoal.wait]", "t");
  if (status == LUA_OK) status = lua_pcall(L_, 0, 0, 0);
  if (status == LUA_OK) return true;
  const bool ends = me.TryClaim();
  // A wait that is over returns what it has got, and then the script is interrupted. So it is when
  // another task has been interrupted in its place.
  if (!ends || &me != body_.get()) lua_sethook(L_, hook.function, hook.mask, hook.count);
  if (!ends) {
    lua_pop(L_, 1);
    return true;
  }
  if (L != L_) lua_xmove(L_, L, 1);
  return false;
}

// The end -----------------------------------------------------------------------------------------

void Process::DropWait(Task& task) {
  if (!task.waiting()) return;
  // What has claimed its wait is about to say so.
  const bool told =
      task.nested_ ? task.nested_done_ : static_cast<ListLink<ReadyTag>&>(task).linked();
  if (!told && !task.TryClaim()) {
    task.nested_ = true;
    task.nested_done_ = false;
    while (!task.nested_done_) TakeCompletions();
  }
  static_cast<void>(task.CloseWait());
}

void Process::DropTask(Task& task) {
  DropWait(task);
  if (static_cast<ListLink<ReadyTag>&>(task).linked()) {
    static_cast<ListLink<ReadyTag>&>(task).Unlink();
  }
  static_cast<ListLink<TaskTag>&>(task).Unlink();
  task.end_ = &task == body_.get() ? ExitKind::kDone : ExitKind::kCancelled;
  task.DropShields();
  task.Release();
}

void Process::DropTasks() {
  Task* next = tasks_.empty() ? nullptr : &tasks_.front();
  while (next != nullptr) {
    Task& task = *next;
    next = tasks_.Next(task);
    if (&task != body_.get()) DropTask(task);
  }
  DropWait(*body_);
  current_ = body_.get();
}

void Process::FinishHost() {
  closing_ = true;
  DropTasks();
  DropTask(*body_);
  lua_State* const L = std::exchange(L_, nullptr);
  TaskEntry::KeepNoResults(L);
  FreeCodecScratch(record_.codec_scratch);
  record_.codec_scratch = nullptr;
  FreeSavedHooks(record_);
  current_ = nullptr;
  EndTurn();
  machine_.messages_sent.fetch_add(sent_.value(), std::memory_order_relaxed);
  Machine& machine = machine_;
  // Without memory for a message, it has no results.
  const ExitKind kind = exit_message_ != nullptr ? ExitKind::kDone : ExitKind::kCancelled;
  FinishWith(kind, std::move(exit_message_), "");
  host_seat_->Deactivate();
  machine.scheduler.ReconsiderRest();
}

}  // namespace shoal::core
