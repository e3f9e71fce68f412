// SPDX-License-Identifier: MIT
#include "runtime/lua/coroutine.h"

#include "runtime/base/check.h"
#include "runtime/lua/require.h"
#include "runtime/lua/slice.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// What Run returns in place of a number of results.
constexpr int kFailed = -1;     // the error value is on top of L's stack
constexpr int kSuspended = -2;  // the task is being suspended: yield, and run the coroutine again

// The coroutine that a function got as its first argument.
lua_State* CheckCoroutine(lua_State* L) {
  lua_State* const co = lua_tothread(L, 1);
  luaL_argexpected(L, co, 1, "thread");
  return co;
}

// The base coroutine of a task is to its code what the main thread is to a stock script.
bool IsBase(const StateRecord& record, lua_State* co) {
  return co == record.task || co == record.main;
}

// True if `co` stands still below or beside L without being L's to resume: it is on the chain of a
// suspended task, or it is the main thread.
bool IsHeldByTask(lua_State* L, const StateRecord& record, lua_State* co) {
  return OnSuspendedChain(co) || (co == record.main && co != L);
}

// Makes `co` the one that runs. What was asked of the one that ran before, and may have armed its
// hook, is asked of it.
void SetCurrent(StateRecord& record, lua_State* co) {
  record.current = co;
  if (record.slice_is_over) EndSlice(record);
}

// Closes the pending variables of `co` and makes it dead. Waits in the `__close` handlers cannot
// suspend the task, as lua_resetthread does not yield. Returns the status; if it is an error, its
// value is on top of co's stack.
int CloseCoroutine(StateRecord& record, lua_State* co) {
  lua_State* const current = record.current;
  const int barrier = record.barrier;
  SetCurrent(record, co);
  record.barrier = barrier + 1;
  const int status = lua_resetthread(co);
  SetCurrent(record, current);
  record.barrier = barrier;
  // The end of the slice may have come for `co`, which has run no instruction since.
  if (record.slice_is_over) EndSlice(record);
  return status;
}

bool IsDeadByError(lua_State* co) {
  const int status = lua_status(co);
  return status != LUA_OK && status != LUA_YIELD;
}

// Runs `co` with the `count` topmost values of L, which are popped, until it yields or ends.
// Returns the number of results, which are then on L's stack, or one of the values above.
int Run(lua_State* L, lua_State* co, int count) {
  StateRecord& record = RecordOf(L);
  if (IsHeldByTask(L, record, co)) {
    lua_pushliteral(L, "cannot resume non-suspended coroutine");
    return kFailed;
  }
  if (lua_checkstack(co, count) == 0) {
    lua_pushliteral(L, "too many arguments to resume");
    return kFailed;
  }
  lua_xmove(L, co, count);

  // lua_resume always comes back here, so both are always restored.
  lua_State* const current = record.current;
  const int barrier = record.barrier;
  record.barrier = barrier + (CanSuspend(L, record) ? 0 : 1);
  SetCurrent(record, co);
  int results = 0;
  const int status = lua_resume(co, L, count, &results);
  SetCurrent(record, current);
  record.barrier = barrier;
  if (record.slice_is_over) EndSlice(record);

  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    if (record.loads != nullptr) LoadsMayHaveFailed(L);
    return kFailed;
  }
  if (record.token != SwitchToken::kNone && status == LUA_YIELD) {
    SHOAL_DCHECK(results == 0 && CanSuspend(L, record));
    MarkSuspendedChain(co, true);
    return kSuspended;
  }
  if (lua_checkstack(L, results + 1) == 0) {
    lua_pop(co, results);
    lua_pushliteral(L, "too many results to resume");
    return kFailed;
  }
  lua_xmove(co, L, results);
  return results;
}

// Goes on with `co`, on whose behalf the caller has yielded.
int RunAgain(lua_State* L, lua_State* co) {
  MarkSuspendedChain(co, false);
  return Run(L, co, 0);
}

// resume ------------------------------------------------------------------------------------------

int ContinueResume(lua_State* L, int status, lua_KContext context);

