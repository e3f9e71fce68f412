// SPDX-License-Identifier: MIT
#include "bindings/lua/lanes_core.h"

#include <cstring>
#include <string_view>

#include "bindings/lua/handles.h"
#include "bindings/lua/lanes_convert.h"
#include "bindings/lua/lanes_linda.h"
#include "bindings/lua/outcome.h"
#include "bindings/lua/socket_object.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::KeyName;
using core::Process;

namespace {

// Their addresses are the values.
char null_value;
char cancel_error_value;
char batched_value;

// The addresses name the lane's control and the settings of the module in the registry.
const char kControlKey = 0;
const char kSettingsKey = 0;

KeyName CancelKey() { return KeyName::String("cancel"); }

// (control, settings): what a lane is given at its start.
int Enter(lua_State* L) {
  static_cast<void>(CheckChannel(L, 1));
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kSettingsKey);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kControlKey);
  return 0;
}

// settings([new]): of this state; nil before lanes.configure.
int Settings(lua_State* L) {
  if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kSettingsKey);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kSettingsKey);
  return 1;
}

int CancelTestAgain(lua_State* L, int, lua_KContext);

// cancel_test(): false, or "soft" if the lane has been asked to end. A hard cancel needs no test:
// it is raised here, too.
int CancelTest(lua_State* L) {
  if (core::BeforeCall(L)) return core::YieldSlice(L, CancelTestAgain);
  if (LaneIsCancelled(L)) {
    lua_pushliteral(L, "soft");
  } else {
    lua_pushboolean(L, 0);
  }
  return 1;
}

int CancelTestAgain(lua_State* L, int, lua_KContext) { return CancelTest(L); }

// (state, metatable): a full userdata with that metatable, which stands for the table `state`.
int NewProxy(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_newuserdatauv(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, 2);
  lua_setmetatable(L, -2);
  return 1;
}

// (proxy): its state; nil for other userdata.
int StateOf(lua_State* L) {
  luaL_checktype(L, 1, LUA_TUSERDATA);
  lua_getiuservalue(L, 1, 1);
  return 1;
}

// The traceback of the error that ends the task; "" without one.
int TracebackOf(lua_State* L) {
  const std::string_view text = Process::Of(L).current_task().traceback();
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

// (text, api, verbose)
int Refusal(lua_State* L) {
  std::size_t length = 0;
  const char* const text = luaL_checklstring(L, 1, &length);
  PushRefusal(L, {text, length}, luaL_checkinteger(L, 2) == 3 ? LanesApi::k3 : LanesApi::k4,
              lua_toboolean(L, 3) != 0);
  return 1;
}

// (value): whether it is a linda.
int IsLinda(lua_State* L) {
  lua_pushboolean(L, ToLinda(L, 1) != nullptr ? 1 : 0);
  return 1;
}

// now_secs(): seconds of the wall clock, with their fraction.
int NowSecs(lua_State* L) {
  lua_pushnumber(L, WallTime(L));
  return 1;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

void* LanesNull() { return &null_value; }
void* LanesCancelError() { return &cancel_error_value; }
void* BatchedMark() { return &batched_value; }

Channel* LaneControl(lua_State* L) {
  Channel* control = nullptr;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kControlKey) != LUA_TNIL) {
    control = static_cast<Channel*>(ToReference(L, -1));
  }
  lua_pop(L, 1);
  return control;
}

bool LaneIsCancelled(lua_State* L) {
  Channel* const control = LaneControl(L);
  return control != nullptr && control->Count(CancelKey()) != 0;
}

void PushRefusal(lua_State* L, std::string_view text, LanesApi api, bool verbose) {
  const bool is_coroutine = Has(text, "cannot send a coroutine");
  const bool is_userdata = Has(text, "cannot send a userdata");
  const bool is_function = Has(text, "cannot send a C function");
  if (!is_coroutine && !is_userdata && !is_function) {
    lua_pushlstring(L, text.data(), text.size());
    return;
  }
  if (is_coroutine) {
    lua_pushliteral(L, "tried to copy unsupported types");
  } else if (is_userdata && api == LanesApi::k3) {
    lua_pushliteral(L, "can't copy non-deep full userdata across lanes");
  } else {
    lua_pushfstring(L,
                    "%s referenced by '?' not found in main origin transfer database.\n(did you "
                    "remove it from the source Lua state before requiring Lanes?)",
                    is_userdata ? "userdata" : "function");
  }
  if (!verbose) return;
  lua_pushliteral(L, "\n");
  lua_pushlstring(L, text.data(), text.size());
  lua_concat(L, 3);
}

int LoadLindaCore(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"linda", NewLinda},   {"enter", Enter},      {"settings", Settings},
      {"proxy", NewProxy},   {"state", StateOf},    {"cancel_test", CancelTest},
      {"refusal", Refusal},  {"is_linda", IsLinda}, {"traceback", TracebackOf},
      {"now_secs", NowSecs}, {"same", Same},        {"adopt", Adopt},
      {nullptr, nullptr}};
  EnableConversion(L);
  luaL_newlib(L, kFunctions);
  lua_pushlightuserdata(L, LanesNull());
  lua_setfield(L, -2, "null");
  lua_pushlightuserdata(L, LanesCancelError());
  lua_setfield(L, -2, "cancel_error");
  PushCancelled(L);
  lua_setfield(L, -2, "cancelled");
  return 1;
}

}  // namespace shoal::bindings
