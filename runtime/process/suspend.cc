// SPDX-License-Identifier: MIT
#include "runtime/process/suspend.h"

#include <cstring>

#include "runtime/process/process.h"

namespace shoal::core {

namespace {

Task& Current(lua_State* L) { return Process::Of(L).current_task(); }

// What a finalizer raises, the collector drops.
bool IsInFinalizer(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "n", &frame);
    if (frame.name != nullptr && std::strcmp(frame.name, "__gc") == 0 &&
        std::strcmp(frame.namewhat, "metamethod") == 0) {
      return true;
    }
  }
  return false;
}

// Raises `shoal.cancelled`, or which limit was reached. From here on our pcall and its kin rethrow
// until the task has ended.
int RaiseCancelled(lua_State* L, Task& task) {
  task.BeginUnwinding(IsInFinalizer(L) ? Task::Raised::kInFinalizer : Task::Raised::kInCode);
  Process& process = task.process();
  if (process.end_text().empty()) {
    process.machine().library.PushCancelled(L);
  } else {
    lua_pushlstring(L, process.end_text().data(), process.end_text().size());
  }
  return lua_error(L);
}

}  // namespace

bool BeforeWait(lua_State* L) {
  Process& process = Process::Of(L);
  if (process.closing()) luaL_error(L, "cannot wait: the process has ended");
  Task& task = process.current_task();
  if (task.MustRaiseCancelled()) RaiseCancelled(L, task);
  if (process.TakeInterrupt()) luaL_error(L, "interrupted");
  const bool turn_is_over = !process.SpendCall() || process.owes_turn();
  if (!turn_is_over) return false;
  if (CanSuspend(L, RecordOf(L))) return true;
  if (process.is_host()) process.LetTasksRun();
  return false;
}

bool BeforeCall(lua_State* L) {
  Process& process = Process::Of(L);
  if (process.SpendCall()) return false;
  Task& task = process.current_task();
  if (task.MustRaiseCancelled()) RaiseCancelled(L, task);
  if (process.TakeInterrupt()) luaL_error(L, "interrupted");
  return CanSuspend(L, RecordOf(L));
}

int YieldTurn(lua_State* L, lua_KFunction again) { return YieldTurn(L, 0, again); }

int YieldTurn(lua_State* L, lua_KContext context, lua_KFunction again) {
  RecordOf(L).token = SwitchToken::kYield;
  return lua_yieldk(L, 0, context, again);
}

int YieldSlice(lua_State* L, lua_KFunction again) {
  RecordOf(L).token = SwitchToken::kSlice;
  return lua_yieldk(L, 0, 0, again);
}

Task& BeginWait(lua_State* L, WaitReason reason, DescribeWait describe) {
  Task& task = Current(L);
  task.OpenWait(L, reason, describe);
  return task;
}

void DropWait(lua_State* L) { static_cast<void>(Current(L).CloseWait()); }

void ArmDeadline(lua_State* L, TimePoint deadline) { Current(L).ArmDeadline(deadline); }

namespace {

const char* WhyNotNested(const Process& process, Status status) {
  if (status != Status::kNoThread) return "too many waits in functions that cannot yield";
  return process.machine().has_threads
             ? "the system refused another thread"
             : "the function cannot yield, and this runtime has no threads of its own";
}

[[gnu::noinline]] int SuspendNested(lua_State* L, lua_KContext context, lua_KFunction k) {
  Process& process = Process::Of(L);
  const Status status = process.WaitNested(L);
  if (status != Status::kOk) {
    static_cast<void>(process.current_task().CloseWait());
    if (status == Status::kInterrupted) return lua_error(L);
    return luaL_error(L, "cannot wait here: %s", WhyNotNested(process, status));
  }
  return k(L, LUA_YIELD, context);
}

}  // namespace

int Suspend(lua_State* L, lua_KContext context, lua_KFunction k) {
  StateRecord& record = RecordOf(L);
  if (!CanSuspend(L, record)) return SuspendNested(L, context, k);
  record.token = SwitchToken::kWait;
  return lua_yieldk(L, 0, context, k);
}

Status TakeOutcome(lua_State* L) { return Current(L).CloseWait(); }

void RaiseOutcome(lua_State* L, Status status) {
  Task& task = Current(L);
  if (status == Status::kCancelled) {
    RaiseCancelled(L, task);
  } else if (status == Status::kDeadlock) {
    luaL_error(L, "%s", task.process().deadlock_report().c_str());
  }
}

Status EndWait(lua_State* L) {
  const Status status = TakeOutcome(L);
  if (status == Status::kCancelled || status == Status::kDeadlock) RaiseOutcome(L, status);
  return status;
}

}  // namespace shoal::core
