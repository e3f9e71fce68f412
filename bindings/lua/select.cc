// SPDX-License-Identifier: MIT
#include "bindings/lua/select.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "bindings/lua/arguments.h"
#include "bindings/lua/call_library.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/process_library.h"
#include "bindings/lua/select_cases.h"
#include "bindings/lua/task_library.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::MessageList;
using core::Process;
using core::Status;
using core::Task;
using core::WaitReason;

namespace {

// The stack while it waits, behind the parts and the cases.
constexpr int kDeadline = 3;  // in nanoseconds of the clock

// From here to Finish, the messages stand in the nodes. False: memory is short.
bool TakeNodes(lua_State* L, MessageList* messages) {
  const Cases& cases = CasesOf(L);
  const std::span<core::WaitNode> nodes =
      Process::Of(L).current_task().Nodes(std::max<std::size_t>(cases.count, 1));
  if (nodes.empty()) return false;
  for (std::size_t i = 0; messages != nullptr && i < cases.count; ++i) {
    if (cases.cases[i].kind == CaseKind::kSend) nodes[i].messages.PushBack(messages->PopFront());
  }
  return true;
}

void ClearNodes(Task& task) {
  for (core::WaitNode& node : task.nodes()) node.messages.Clear();
}

// --- The wait.

// The case has happened with `status`: its number and what its own call returns.
int Finish(lua_State* L, std::uint32_t i, Status status) {
  Process& process = Process::Of(L);
  ClearNodes(process.current_task());
  if (status == Status::kNoMemory) return luaL_error(L, "not enough memory");
  const CaseKind kind = CasesOf(L).cases[i].kind;
  lua_rawgeti(L, kParts, KeyPart(i));
  lua_rawgeti(L, kParts, HandlePart(i));
  lua_replace(L, 1);
  lua_replace(L, 2);
  lua_settop(L, 2);
  lua_pushinteger(L, static_cast<lua_Integer>(i) + 1);
  if (status != Status::kOk) return 1 + PushOutcome(L, status);
  switch (kind) {
    case CaseKind::kReceive:
      return Deliver(L, Form::kNumbered, 2);
    case CaseKind::kSend:
      process.CountSent(1);
      [[fallthrough]];
    case CaseKind::kSocket:
      lua_pushboolean(L, 1);
      return 2;
    case CaseKind::kProcess:
      return PushEndOfProcess(L);
    case CaseKind::kTask:
      return PushEndOfTask(L);
    case CaseKind::kCall:
      return PushEndOfCall(L);
    case CaseKind::kNone:
      break;
  }
  return 0;
}

int SelectDone(lua_State* L, int, lua_KContext);

// The nodes hold the messages, and the wait is open. Returns what happens at once, or waits.
int FinishOrWait(lua_State* L) {
  const Cases& cases = CasesOf(L);
  Task& task = Process::Of(L).current_task();
  std::uint32_t index = 0;
  const Status status =
      core::SelectOrWait(cases.all(), task.nodes().first(cases.count), task, &index);
  if (status != Status::kPending) {
    core::DropWait(L);
    return Finish(L, index, status);
  }
  core::ArmDeadline(L, core::TimePoint(core::Duration(lua_tointeger(L, kDeadline))));
  return core::Suspend(L, 0, SelectDone);
}

int SelectDone(lua_State* L, int, lua_KContext) {
  const Cases& cases = CasesOf(L);
  Task& task = Process::Of(L).current_task();
  const Status outcome = core::TakeOutcome(L);
  if (outcome != Status::kOk && outcome != Status::kClosed && outcome != Status::kFull) {
    ClearNodes(task);
    core::RaiseOutcome(L, outcome);
    return PushOutcome(L, outcome);
  }
  const std::uint32_t index = task.index();
  const Status status = cases.pointers[index]->Completed(task.nodes()[index], outcome);
  if (status != Status::kEmpty) return Finish(L, index, status);
  // What there was room for has become something else.
  core::BeginWait(L, WaitReason::kSelect, DescribeCases);
  static_cast<void>(TakeNodes(L, nullptr));
  return FinishOrWait(L);
}

int SelectAgain(lua_State* L, int, lua_KContext) { return Select(L); }

// Refuses what means nothing, as a timeout that is misspelt. [-0, +0, e]
void CheckFields(lua_State* L, std::size_t count) {
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
    const lua_Integer number = lua_isinteger(L, -2) != 0 ? lua_tointeger(L, -2) : 0;
    if (number > 0 && static_cast<std::size_t>(number) <= count) continue;
    if (lua_type(L, -2) == LUA_TSTRING && std::strcmp(lua_tostring(L, -2), "timeout") == 0)
      continue;
    luaL_argerror(L, 1, lua_pushfstring(L, "unknown field '%s'", luaL_tolstring(L, -2, nullptr)));
  }
}

}  // namespace

int Select(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushliteral(L, "timeout");
  lua_rawget(L, 1);
  const core::Duration timeout = CheckTimeoutAt(L, 2, 1, "timeout");
  const auto count = static_cast<std::size_t>(lua_rawlen(L, 1));
  CheckFields(L, count);
  luaL_argcheck(L, count > 0 || timeout != kForever, 1, "neither a case nor a timeout");
  lua_settop(L, 1);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SelectAgain);
  MakeCases(L, count);
  const core::TimePoint deadline = DeadlineFor(L, timeout);
  lua_pushinteger(L, deadline.time_since_epoch().count());
  MessageList& messages = PushMessages(L);
  core::BeginWait(L, WaitReason::kSelect, DescribeCases);
  if (!TakeNodes(L, &messages)) {
    core::DropWait(L);
    return luaL_error(L, "not enough memory");
  }
  lua_settop(L, kDeadline);
  if (timeout != core::Duration::zero()) return FinishOrWait(L);
  Task& task = Process::Of(L).current_task();
  std::uint32_t index = 0;
  const Cases& cases = CasesOf(L);
  const Status status = core::TrySelect(cases.all(), task.nodes().first(count), &index);
  core::DropWait(L);
  if (status != Status::kEmpty) return Finish(L, index, status);
  ClearNodes(task);
  return PushOutcome(L, Status::kTimeout);
}

}  // namespace shoal::bindings
