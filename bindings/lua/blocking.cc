// SPDX-License-Identifier: MIT
#include "bindings/lua/blocking.h"

#include "runtime/lua/protected_call.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Process;
using core::Status;

namespace {

constexpr char kMetatable[] = "shoal.blocking";

// A to-be-closed value below the call: so errors pass with their traceback.
struct Section {
  bool blocking;  // without a seat that was given away for it
};

// __close: the thread gets a seat again.
int EndSection(lua_State* L) {
  auto& section = *static_cast<Section*>(lua_touserdata(L, 1));
  if (!section.blocking) return 0;
  section.blocking = false;
  Process::Of(L).EndBlocking();
  return 0;
}

// [-0, +1, m]
Section& PushSection(lua_State* L) {
  auto* section = static_cast<Section*>(lua_newuserdatauv(L, sizeof(Section), 0));
  section->blocking = false;
  if (luaL_newmetatable(L, kMetatable) != 0) {
    lua_pushcfunction(L, EndSection);
    lua_setfield(L, -2, "__close");
  }
  lua_setmetatable(L, -2);
  return *section;
}

// The section stands below the results. What was asked of the task meanwhile is raised.
int Return(lua_State* L, int, lua_KContext) {
  if (!Process::Of(L).closing()) static_cast<void>(core::BeforeWait(L));
  return lua_gettop(L) - 1;
}

int BlockingAgain(lua_State* L, int, lua_KContext) { return Blocking(L); }

}  // namespace

int Blocking(lua_State* L) {
  core::CheckCallable(L, 1);
  Process& process = Process::Of(L);
  if (!process.closing() && core::BeforeWait(L)) return core::YieldTurn(L, BlockingAgain);
  Section& section = PushSection(L);
  lua_insert(L, 1);
  lua_toclose(L, 1);
  const Status began = process.BeginBlocking();
  if (began == Status::kFull) return luaL_error(L, "cannot block: too many threads are blocked");
  // If no other thread can be had, the others wait.
  section.blocking = began == Status::kOk;
  // Not to be suspended: when it has waited, the thread goes on here.
  lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
  if (!section.blocking || !core::CanSuspend(L, core::RecordOf(L))) {
    lua_closeslot(L, 1);
    return Return(L, LUA_OK, 0);
  }
  // The process queues for a worker, and this thread becomes a spare one.
  section.blocking = false;
  process.LeaveBlocking();
  return core::YieldTurn(L, Return);
}

}  // namespace shoal::bindings
