// SPDX-License-Identifier: MIT
#include "runtime/process/process.h"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/base/enough_memory.h"
#include "runtime/lua/hook.h"
#include "runtime/lua/slice.h"
#include "runtime/process/cleanup_alarm.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/link.h"
#include "runtime/process/process_images.h"
#include "runtime/process/task_entry.h"

namespace shoal::core {

Process::Process(Machine& machine, SpawnOptions&& options)
    : RefCounted(Kind::kProcess),
      machine_(machine),
      options_(std::move(options)),
      cancel_request_(*this),
      call_request_(*this),
      interrupt_request_(*this) {
  record_.host = this;
  allocator_.arena = machine.arena;
  record_.message_limit = limits().of_message();
  allocator_.limit = limits().memory;
}

Process::~Process() {
  SHOAL_CHECK(L_ == nullptr);
  exit_.ForgetSelf(this);
}

Status Process::Spawn(Machine& machine, SpawnOptions&& options, Ref<Process>* process) {
  auto* made = new (std::nothrow) Process(machine, std::move(options));
  if (made == nullptr) return Status::kNoMemory;
  *process = Ref<Process>::Adopt(made);
  if (made->limits().cpu != Limits::kNoTime) {
    made->cpu_limit_.reset(new (std::nothrow) CpuLimit(machine, made->limits().cpu));
    if (made->cpu_limit_ == nullptr) return Status::kNoMemory;
  }
  // Taken out: a process does not keep the one that it is linked to.
  const Ref<RefCounted> linked = std::move(made->options_.linked);
  const Status status = machine.processes.Add(*made);
  if (status != Status::kOk) return status;
  // Before it can run, and fail. Without memory for the link, it is as if the other had failed.
  if (linked && !LinkProcesses(static_cast<Process&>(*linked), *made)) made->Cancel();
  machine.scheduler.ReadyTail(*made);
  return Status::kOk;
}

void Process::MakeReady() {
  if (host_seat_ != nullptr) return host_seat_->Wake();
  machine_.scheduler.Ready(*this);
}

void Process::OnComplete(Waiter& waiter) {
  // After a Push that returned false, the process may run, end and be freed at any time.
  if (completions_.Push(waiter)) MakeReady();
}

// A yield is a longjmp, after which the processor mispredicts each return to a frame that stood
// before it; so between the worker and Lua there are as few as can be.
[[gnu::always_inline]] inline Process::Turn Process::ResumeInline(Task& task) {
  if (machine_.collect_at_switch) CollectBetweenTasks();
  current_ = &task;
  record_.task = record_.current = task.thread_;
  record_.barrier = 0;
  record_.unwinding = task.unwinding_;
  record_.slice_is_over = false;
  if (slices_in_turn_ == 0) task.looks_ = 0;
  // Its next wait raises; should it not come to one, the end of a slice does. The alarm that ends
  // the time for cleanup may have found it suspended.
  if ((task.cancel_requested_ && (!task.cleans_up_ || task.MustRaiseCancelled())) || interrupted_) {
    machine_.scheduler.Interrupt();
  }
  --calls_left_;
  // While it is suspended, nobody else may resume or close it.
  MarkSuspendedChain(task.thread_, false);
  int results = 0;
  const int arguments = std::exchange(task.started_, true) ? 0 : task.arguments_;
  int status;
  {
    const InterruptSection section(running_code_);
    status = lua_resume(task.thread_, nullptr, arguments, &results);
    // An error that left the entry function: it stands on the stack again, in a thread that can
    // call. What was to be closed has been, here, by the task.
    if (status > LUA_YIELD) lua_resetthread(task.thread_);
  }
  current_ = nullptr;
  if (status != LUA_YIELD) {
    EndTask(task, status == LUA_OK && !task.failed_
                      ? ExitKind::kDone
                      : (task.cleans_up_ ? ExitKind::kCancelled : ExitKind::kError));
    return Turn::kGoesOn;
  }
  MarkSuspendedChain(task.thread_, true);
  slices_in_turn_ = record_.token == SwitchToken::kSlice ? slices_in_turn_ + 1 : 0;
  switch (std::exchange(record_.token, SwitchToken::kNone)) {
    case SwitchToken::kWait:
      return Turn::kGoesOn;
    case SwitchToken::kYield:
      ready_.PushBack(task);
      return Turn::kIsOver;
    case SwitchToken::kSlice:
      ready_.PushFront(task);
      return Turn::kIsOver;
    case SwitchToken::kNone:
      // C code called lua_yield where nobody resumes: the task gets the error that stock Lua
      // raises for a yield outside a coroutine.
      lua_pop(task.thread_, results);
      RaiseAtNextInstruction(task.thread_);
      ready_.PushFront(task);
      return Turn::kGoesOn;
  }
  return Turn::kGoesOn;
}

void Process::Run() {
  if (blocked_thread_ != nullptr) {
    // Frames of this process stand on the stack of a thread without a seat: only that one can go
    // on.
    machine_.scheduler.HandSeat(*blocked_thread_);
    return;
  }
  phase_.store(ProcessPhase::kRunning, std::memory_order_relaxed);
  calls_left_ = TurnLength();
  BeginTurn();
  if (L_ == nullptr && !Start()) {
    static_cast<void>(EnoughMemory([&] {
      exit_text_ = limits().memory == Limits::kNoBytes ? "not enough memory for a new process"
                                                       : MemoryLimitTooSmall(limits().memory);
    }));
    EndTurn();
    FinishWith(ExitKind::kError, MakeErrorNotice(id_, exit_text_), "");
    return;
  }
  for (;;) {
    // 1 What has completed makes tasks ready.
    if (!completions_.empty() || cpu_limit_ != nullptr) TakeCompletions();
    Task* task = ready_.PopFront();
    if (task != nullptr) {
      // 2 One task runs until it waits. Its turn over, the others get theirs; also if a long C call
      // has cost this thread its seat.
      const Turn turn = ResumeInline(*task);
      if (turn == Turn::kGoesOn && calls_left_ > 0 && machine_.scheduler.HoldsSeat()) continue;
      phase_.store(ProcessPhase::kReady, std::memory_order_relaxed);
      EndTurn();
      machine_.scheduler.ReadyAgain(*this);
      return;
    }
    // 3 Nothing can go on: the end, or a wait.
    if (tasks_.empty()) {
      Finish();
      return;
    }
    phase_.store(ProcessPhase::kWaiting, std::memory_order_relaxed);
    EndTurn();
    if (completions_.TryWait()) return;
    phase_.store(ProcessPhase::kRunning, std::memory_order_relaxed);
    BeginTurn();
  }
}

bool Process::Start() {
  // A script's state lives long, and its memory goes back to the system when it has shrunk.
  const StateImage* const image =
      options_.script ? nullptr : machine_.images.For(options_.libraries);
  if (image != nullptr) L_ = image->Copy(&allocator_, &record_, CurrentList());
  if (L_ == nullptr) L_ = NewState(&allocator_, &record_);
  if (L_ == nullptr) return false;
  allocator_.CollectInTime();
  if (machine_.slices.kept_period > 0) KeepSliceHook(L_, machine_.slices.kept_period);
  body_ = Ref<Task>::Adopt(new (std::nothrow) Task(*this, L_, LUA_NOREF));
  if (!body_) {
    CloseState(std::exchange(L_, nullptr), CurrentList());
    return false;
  }
  // A light C function and two pointers: pushing them needs no memory.
  body_->arguments_ = TaskEntry::PushBody(L_);
  body_->AddRef();
  tasks_.PushBack(*body_);
  ready_.PushBack(*body_);
  return true;
}

int Process::CurrentList() const { return std::max(machine_.scheduler.CurrentWorker(), 0); }

void Process::TakeCompletions() {
  if (cpu_limit_ != nullptr) LookAtCpuLimit();
  Waiter* waiter = completions_.TakeAll();
  while (waiter != nullptr) {
    Waiter* next = Completions::Next(*waiter);
    if (waiter == &interrupt_request_) {
      BeginInterrupt();
    } else if (waiter == &cancel_request_) {
      BeginCancel(end_request_.Take());
    } else if (waiter == &call_request_) {
      CancelCalls();
    } else {
      WaitIsOver(static_cast<Task&>(*waiter));
    }
    waiter = next;
  }
}

void Process::WaitIsOver(Task& task) {
  if (task.nested_) {
    task.nested_done_ = true;
  } else {
    ready_.PushBack(task);
  }
}

Process::Turn Process::Resume(Task& task) { return ResumeInline(task); }

void Process::CollectBetweenTasks() {
  // A finalizer that returns to a Lua function tells it where it stood, which is one instruction
  // too early while that stands in a hook: hooks of the user would see a line twice.
  lua_Debug top = {};
  if (lua_getstack(L_, 0, &top) != 0 && lua_getinfo(L_, "S", &top) != 0 && *top.what != 'C') return;
  // Finalizers run as at the end of the process: as the body, and not to wait.
  closing_ = true;
  current_ = body_.get();
  lua_gc(L_, LUA_GCCOLLECT);
  current_ = nullptr;
  closing_ = false;
}

Task* Process::NewTask(lua_State* L, int arguments) {
  lua_State* thread = lua_newthread(L);
  lua_pushvalue(L, -1);
  const int anchor = luaL_ref(L, LUA_REGISTRYINDEX);
  Task* task = lua_checkstack(thread, arguments + 4) != 0 ? new (std::nothrow)
                                                                Task(*this, thread, anchor)
                                                          : nullptr;
  if (task == nullptr) {
    luaL_unref(L, LUA_REGISTRYINDEX, anchor);
    luaL_error(L, "not enough memory");
    return nullptr;
  }
  lua_insert(L, -(arguments + 2));
  TaskEntry::PushTask(thread);
  lua_xmove(L, thread, arguments + 1);
  task->arguments_ = arguments + 1;
  // Cleanup code may start tasks, but they end with it.
  task->cancel_requested_ = cancelled_;
  task->cleanup_deadline_ = cleanup_deadline_;
  task->AddRef();  // the process' reference, until the task has ended
  tasks_.PushBack(*task);
  ready_.PushBack(*task);
  return task;
}

void Process::EndTask(Task& task, ExitKind end) {
  SHOAL_DCHECK(!task.waiting());
  task.end_ = end;
  static_cast<ListLink<TaskTag>&>(task).Unlink();
  if (task.anchor_ != LUA_NOREF) {
    // On the task's own stack: the main thread's may stand in the middle of a call.
    if (lua_checkstack(task.thread_, 4) != 0) {
      luaL_unref(task.thread_, LUA_REGISTRYINDEX, task.anchor_);
    }
  }
  while (WaitNode* node = task.joiners_.PopFront()) {
    Waiter& waiter = *node->waiter;
    if (!waiter.TryClaim()) continue;
    waiter.SetOutcome(Status::kOk, node->index);
    task.joined_ = true;
    waiter.Notify();
  }
  // What a limit raises is no fault of the cleanup.
  if (end == ExitKind::kCancelled && task.failed_ && end_text_.empty()) ReportCleanup(task);
  task.TellWatches();
  task.DropShields();
  if (&task == body_.get()) {
    // An error of the body ends the process; its other tasks clean up.
    if (end != ExitKind::kDone) {
      BeginCancel(DeadlineAfter(machine_.clock.Now(), kCleanupTime));
    } else if (interrupted_) {
      machine_.program_end.EndInterrupted();
    }
  } else if (end == ExitKind::kCancelled && cancelled_) {
    cut_short_ = true;
  } else if (end == ExitKind::kError && !task.joined_) {
    ReportTask(task);
  }
  task.Release();
}

void Process::BeginAside(Task& task) {
  current_ = &task;
  record_.task = record_.current = task.thread_;
  // Nobody resumes the thread, whatever Lua says of it.
  record_.barrier = 1;
  record_.unwinding = task.unwinding_;
}

void Process::Finish() {
  closing_ = true;
  // What __tostring, __transfer and finalizers call runs as the body, and cannot wait.
  BeginAside(*body_);
  // Tasks that went on after the body had returned were ended by a cancel: so was the process.
  if (cut_short_ && body_->end_ == ExitKind::kDone) body_->end_ = ExitKind::kCancelled;
  if (end_text_.empty()) {
    const InterruptSection section(running_code_);
    TaskEntry::KeepExit(*this);
  }
  if (!end_text_.empty()) KeepLimitAsError();
  lua_State* const L = std::exchange(L_, nullptr);
  // From here on no hook is armed: in finalizers they are off, and then the threads go.
  record_.current = nullptr;
  {
    const InterruptSection section(running_code_);
    CloseState(L, CurrentList());
  }
  current_ = nullptr;
  EndTurn();
  machine_.messages_sent.fetch_add(sent_.value(), std::memory_order_relaxed);
  const bool by_link = body_->end_ == ExitKind::kCancelled && end_request_.failure();
  FinishWith(by_link ? ExitKind::kError : body_->end_, std::move(exit_message_),
             std::move(exit_traceback_));
}

void Process::FinishWith(ExitKind kind, MessagePtr message, std::string traceback) {
  // The table's reference goes with Unlist; this one is for the rest of the function.
  const Ref<Process> self = Ref<Process>::Share(this);
  Machine& machine = machine_;
  const std::string text = std::move(exit_text_);
  phase_.store(ProcessPhase::kExited, std::memory_order_relaxed);
  completions_.Exit();
  call_requests_.Close();
  cleanup_alarm_.reset();
  // A process that returns its own handle does not keep itself.
  if (message != nullptr) message->ReleaseSelfReferences(this);
  const Ref<Failure> failure =
      kind == ExitKind::kError ? FailureOf(text, traceback) : Ref<Failure>();
  // Before others are told: one of them may end at once, and bring this process its own failure.
  const bool came_by_link = failure && failure.get() == end_request_.failure().get();
  machine.processes.Unlist(*this);
  if (exit_.Set(kind, std::move(message), std::move(traceback), failure)) {
    machine.unjoined_errors.fetch_sub(1);
  }
  if (failure) {
    if (!daemon() && failure->Count()) machine.unjoined_errors.fetch_add(1);
    // One that came by a link is reported by the process that it began in, however late that gets
    // to it; only the script ends with it at once.
    if (!came_by_link || options_.script) ReportError(failure, text, exit_.traceback());
  }
  machine.processes.Leave(*this);
  machine.program_end.Reconsider();
}

}  // namespace shoal::core
