// SPDX-License-Identifier: MIT
// The methods of what ends, processes and tasks: join, result, cancel, and what `<close>` does.
//
// `Kind` says what differs:
//   using Handle;                                   core::Process, core::Task
//   static Handle& Check(lua_State* L);             the one at index 1; raises
//   static bool IsCaller(lua_State* L, Handle&);    it would wait for itself
//   static bool HasEnded(Handle&);
//   static core::Status JoinOrWait(Handle&, core::WaitNode&);
//   static void Describe(lua_State* L, std::string& text);
//   static void Cancel(lua_State* L, Handle&, core::Duration cleanup_time);
//   static int PushEnd(lua_State* L, Want want);    what `want` makes of its end; may suspend
//   kIsCaller                                       what is wrong with waiting for itself
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>
#include <string>

#include "bindings/lua/arguments.h"
#include "bindings/lua/outcome.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

// join returns the outcome; result returns the results or raises; select returns what join does
// behind the number on the stack's top.
enum class Want : lua_KContext { kJoin, kResult, kSelect };
constexpr int NumbersBefore(Want want) { return want == Want::kSelect ? 1 : 0; }

// [-0, +1, m]
inline int PushTrue(lua_State* L) {
  lua_pushboolean(L, 1);
  return 1;
}

template <class Kind>
class Ending {
 public:
  template <Want kWant>
  static int Join(lua_State* L) {
    Handle& handle = Kind::Check(L);
    const core::Duration timeout = CheckTimeout(L, kTimeout);
    luaL_argcheck(L, !Kind::IsCaller(L, handle), kHandle, Kind::kIsCaller);
    if (core::BeforeWait(L)) return core::YieldTurn(L, Again<Join<kWant>>);
    lua_settop(L, kTimeout);
    if (Kind::HasEnded(handle)) return Kind::PushEnd(L, kWant);
    if (timeout == core::Duration::zero()) return PushTimeoutOf(L, kWant);
    if (!Publish(L, handle)) return Kind::PushEnd(L, kWant);
    core::ArmDeadline(L, DeadlineFor(L, timeout));
    return core::Suspend(L, static_cast<lua_KContext>(kWant), JoinDone);
  }

  // cancel([timeout]): asks it to end, and waits for that if a timeout is given.
  static int Cancel(lua_State* L) {
    Handle& handle = Kind::Check(L);
    const bool waits = !lua_isnoneornil(L, kTimeout);
    const core::Duration timeout = CheckTimeout(L, kTimeout);
    Kind::Cancel(L, handle, waits ? timeout : core::Process::kCleanupTime);
    if (!waits) return PushTrue(L);
    if (core::BeforeWait(L)) return core::YieldTurn(L, Again<Cancel>);
    // It has been asked for; only what cleans up, or is shielded, comes here.
    luaL_argcheck(L, !Kind::IsCaller(L, handle), kHandle, Kind::kIsCaller);
    lua_settop(L, kTimeout);
    if (Kind::HasEnded(handle)) return PushTrue(L);
    if (timeout == core::Duration::zero()) return PushOutcome(L, core::Status::kTimeout);
    if (!Publish(L, handle)) return PushTrue(L);
    core::ArmDeadline(L, DeadlineFor(L, timeout));
    return core::Suspend(L, 0, CancelDone);
  }

  // `local p <close> = shoal.spawn(…)`: leaving the scope cancels and joins.
  static int Close(lua_State* L) {
    Handle& handle = Kind::Check(L);
    Kind::Cancel(L, handle, core::Process::kCleanupTime);
    if (Kind::IsCaller(L, handle) || Kind::HasEnded(handle) || !Publish(L, handle)) return 0;
    core::ArmDeadline(L, core::kNever);
    return core::Suspend(L, 0, CloseDone);
  }

 private:
  using Handle = typename Kind::Handle;
  static constexpr int kHandle = 1;
  static constexpr int kTimeout = 2;

  template <lua_CFunction kFunction>
  static int Again(lua_State* L, int, lua_KContext) {
    return kFunction(L);
  }

  // Opens a wait for its end; false if it has ended meanwhile.
  static bool Publish(lua_State* L, Handle& handle) {
    core::Task& task = core::BeginWait(L, core::WaitReason::kJoin, Kind::Describe);
    if (Kind::JoinOrWait(handle, task.Nodes(1)[0]) != core::Status::kOk) return true;
    core::DropWait(L);
    return false;
  }

  static int PushTimeoutOf(lua_State* L, Want want) {
    if (want == Want::kJoin) return PushOutcome(L, core::Status::kTimeout);
    PushTimeout(L);
    return lua_error(L);
  }

  static int JoinDone(lua_State* L, int, lua_KContext context) {
    const auto want = static_cast<Want>(context);
    return core::EndWait(L) == core::Status::kOk ? Kind::PushEnd(L, want) : PushTimeoutOf(L, want);
  }

  static int CancelDone(lua_State* L, int, lua_KContext) {
    const core::Status status = core::EndWait(L);
    return status == core::Status::kOk ? PushTrue(L) : PushOutcome(L, status);
  }

  static int CloseDone(lua_State* L, int, lua_KContext) {
    static_cast<void>(core::EndWait(L));
    return 0;
  }
};

// What a call that ends with an error value does with the value on the top and the traceback of
// where it was raised: join returns both behind nil; result raises the value, a string with the
// traceback behind it. [-1, +3, e]
int PushFailure(lua_State* L, Want want, std::string_view traceback);
// The same for the error with which a process or a call has ended.
int PushExitError(lua_State* L, Want want, core::Exit& exit);
// The same for a cancel. [-0, +2, e]
int PushCancellation(lua_State* L, Want want);

}  // namespace shoal::bindings