// `unwinding` is the record's from before the call.
int FinishResume(lua_State* L, lua_State* co, int results, lua_KContext unwinding) {
  if (results >= 0) {
    lua_pushboolean(L, 1);
    lua_insert(L, -(results + 1));
    return results + 1;
  }
  if (results == kSuspended) return lua_yieldk(L, 0, unwinding, ContinueResume);

  StateRecord& record = RecordOf(L);
  if (record.unwinding != unwinding) {
    // Whoever would have closed `co` is being unwound too.
    if (IsDeadByError(co)) {
      CloseCoroutine(record, co);
      lua_xmove(co, L, 1);
    }
    return lua_error(L);
  }
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

int ContinueResume(lua_State* L, int /*status*/, lua_KContext unwinding) {
  lua_State* const co = lua_tothread(L, 1);
  return FinishResume(L, co, RunAgain(L, co), unwinding);
}

int Resume(lua_State* L) {
  lua_State* const co = CheckCoroutine(L);
  const lua_KContext unwinding = RecordOf(L).unwinding;
  return FinishResume(L, co, Run(L, co, lua_gettop(L) - 1), unwinding);
}

// wrap --------------------------------------------------------------------------------------------

int ContinueWrapped(lua_State* L, int status, lua_KContext context);

int FinishWrapped(lua_State* L, lua_State* co, int results) {
  if (results >= 0) return results;
  if (results == kSuspended) return lua_yieldk(L, 0, 0, ContinueWrapped);

  int status = lua_status(co);
  if (IsDeadByError(co)) {
    // A `__close` may have replaced the error.
    status = CloseCoroutine(RecordOf(L), co);
    lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

int ContinueWrapped(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  lua_State* const co = lua_tothread(L, lua_upvalueindex(1));
  return FinishWrapped(L, co, RunAgain(L, co));
}

int CallWrapped(lua_State* L) {
  lua_State* const co = lua_tothread(L, lua_upvalueindex(1));
  return FinishWrapped(L, co, Run(L, co, lua_gettop(L)));
}

int Wrap(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State* const co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, CallWrapped, 1);
  return 1;
}

// The rest ----------------------------------------------------------------------------------------

int Yield(lua_State* L) {
  const StateRecord& record = RecordOf(L);
  if (IsBase(record, L)) {
    lua_pushliteral(L, "attempt to yield from outside a coroutine");
    return lua_error(L);
  }
  if (record.loads != nullptr && IsLoadingModule(L)) {
    lua_pushliteral(L, "attempt to yield across a C-call boundary");
    return lua_error(L);
  }
  return lua_yield(L, lua_gettop(L));
}

enum CoroutineStatus : int { kRunning, kDead, kWaiting, kNormal };
constexpr const char* kStatusNames[] = {"running", "dead", "suspended", "normal"};

CoroutineStatus StatusOf(lua_State* L, lua_State* co) {
  if (co == L) return kRunning;
  if (IsHeldByTask(L, RecordOf(L), co)) return kNormal;
  switch (lua_status(co)) {
    case LUA_YIELD:
      return kWaiting;
    case LUA_OK: {
      lua_Debug frame;
      if (lua_getstack(co, 0, &frame) != 0) return kNormal;
      // Without a frame: it holds its function until it starts, and nothing when it has ended.
      return lua_gettop(co) == 0 ? kDead : kWaiting;
    }
    default:
      return kDead;
  }
}

int Status(lua_State* L) {
  lua_pushstring(L, kStatusNames[StatusOf(L, CheckCoroutine(L))]);
  return 1;
}

int Close(lua_State* L) {
  lua_State* const co = CheckCoroutine(L);
  const CoroutineStatus status = StatusOf(L, co);
  if (status != kDead && status != kWaiting) {
    return luaL_error(L, "cannot close a %s coroutine", kStatusNames[status]);
  }
  StateRecord& record = RecordOf(L);
  const std::uint32_t unwinding = record.unwinding;
  if (CloseCoroutine(record, co) == LUA_OK) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushboolean(L, 0);
  lua_xmove(co, L, 1);
  return record.unwinding == unwinding ? 2 : lua_error(L);
}

int IsYieldable(lua_State* L) {
  lua_State* const co = lua_isnone(L, 1) ? L : CheckCoroutine(L);
  const StateRecord& record = RecordOf(L);
  const bool is_loading = record.loads != nullptr && IsLoadingModule(co);
  lua_pushboolean(L, !IsBase(record, co) && !is_loading && lua_isyieldable(co));
  return 1;
}

int Running(lua_State* L) {
  lua_pushthread(L);
  lua_pushboolean(L, IsBase(RecordOf(L), L));
  return 2;
}

constexpr luaL_Reg kFunctions[] = {
    {"resume", Resume},   {"wrap", Wrap},     {"yield", Yield},
    {"close", Close},     {"status", Status}, {"isyieldable", IsYieldable},
    {"running", Running}, {nullptr, nullptr},
};

}  // namespace

void OpenCoroutine(lua_State* L) { luaL_setfuncs(L, kFunctions, 0); }

}  // namespace shoal::core
