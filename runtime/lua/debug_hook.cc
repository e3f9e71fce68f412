// SPDX-License-Identifier: MIT
#include "runtime/lua/debug_hook.h"

#include <algorithm>

#include "runtime/base/pin.h"
#include "runtime/lua/hook.h"
#include "runtime/lua/slice.h"
#include "runtime/lua/weak_table.h"

namespace shoal::core {
namespace {

// The longest time between two looks at the slice, in instructions.
constexpr int kLongestPeriod = 1000;

// The hook of one coroutine: a userdata, with the user's function as its user value.
struct UserHook {
  int mask;                 // the user's
  int count;                // the user's; not positive: none
  int left;                 // until the user's next count event
  int period;               // what is armed
  const void* just_called;  // the frame of the last event, if that was a call
  bool is_called;           // it has been, and has not returned: it runs, or has raised
};

// The key of the registry's table of them: coroutine → userdata. Its keys are weak.
const char kHooks = 0;

// Finds the hook of `L`; nullptr if it has none. It lives as long as it stands in the table.
UserHook* FindHook(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kHooks) != LUA_TTABLE) {
    lua_pop(L, 1);
    return nullptr;
  }
  lua_pushthread(L);
  lua_rawget(L, -2);
  auto* const hook = static_cast<UserHook*>(lua_touserdata(L, -1));
  lua_pop(L, 2);
  return hook;
}

void OnEvent(lua_State* L, lua_Debug* frame);

// Arms it for the count events to come.
void ArmUserHook(lua_State* L, UserHook& hook) {
  const int kept = RecordOf(L).hook_period;
  const int longest = kept == 0 ? kLongestPeriod : kept;
  const int period = hook.count > 0 ? std::min(hook.left, longest) : longest;
  if (period == hook.period) return;
  hook.period = period;
  const Pin pin;
  lua_sethook(L, OnEvent, hook.mask | LUA_MASKCOUNT, period);
}

// [-0, +0, e]
void CallUser(lua_State* L, lua_Debug* frame) {
  constexpr const char* kNames[] = {"call", "return", "line", "count", "tail call"};
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kHooks);
  lua_pushthread(L);
  lua_rawget(L, -2);
  lua_getiuservalue(L, -1, 1);
  lua_pushstring(L, kNames[frame->event]);
  if (frame->currentline >= 0) {
    lua_pushinteger(L, frame->currentline);
  } else {
    lua_pushnil(L);
  }
  lua_call(L, 2, 0);
  lua_pop(L, 2);
}

// Whether this count event is the user's.
bool CountsForUser(lua_State* L, UserHook& hook) {
  if (hook.count <= 0) return false;
  hook.left -= hook.period;
  const bool is_due = hook.left <= 0;
  if (is_due) hook.left = hook.count;
  ArmUserHook(L, hook);
  return is_due;
}

void OnEvent(lua_State* L, lua_Debug* frame) {
  UserHook* const hook = FindHook(L);
  if (hook == nullptr) {
    // Inherited from the coroutine that made this one: the user has set none here.
    ResetHook(L);
    return;
  }
  const int event = frame->event;
  const bool is_call = event == LUA_HOOKCALL || event == LUA_HOOKTAILCALL;
  // 1 Where the slice may end: in count and line events alone, and only in the last of an
  // instruction, as a hook that is called after a yield would be cut off. The line event comes
  // after the count's, and a loop has one in each round. A function that is suspended at its first
  // instruction is called again, as the hook would see it.
  const int last = (hook->mask & LUA_MASKLINE) != 0 ? LUA_HOOKLINE : LUA_HOOKCOUNT;
  const bool may_end = event == last && hook->just_called != frame->i_ci;
  if (is_call) {
    hook->just_called = frame->i_ci;
  } else if (event == last || event == LUA_HOOKRET) {
    hook->just_called = nullptr;
  }
  // 2 The user's part. It may set another hook, or none.
  const int bit = is_call ? LUA_MASKCALL : 1 << event;
  const bool concerns_user =
      event == LUA_HOOKCOUNT ? CountsForUser(L, *hook) : (hook->mask & bit) != 0;
  if (concerns_user) {
    // Before it, as an error of it would leave nothing for later. One that always raises would
    // never let the slice end.
    if (may_end) {
      CheckRequests(L);
      if (hook->is_called) GiveWayAtSliceEnd(L);
    }
    hook->is_called = true;
    CallUser(L, frame);
    if (UserHook* const now = FindHook(L)) now->is_called = false;
  }
  // 3 The slice.
  if (may_end) CheckSlice(L);
}

