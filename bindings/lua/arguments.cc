// SPDX-License-Identifier: MIT
#include "bindings/lua/arguments.h"

#include <cmath>
#include <string>

#include "bindings/lua/handles.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Duration;
using core::KeyName;
using core::Status;
using core::TimePoint;

namespace {

// The sum of seconds that a Duration holds, rounded down: beyond it a wait is for ever.
constexpr double kMostSeconds = 9.2e9;

// REQUIRES: a string.
inline KeyName ToStringKey(lua_State* L, int index) {
  std::size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return KeyName::String({text, length});
}

}  // namespace

bool ToKey(lua_State* L, int index, KeyName* key) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING:
      *key = ToStringKey(L, index);
      return true;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index) == 0) return false;
      *key = KeyName::Integer(lua_tointeger(L, index));
      return true;
    case LUA_TBOOLEAN:
      *key = KeyName::Boolean(lua_toboolean(L, index) != 0);
      return true;
    case LUA_TLIGHTUSERDATA:
      *key = KeyName::Pointer(lua_touserdata(L, index));
      return true;
    case LUA_TUSERDATA:
      if (core::RefCounted* object = ToReference(L, index)) {
        *key = KeyName::Handle(object);
        return true;
      }
      return false;
    default:
      return false;
  }
}

namespace {

bool ToLimit(lua_State* L, int index, std::uint64_t* limit) {
  if (lua_type(L, index) != LUA_TNUMBER) return false;
  const double number = lua_tonumber(L, index);
  if (std::isinf(number) && number > 0) {
    *limit = core::Channel::kNoLimit;
    return true;
  }
  int exact = 0;
  const lua_Integer integer = lua_tointegerx(L, index, &exact);
  *limit = static_cast<std::uint64_t>(integer);
  return exact != 0 && integer >= 0;
}

}  // namespace

Duration CheckTimeoutAt(lua_State* L, int index, int arg, const char* name) {
  if (lua_isnoneornil(L, index)) return kForever;
  const bool is_number = lua_type(L, index) == LUA_TNUMBER;
  const double seconds = lua_tonumber(L, index);
  if (!is_number || std::isnan(seconds)) {
    const char* const got = is_number ? "NaN" : luaL_typename(L, index);
    luaL_argerror(L, arg, lua_pushfstring(L, "%s in seconds expected, got %s", name, got));
  }
  if (seconds < 0) luaL_argerror(L, arg, lua_pushfstring(L, "%s must not be negative", name));
  if (seconds >= kMostSeconds) return kForever;
  return Duration(static_cast<Duration::rep>(std::ceil(seconds * 1e9)));
}

Duration CheckTimeout(lua_State* L, int arg) { return CheckTimeoutAt(L, arg, arg, "timeout"); }

Duration CheckTime(lua_State* L, int arg) {
  if (lua_isnoneornil(L, arg)) luaL_argerror(L, arg, "time in seconds expected, got no value");
  return CheckTimeoutAt(L, arg, arg, "time");
}

TimePoint DeadlineFor(lua_State* L, Duration timeout) {
  if (timeout == kForever) return core::kNever;
  return core::DeadlineAfter(core::Process::Of(L).machine().clock.Now(), timeout);
}

namespace {

[[gnu::noinline]] KeyName CheckOtherKey(lua_State* L, int arg, const char* hint) {
  KeyName key = KeyName::Boolean(false);
  if (ToKey(L, arg, &key)) return key;
  if (lua_type(L, arg) == LUA_TNUMBER) {
    luaL_argerror(
        L, arg,
        lua_pushfstring(L, "%s, not the float %f%s", kKeyKinds, lua_tonumber(L, arg), hint));
  }
  luaL_argerror(L, arg,
                lua_pushfstring(L, "%s, got %s", kKeyKinds,
                                lua_isnone(L, arg) ? "no value" : luaL_typename(L, arg)));
  return key;
}

}  // namespace

KeyName CheckKey(lua_State* L, int arg, const char* hint) {
  // Most are strings.
  return lua_type(L, arg) == LUA_TSTRING ? ToStringKey(L, arg) : CheckOtherKey(L, arg, hint);
}

