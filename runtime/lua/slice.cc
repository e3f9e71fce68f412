// SPDX-License-Identifier: MIT
#include "runtime/lua/slice.h"

#include "runtime/base/pin.h"

namespace shoal::core {
namespace {

SliceEnd TakeSliceEnd(StateRecord& record) {
  SliceEnd end = record.slice_is_over ? SliceEnd::kAsked : SliceEnd::kNo;
  if (end == SliceEnd::kNo && record.hook_period != 0) end = record.host->SliceIsOver();
  if (end != SliceEnd::kNo) record.slice_is_over = false;
  if (end == SliceEnd::kAsked) record.host->HasMadeWay();
  return end;
}

void GiveWay(lua_State* L, SliceEnd end) {
  StateHost& host = *RecordOf(L).host;
  host.GiveWay();
  if (end == SliceEnd::kAsked) host.TakeRequests(L);
}

void SliceHook(lua_State* L, lua_Debug* /*frame*/) {
  // Also if the slice is not over: a coroutine inherits the hook of the one that made it, and one
  // that was armed may have been left before the next instruction.
  if (RecordOf(L).hook_period == 0) ResetHook(L);
  CheckSlice(L);
}

}  // namespace

SHOAL_IN_SIGNAL_HANDLER void EndSlice(StateRecord& record) {
  record.slice_is_over = true;
  const lua_Hook hook = lua_gethook(record.current);
  // Ours without a mask: it was set while C code took a hook of its own away, and is not armed.
  if (hook != nullptr && (hook != SliceHook || lua_gethookmask(record.current) != 0)) return;
  lua_sethook(record.current, SliceHook, LUA_MASKCOUNT, 1);
}

void KeepSliceHook(lua_State* L, int period) {
  RecordOf(L).hook_period = period;
  ResetHook(L);
}

void ResetHook(lua_State* L) {
  const int period = RecordOf(L).hook_period;
  const Pin pin;
  if (period == 0) {
    lua_sethook(L, nullptr, 0, 0);
  } else {
    lua_sethook(L, SliceHook, LUA_MASKCOUNT, period);
  }
}

bool IsSliceHook(lua_Hook hook) { return hook == SliceHook; }

void CheckRequests(lua_State* L) {
  StateRecord& record = RecordOf(L);
  StateHost& host = *record.host;
  const bool asked =
      record.slice_is_over || (record.hook_period != 0 && host.SliceIsOver() == SliceEnd::kAsked);
  if (asked) host.TakeRequests(L);
}

void GiveWayAtSliceEnd(lua_State* L) {
  const SliceEnd end = TakeSliceEnd(RecordOf(L));
  if (end != SliceEnd::kNo) GiveWay(L, end);
}

void CheckSlice(lua_State* L) {
  StateRecord& record = RecordOf(L);
  const SliceEnd end = TakeSliceEnd(record);
  if (end == SliceEnd::kNo) return;
  // 1 What has been asked of the process.
  if (end == SliceEnd::kAsked) record.host->TakeRequests(L);
  // 2 The task stands still, if it can here …
  if (CanSuspend(L, record)) {
    record.token = SwitchToken::kSlice;
    lua_yield(L, 0);
    return;
  }
  // 3 … else its thread does.
  GiveWay(L, end);
}

}  // namespace shoal::core
