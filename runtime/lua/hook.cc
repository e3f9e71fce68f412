// SPDX-License-Identifier: MIT
#include "runtime/lua/hook.h"

#include <cstdlib>

#include "runtime/base/pin.h"
#include "runtime/lua/slice.h"

namespace shoal::core {
namespace {

// The hook that a coroutine had before ours. In the record's list.
struct SavedHook {
  SavedHook* next;
  lua_State* co;
  lua_Hook function;
  int mask;
  int count;
};

// The link to the entry of `co`, or the list's last link.
SavedHook** FindHook(StateRecord& record, lua_State* co) {
  auto** link = reinterpret_cast<SavedHook**>(&record.raises);
  while (*link != nullptr && (*link)->co != co) link = &(*link)->next;
  return link;
}

void Raise(lua_State* L, lua_Debug* /*frame*/) {
  StateRecord& record = RecordOf(L);
  SavedHook** const link = FindHook(record, L);
  SavedHook* const saved = *link;
  // A coroutine that was made meanwhile has inherited the hook.
  if (saved == nullptr) {
    ResetHook(L);
    return;
  }
  {
    const Pin pin;
    lua_sethook(L, saved->function, saved->mask, saved->count);
  }
  *link = saved->next;
  std::free(saved);
  lua_pushliteral(L, "attempt to yield from outside a coroutine");
  lua_error(L);
}

}  // namespace

void RaiseAtNextInstruction(lua_State* L) {
  StateRecord& record = RecordOf(L);
  SavedHook** const link = FindHook(record, L);
  SavedHook* saved = *link;
  if (saved == nullptr) {
    saved = static_cast<SavedHook*>(std::malloc(sizeof(SavedHook)));
    if (saved == nullptr) return;  // the task just goes on
    saved->next = nullptr;
    saved->co = L;
    *link = saved;
  }
  // An older entry may be left from a coroutine that stood at the same address.
  if (lua_gethook(L) != Raise) {
    saved->function = lua_gethook(L);
    saved->mask = lua_gethookmask(L);
    saved->count = lua_gethookcount(L);
  }
  lua_sethook(L, Raise, LUA_MASKCOUNT, 1);
}

void FreeSavedHooks(StateRecord& record) {
  auto* saved = static_cast<SavedHook*>(record.raises);
  record.raises = nullptr;
  while (saved != nullptr) {
    SavedHook* const next = saved->next;
    std::free(saved);
    saved = next;
  }
}

}  // namespace shoal::core
