// SPDX-License-Identifier: MIT
#include "bindings/lua/task_library.h"

#include <string>

#include "bindings/lua/arguments.h"
#include "bindings/lua/ending.h"
#include "bindings/lua/handles.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/shield.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Duration;
using core::ExitKind;
using core::Process;
using core::Status;
using core::Task;
using core::WaitReason;

namespace {

constexpr int kTask = 1;

struct TaskEnding {
  using Handle = Task;
  static constexpr char kIsCaller[] = "a task cannot join itself";
  static Task& Check(lua_State* L) { return CheckTask(L, kTask); }
  static bool IsCaller(lua_State* L, Task& task) { return &task == &Process::Of(L).current_task(); }
  static bool HasEnded(Task& task) { return task.end() != ExitKind::kNone; }
  static Status JoinOrWait(Task& task, core::WaitNode& node) { return task.JoinOrWait(node); }
  static void Describe(lua_State*, std::string& text) { text += " of a task"; }
  static void Cancel(lua_State* L, Task& task, Duration cleanup_time) {
    Process::Of(L).CancelTask(task, cleanup_time);
  }
  static int PushEnd(lua_State* L, Want want);
};

// Copies `count` values from the top of the ended task's stack. [-0, +count, m]
void CopyValues(lua_State* L, lua_State* thread, int count) {
  if (count == 0) return;
  luaL_checkstack(L, count, "too many results");
  // Its stack may be full to the last slot: one value at a time.
  if (lua_checkstack(thread, 1) == 0) luaL_error(L, "stack overflow in a task");
  const int first = lua_gettop(thread) - count + 1;
  for (int i = 0; i < count; ++i) {
    lua_pushvalue(thread, first + i);
    lua_xmove(thread, L, 1);
  }
}

int TaskEnding::PushEnd(lua_State* L, Want want) {
  Task& task = Check(L);
  task.MarkJoined();
  if (task.end() == ExitKind::kCancelled) return PushCancellation(L, want);
  if (task.end() == ExitKind::kDone) {
    if (want != Want::kResult) lua_pushboolean(L, 1);
    const int count = lua_gettop(task.thread());
    CopyValues(L, task.thread(), count);
    return count + (want == Want::kResult ? 0 : 1 + NumbersBefore(want));
  }
  CopyValues(L, task.thread(), 1);
  return PushFailure(L, want, task.traceback());
}

int StatusOf(lua_State* L) {
  const Task& task = CheckTask(L, kTask);
  const char* status = task.waiting() ? "waiting" : "ready";
  if (&task == &Process::Of(L).current_task()) status = "running";
  if (const char* end = core::ToString(task.end())) status = end;
  lua_pushstring(L, status);
  return 1;
}

int PushText(lua_State* L) {
  lua_pushfstring(L, "task: %p", static_cast<const void*>(&CheckTask(L, kTask)));
  return 1;
}

// Who leaves the scope of a task has no use for its error.
int Close(lua_State* L) {
  CheckTask(L, kTask).MarkJoined();
  return Ending<TaskEnding>::Close(L);
}

const luaL_Reg kMethods[] = {{"join", Ending<TaskEnding>::Join<Want::kJoin>},
                             {"result", Ending<TaskEnding>::Join<Want::kResult>},
                             {"cancel", Ending<TaskEnding>::Cancel},
                             {"status", StatusOf},
                             {nullptr, nullptr}};

}  // namespace

const HandleKind kTaskKind = {"shoal.task", "task", kMethods, nullptr, PushText, Close};

int PushEndOfTask(lua_State* L) { return TaskEnding::PushEnd(L, Want::kSelect); }

int NewTask(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  Process& process = Process::Of(L);
  if (process.closing()) return luaL_error(L, "cannot start a task: the process has ended");
  Task* task = process.NewTask(L, lua_gettop(L) - 1);
  PushNewTask(L, task);
  return 1;
}

namespace {

int SleepDone(lua_State* L, int, lua_KContext) {
  static_cast<void>(core::EndWait(L));
  return 0;
}

int SleepAgain(lua_State* L, int, lua_KContext) { return Sleep(L); }
int YieldDone(lua_State*, int, lua_KContext) { return 0; }

// Lets the others go first, now. Where Lua cannot yield, by a wait for the present moment.
int YieldHere(lua_State* L) {
  if (core::CanSuspend(L, core::RecordOf(L))) return core::YieldTurn(L, YieldDone);
  // A host holds no seat that others wait for, so its tasks are all who go first.
  Process& process = Process::Of(L);
  if (process.is_host()) {
    process.LetTasksRun();
    return 0;
  }
  core::BeginWait(L, WaitReason::kSleep, nullptr);
  core::ArmDeadline(L, process.machine().clock.Now());
  return core::Suspend(L, 0, SleepDone);
}

}  // namespace

int Sleep(lua_State* L) {
  const Duration time = CheckTime(L, 1);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SleepAgain);
  if (time == Duration::zero()) return YieldHere(L);
  core::BeginWait(L, WaitReason::kSleep, nullptr);
  core::ArmDeadline(L, DeadlineFor(L, time));
  return core::Suspend(L, 0, SleepDone);
}

int Yield(lua_State* L) {
  static_cast<void>(core::BeforeWait(L));
  return YieldHere(L);
}

int Shield(lua_State* L) { return core::CallShielded(L); }

int Now(lua_State* L) {
  const auto now = Process::Of(L).machine().clock.Now().time_since_epoch();
  lua_pushnumber(L, static_cast<double>(now.count()) / 1e9);
  return 1;
}

}  // namespace shoal::bindings
