// SPDX-License-Identifier: MIT
#include "runtime/process/shield.h"

#include "runtime/lua/protected_call.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::core {

namespace {

constexpr char kMetatable[] = "shoal.shield";

// __gc.
int DropShield(lua_State* L) {
  auto* shield = static_cast<Shield*>(lua_touserdata(L, 1));
  if (shield->task != nullptr) shield->task->RemoveShield(*shield);
  return 0;
}

// __close.
int EndShield(lua_State* L) {
  DropShield(L);
  Process& process = Process::Of(L);
  // The interrupt of a cancel comes once, and may have come in the shield.
  if (process.current_task().MustRaiseCancelled()) process.machine().scheduler.Interrupt();
  return 0;
}

// [-0, +1, m]
Shield& PushShield(lua_State* L) {
  auto* shield = static_cast<Shield*>(lua_newuserdatauv(L, sizeof(Shield), 1));
  *shield = {.next = nullptr, .task = nullptr, .co = L};
  lua_pushthread(L);
  lua_setiuservalue(L, -2, 1);
  if (luaL_newmetatable(L, kMetatable) != 0) {
    lua_pushcfunction(L, EndShield);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, DropShield);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return *shield;
}

// The shield stands below the results.
int ShieldDone(lua_State* L, int, lua_KContext) { return lua_gettop(L) - 1; }

}  // namespace

int CallShielded(lua_State* L) {
  CheckCallable(L, 1);
  Process& process = Process::Of(L);
  // A loop may wait in shields alone. Cleanup code has its shields also beyond its time.
  Task& task = process.current_task();
  if (task.MustRaiseCancelled() && !task.unwinding()) RaiseOutcome(L, Status::kCancelled);
  Shield& shield = PushShield(L);
  lua_insert(L, 1);
  lua_toclose(L, 1);
  task.AddShield(shield);
  lua_callk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, ShieldDone);
  return ShieldDone(L, LUA_OK, 0);
}

void Task::AddShield(Shield& shield) {
  shield.task = this;
  shield.next = shields_;
  shields_ = &shield;
}

void Task::RemoveShield(Shield& shield) {
  Shield** link = &shields_;
  while (*link != &shield) link = &(*link)->next;
  *link = shield.next;
  shield.task = nullptr;
}

bool Task::IsShielded() const {
  for (const Shield* shield = shields_; shield != nullptr; shield = shield->next) {
    if (StandsInTask(shield->co, thread_)) return true;
  }
  return false;
}

}  // namespace shoal::core