// The library ------------------------------------------------------------------------------------

// The coroutine that the function is about; `first` is the index before its other arguments.
lua_State* CheckTarget(lua_State* L, int* first) {
  *first = lua_isthread(L, 1) ? 1 : 0;
  return *first == 1 ? lua_tothread(L, 1) : L;
}

int MaskOf(const char* letters, int count) {
  int mask = 0;
  for (const char* letter = letters; *letter != '\0'; ++letter) {
    if (*letter == 'c') mask |= LUA_MASKCALL;
    if (*letter == 'r') mask |= LUA_MASKRET;
    if (*letter == 'l') mask |= LUA_MASKLINE;
  }
  return count > 0 ? mask | LUA_MASKCOUNT : mask;
}

// [-0, +1, m]: the table of hooks.
void PushHooks(lua_State* L) { PushWeakTable(L, &kHooks, "k"); }

// [-0, +1, m]
void PushCoroutine(lua_State* L, lua_State* co) {
  if (co == L) {
    lua_pushthread(L);
    return;
  }
  lua_pushvalue(L, 1);
}

int SetHook(lua_State* L) {
  int first;
  lua_State* const co = CheckTarget(L, &first);
  int mask = 0;
  int count = 0;
  if (lua_isnoneornil(L, first + 1)) {
    lua_settop(L, first + 1);
  } else {
    const char* const letters = luaL_checkstring(L, first + 2);
    luaL_checktype(L, first + 1, LUA_TFUNCTION);
    count = static_cast<int>(luaL_optinteger(L, first + 3, 0));
    mask = MaskOf(letters, count);
  }
  PushHooks(L);
  PushCoroutine(L, co);
  if (mask == 0) {
    lua_pushnil(L);
    lua_rawset(L, -3);
    ResetHook(co);
    return 0;
  }
  auto* const hook = static_cast<UserHook*>(lua_newuserdatauv(L, sizeof(UserHook), 1));
  *hook = {.mask = mask,
           .count = count,
           .left = count,
           .period = 0,
           .just_called = nullptr,
           .is_called = false};
  lua_pushvalue(L, first + 1);
  lua_setiuservalue(L, -2, 1);
  lua_rawset(L, -3);
  ArmUserHook(co, *hook);
  return 0;
}

int GetHook(lua_State* L) {
  int first;
  lua_State* const co = CheckTarget(L, &first);
  const lua_Hook function = lua_gethook(co);
  int mask = lua_gethookmask(co);
  int count = lua_gethookcount(co);
  if (function == nullptr || IsSliceHook(function)) {
    luaL_pushfail(L);
    return 1;
  }
  if (function == OnEvent) {
    PushHooks(L);
    PushCoroutine(L, co);
    lua_rawget(L, -2);
    const auto* const hook = static_cast<const UserHook*>(lua_touserdata(L, -1));
    if (hook == nullptr) {
      luaL_pushfail(L);
      return 1;
    }
    mask = hook->mask;
    count = hook->count;
    lua_getiuservalue(L, -1, 1);
  } else {
    lua_pushliteral(L, "external hook");
  }
  char letters[4];
  int length = 0;
  if ((mask & LUA_MASKCALL) != 0) letters[length++] = 'c';
  if ((mask & LUA_MASKRET) != 0) letters[length++] = 'r';
  if ((mask & LUA_MASKLINE) != 0) letters[length++] = 'l';
  letters[length] = '\0';
  lua_pushstring(L, letters);
  lua_pushinteger(L, count);
  return 3;
}

constexpr luaL_Reg kFunctions[] = {
    {"sethook", SetHook},
    {"gethook", GetHook},
    {nullptr, nullptr},
};

}  // namespace

void OpenDebugHook(lua_State* L) { luaL_setfuncs(L, kFunctions, 0); }

}  // namespace shoal::core
