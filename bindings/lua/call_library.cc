// SPDX-License-Identifier: MIT
#include "bindings/lua/call_library.h"

#include <string>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/handles.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/monitor.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Call;
using core::Duration;
using core::Exit;
using core::ExitKind;
using core::Message;
using core::MessagePtr;
using core::Process;
using core::Status;
using core::WaitReason;

namespace {

constexpr int kFuture = 1;
constexpr int kDeadline = 2;  // of AwaitCall

core::TimePoint CleanupDeadline(lua_State* L, Duration cleanup_time) {
  return core::DeadlineAfter(Process::Of(L).machine().clock.Now(), cleanup_time);
}

void Describe(lua_State*, std::string& text) { text += " of a call"; }

struct CallEnding {
  using Handle = Call;
  static constexpr char kIsCaller[] = "a call cannot join itself";
  static Call& Check(lua_State* L) { return CheckFuture(L, kFuture); }
  static bool IsCaller(lua_State*, Call&) { return false; }
  static bool HasEnded(Call& call) { return call.exit().kind() != ExitKind::kNone; }
  static Status JoinOrWait(Call& call, core::WaitNode& node) {
    return call.exit().JoinOrWait(node);
  }
  static void Describe(lua_State* L, std::string& text) { bindings::Describe(L, text); }
  static void Cancel(lua_State* L, Call& call, Duration cleanup_time) {
    call.Cancel(CleanupDeadline(L, cleanup_time));
  }
  static int PushEnd(lua_State* L, Want want);
  static int ErrorDecoded(lua_State* L, int, lua_KContext want);
};

int PushClosed(lua_State* L, Want want) {
  if (want == Want::kResult) return luaL_error(L, "the pool is closed");
  return NumbersBefore(want) + PushOutcome(L, Status::kClosed);
}

int CallEnding::ErrorDecoded(lua_State* L, int, lua_KContext want) {
  return PushExitError(L, static_cast<Want>(want), Check(L).exit());
}

int CallEnding::PushEnd(lua_State* L, Want want) {
  Call& call = Check(L);
  Exit& exit = call.exit();
  const ExitKind kind = exit.kind();
  if (kind == ExitKind::kCancelled) return PushCancellation(L, want);
  if (kind == ExitKind::kDone) {
    if (want != Want::kResult) lua_pushboolean(L, 1);
    return DeliverKept(L, *exit.message(), want == Want::kResult ? 0 : 1 + NumbersBefore(want));
  }
  if (call.closed()) return PushClosed(L, want);
  const auto context = static_cast<lua_KContext>(want);
  if (exit.message() != nullptr && core::NeedsModules(L, *exit.message())) {
    return core::RequireModules(L, *exit.message(), context, ErrorDecoded);
  }
  return ErrorDecoded(L, LUA_OK, context);
}

// --- the future

int StatusOf(lua_State* L) {
  Call& call = CheckFuture(L, kFuture);
  const char* status = call.begun() ? "running" : "ready";
  if (const char* end = core::ToString(call.exit().kind())) status = end;
  lua_pushstring(L, status);
  return 1;
}

int PushText(lua_State* L) {
  lua_pushfstring(L, "future: %p", static_cast<const void*>(&CheckFuture(L, kFuture)));
  return 1;
}

const luaL_Reg kMethods[] = {{"join", Ending<CallEnding>::Join<Want::kJoin>},
                             {"result", Ending<CallEnding>::Join<Want::kResult>},
                             {"cancel", Ending<CallEnding>::Cancel},
                             {"status", StatusOf},
                             {nullptr, nullptr}};

// No Lua call in here raises. Null: memory is short; then the message is freed.
Call* MakeCall(Message* arguments) { return core::TryNew<Call>(MessagePtr(arguments)); }

}  // namespace

const HandleKind kFutureKind = {"shoal.future", "future", kMethods,
                                nullptr,        PushText, Ending<CallEnding>::Close};

int PushEndOfCall(lua_State* L) { return CallEnding::PushEnd(L, Want::kSelect); }

void PushNewCall(lua_State* L, int first) {
  Message* const arguments = core::Encode(L, first, lua_gettop(L) - first + 1);
  Call* const call = MakeCall(arguments);
  CheckMemory(L, call != nullptr);
  PushNewFuture(L, call);
}

int NewCall(lua_State* L) {
  luaL_checkany(L, 1);
  PushNewCall(L, 1);
  return 1;
}

int WatchCall(lua_State* L) {
  Call& call = CheckFuture(L, 1);
  core::Channel& channel = CheckChannel(L, 2);
  const auto number = static_cast<std::uint64_t>(luaL_checkinteger(L, 4));
  const core::KeyName key = CheckKey(L, 3);
  core::Monitor* const monitor =
      core::TryNew<core::Monitor>(channel, key, number, core::Monitor::Form::kNumber);
  CheckMemory(L, monitor != nullptr);
  static_cast<void>(call.exit().Watch(*monitor));
  monitor->Release();
  return 0;
}

// --- sending

namespace {

// The message that is its answer, in the outbox of the task. False: memory is short.
bool PutAnswer(lua_State* L, Call& call) {
  MessagePtr message = core::MakeAnswerMessage(call);
  if (message == nullptr) return false;
  Process::Of(L).current_task().outbox().PushBack(std::move(message));
  return true;
}

int SendCallAgain(lua_State* L, int, lua_KContext) { return SendCall(L); }

int AwaitDone(lua_State* L, int, lua_KContext context) {
  const auto want = static_cast<Want>(context);
  const Status status = core::TakeOutcome(L);
  if (status == Status::kOk) return CallEnding::PushEnd(L, want);
  CheckFuture(L, kFuture).Cancel(CleanupDeadline(L, Process::kCleanupTime));
  core::RaiseOutcome(L, status);
  return PushOutcome(L, status);
}

}  // namespace

int SendCall(lua_State* L) {
  core::Channel& channel = CheckChannel(L, 1);
  const Duration timeout = CheckTimeout(L, 2);
  Call& call = CheckFuture(L, 4);
  static_cast<void>(CheckKey(L, 3));
  if (core::BeforeWait(L)) return core::YieldTurn(L, SendCallAgain);
  CheckMemory(L, PutAnswer(L, call));
  return SendOutbox(L, channel, 3, timeout);
}

int AwaitCall(lua_State* L, Want want) {
  lua_settop(L, kDeadline);
  Call& call = CheckFuture(L, kFuture);
  core::Task& task = core::BeginWait(L, WaitReason::kJoin, Describe);
  if (call.exit().JoinOrWait(task.Nodes(1)[0]) == Status::kOk) {
    core::DropWait(L);
    return CallEnding::PushEnd(L, want);
  }
  core::ArmDeadline(L, core::TimePoint(Duration(lua_tointeger(L, kDeadline))));
  return core::Suspend(L, static_cast<lua_KContext>(want), AwaitDone);
}

}  // namespace shoal::bindings
