// SPDX-License-Identifier: MIT
#include "bindings/lua/timer_library.h"

#include <new>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "runtime/lua/codec.h"
#include "runtime/process/channel_timer.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::ChannelTimer;
using core::Duration;
using core::MessagePtr;
using core::Process;
using core::Ref;

namespace {

constexpr char kType[] = "shoal.timer";

// How the arguments look.
constexpr int kSeconds = 1;
constexpr int kChannel = 2;
constexpr int kKey = 3;
constexpr int kValue = 4;

using Handle = Ref<ChannelTimer>;

Handle& CheckTimer(lua_State* L) { return *static_cast<Handle*>(luaL_checkudata(L, 1, kType)); }

// A handle that is collected leaves its timer alone.
int Collect(lua_State* L) {
  Handle& handle = CheckTimer(L);
  handle = {};
  return 0;
}

// cancel() → true, or false if there is nothing left to be sent. Also __close.
int Cancel(lua_State* L) {
  const Handle& handle = CheckTimer(L);
  lua_pushboolean(L, handle && handle->Cancel() ? 1 : 0);
  return 1;
}

int PushText(lua_State* L) {
  lua_pushfstring(L, "timer: %p", static_cast<const void*>(CheckTimer(L).get()));
  return 1;
}

// [-0, +1, m]
Handle& PushTimer(lua_State* L) {
  auto* handle = new (lua_newuserdatauv(L, sizeof(Handle), 0)) Handle();
  if (luaL_newmetatable(L, kType) != 0) {
    static const luaL_Reg kMetamethods[] = {
        {"__gc", Collect}, {"__close", Cancel}, {"__tostring", PushText}, {nullptr, nullptr}};
    luaL_setfuncs(L, kMetamethods, 0);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, Cancel);
    lua_setfield(L, -2, "cancel");
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "timer");
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return *handle;
}

// False: memory is short. Raises nothing.
bool StartTimer(lua_State* L, Handle& handle, core::Message* message, Duration time,
                Duration period) {
  core::Machine& machine = Process::Of(L).machine();
  handle = ChannelTimer::Start(machine, CheckChannel(L, kChannel), CheckKey(L, kKey),
                               MessagePtr(message), DeadlineFor(L, time), period);
  return static_cast<bool>(handle);
}

// The seconds have been read; the handle takes their place.
int Start(lua_State* L, Duration time, Duration period) {
  // Before the message, which nobody would own if this raised.
  Handle& handle = PushTimer(L);
  lua_replace(L, kSeconds);
  core::Message* message = core::Encode(L, kValue, lua_gettop(L) - kKey);
  if (!StartTimer(L, handle, message, time, period)) return luaL_error(L, "not enough memory");
  lua_settop(L, kSeconds);
  return 1;
}

void CheckMessage(lua_State* L) {
  CheckChannel(L, kChannel);
  static_cast<void>(CheckKey(L, kKey));
  CheckFirstValue(L, kValue);
}

int AfterAgain(lua_State* L, int, lua_KContext) { return After(L); }
int EveryAgain(lua_State* L, int, lua_KContext) { return Every(L); }

}  // namespace

int After(lua_State* L) {
  const Duration time = CheckTime(L, kSeconds);
  CheckMessage(L);
  if (core::BeforeCall(L)) return core::YieldSlice(L, AfterAgain);
  return Start(L, time, Duration::zero());
}

int Every(lua_State* L) {
  const Duration period = CheckTime(L, kSeconds);
  luaL_argcheck(L, period > Duration::zero(), kSeconds, "a time larger than 0 expected");
  CheckMessage(L);
  if (core::BeforeCall(L)) return core::YieldSlice(L, EveryAgain);
  return Start(L, period, period);
}

}  // namespace shoal::bindings