KeyName CheckKeyElement(lua_State* L, int arg, lua_Integer position) {
  KeyName key = KeyName::Boolean(false);
  if (!ToKey(L, -1, &key)) {
    if (lua_type(L, -1) == LUA_TNUMBER) {
      luaL_argerror(L, arg,
                    lua_pushfstring(L, "%s, not the float %f at position %I of the list", kKeyKinds,
                                    lua_tonumber(L, -1), position));
    }
    luaL_argerror(L, arg,
                  lua_pushfstring(L, "%s, got %s at position %I of the list", kKeyKinds,
                                  luaL_typename(L, -1), position));
  }
  return key;
}

void PushKey(lua_State* L, const KeyName& key) {
  switch (key.kind) {
    case KeyName::Kind::kString:
      lua_pushlstring(L, key.text.data(), key.text.size());
      return;
    case KeyName::Kind::kInteger:
      lua_pushinteger(L, static_cast<lua_Integer>(key.value));
      return;
    case KeyName::Kind::kFloat:
      lua_pushnumber(L, key.number());
      return;
    case KeyName::Kind::kBoolean:
      lua_pushboolean(L, key.value != 0 ? 1 : 0);
      return;
    case KeyName::Kind::kPointer:
      lua_pushlightuserdata(L, reinterpret_cast<void*>(key.value));
      return;
    case KeyName::Kind::kHandle:
      PushReference(L, key.handle);
      return;
  }
}

std::uint64_t CheckLimit(lua_State* L, int arg) {
  std::uint64_t limit = 0;
  if (!ToLimit(L, arg, &limit)) {
    luaL_argerror(L, arg, "a limit is a non-negative integer or math.huge");
  }
  return limit;
}

std::uint64_t CheckOptionLimit(lua_State* L, int arg, const char* name) {
  std::uint64_t limit = 0;
  if (!ToLimit(L, -1, &limit)) {
    luaL_argerror(
        L, arg, lua_pushfstring(L, "option '%s' is not a non-negative integer or math.huge", name));
  }
  return limit;
}

void PushLimit(lua_State* L, std::uint64_t limit) {
  if (limit == core::Channel::kNoLimit) {
    lua_pushnumber(L, HUGE_VAL);
  } else {
    lua_pushinteger(L, static_cast<lua_Integer>(limit));
  }
}

std::uint32_t CheckPositive(lua_State* L, int arg) {
  if (lua_type(L, arg) == LUA_TNUMBER) {
    const double number = lua_tonumber(L, arg);
    if (number >= UINT32_MAX) return UINT32_MAX;
    int exact = 0;
    const lua_Integer count = lua_tointegerx(L, arg, &exact);
    if (exact != 0 && count >= 1) return static_cast<std::uint32_t>(count);
  }
  luaL_argerror(L, arg, "a positive integer expected");
  return 0;
}

void CheckFirstValue(lua_State* L, int arg) {
  if (lua_isnoneornil(L, arg)) {
    luaL_argerror(L, arg,
                  lua_isnone(L, arg) ? "a message needs at least one value"
                                     : "the first value of a message must not be nil");
  }
}

int PushOutcome(lua_State* L, Status status) {
  lua_pushnil(L);
  lua_pushstring(L, core::ToString(status));
  return 2;
}

void AppendChannel(const core::Channel& channel, std::string& text) {
  text += " on channel ";
  text += channel.name().empty() ? std::to_string(channel.id()) : '"' + channel.name() + '"';
}

void AppendProcess(const core::Process& process, std::string& text) {
  text += " of process " + std::to_string(process.id());
  if (!process.name().empty()) text += " (" + process.name() + ")";
}

void AppendKey(lua_State* L, int index, std::string& text) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING: {
      std::size_t length = 0;
      const char* bytes = lua_tolstring(L, index, &length);
      text += '"' + std::string(bytes, length) + '"';
      return;
    }
    case LUA_TNUMBER:
      text += std::to_string(lua_tointeger(L, index));
      return;
    case LUA_TBOOLEAN:
      text += lua_toboolean(L, index) != 0 ? "true" : "false";
      return;
    default:
      text += luaL_typename(L, index);
  }
}

}  // namespace shoal::bindings
