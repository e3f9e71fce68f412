// SPDX-License-Identifier: MIT
#include "runtime/lua/protected_call.h"

#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// The context of a call: how many values stand below its results, and how often `cancelled` had
// been raised in the task when it began.
constexpr int kBelowBits = 2;

lua_KContext ContextOf(lua_State* L, int below) {
  return static_cast<lua_KContext>(RecordOf(L).unwinding) << kBelowBits | below;
}

// The end of both, also as a continuation. Above the values that are none of the results stand
// `true` and the results, or on top an error value.
int FinishCall(lua_State* L, int status, lua_KContext context) {
  if (status == LUA_OK || status == LUA_YIELD) {
    return lua_gettop(L) - static_cast<int>(context & ((1 << kBelowBits) - 1));
  }
  // A count decides, not the error value: a `__close` or a handler may have replaced that.
  if (static_cast<lua_KContext>(RecordOf(L).unwinding) != context >> kBelowBits) {
    // What a message handler has made of the cancel is nobody's error.
    StateHost* const host = RecordOf(L).host;
    if ((context & ((1 << kBelowBits) - 1)) != 0 && host != nullptr) host->PushCancelled(L);
    return lua_error(L);
  }
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

int ProtectedCall(lua_State* L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  const lua_KContext context = ContextOf(L, 0);
  const int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, context, FinishCall);
  return FinishCall(L, status, context);
}

int ProtectedCallWithHandler(lua_State* L) {
  constexpr int kHandler = 2;
  constexpr int kBelow = 2;
  const int count = lua_gettop(L) - 2;
  luaL_checktype(L, kHandler, LUA_TFUNCTION);
  // function, handler, arguments... → function, handler, true, function, arguments...
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, kBelow + 1, 2);
  const lua_KContext context = ContextOf(L, kBelow);
  const int status = lua_pcallk(L, count, LUA_MULTRET, kHandler, context, FinishCall);
  return FinishCall(L, status, context);
}

constexpr luaL_Reg kFunctions[] = {
    {"pcall", ProtectedCall},
    {"xpcall", ProtectedCallWithHandler},
    {nullptr, nullptr},
};

}  // namespace

void CheckCallable(lua_State* L, int arg) {
  if (lua_type(L, arg) == LUA_TFUNCTION) return;
  if (luaL_getmetafield(L, arg, "__call") == LUA_TNIL) luaL_typeerror(L, arg, "function");
  lua_pop(L, 1);
}

void OpenProtectedCall(lua_State* L) { luaL_setfuncs(L, kFunctions, 0); }

}  // namespace shoal::core
