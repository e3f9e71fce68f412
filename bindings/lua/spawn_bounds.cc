// SPDX-License-Identifier: MIT
#include "bindings/lua/spawn_bounds.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bindings/lua/arguments.h"
#include "runtime/base/enough_memory.h"

namespace shoal::bindings {

using core::Duration;
using core::Limits;
using core::NameSet;
using core::Process;
using core::Ref;
using core::SpawnOptions;

namespace {

constexpr char kBytesExpected[] = "a positive number of bytes, or a text such as \"64M\"";

// Reads digits and one of K, M, G. False if the text is something else, or the number too large.
bool ReadBytes(std::string_view text, std::size_t* bytes) {
  int shift = 0;
  switch (text.empty() ? '\0' : text.back()) {
    case 'G':
      shift += 10;
      [[fallthrough]];
    case 'M':
      shift += 10;
      [[fallthrough]];
    case 'K':
      shift += 10;
      text.remove_suffix(1);
      break;
    default:
      break;
  }
  if (text.empty() || text.size() > 15) return false;
  std::size_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    number = number * 10 + static_cast<std::size_t>(digit - '0');
  }
  if (number > (SIZE_MAX >> 1 >> shift)) return false;
  *bytes = number << shift;
  return true;
}

// The value on the top. Not more than the creator has.
std::size_t CheckBytes(lua_State* L, const char* name, std::size_t most) {
  std::size_t bytes = 0;
  bool is_valid = false;
  if (lua_type(L, -1) == LUA_TSTRING) {
    std::size_t length = 0;
    const char* const text = lua_tolstring(L, -1, &length);
    is_valid = ReadBytes({text, length}, &bytes);
    if (!is_valid) {
      luaL_argerror(
          L, 1,
          lua_pushfstring(L, "option '%s': %s expected, got '%s'", name, kBytesExpected, text));
    }
  } else if (lua_type(L, -1) == LUA_TNUMBER) {
    int exact = 0;
    const lua_Integer integer = lua_tointegerx(L, -1, &exact);
    is_valid = exact != 0 && integer >= 0;
    bytes = static_cast<std::size_t>(integer);
  }
  if (!is_valid && lua_type(L, -1) == LUA_TNUMBER) {
    luaL_argerror(L, 1,
                  lua_pushfstring(L, "option '%s': %s expected, got %f", name, kBytesExpected,
                                  lua_tonumber(L, -1)));
  }
  if (!is_valid) OptionError(L, name, kBytesExpected);
  if (bytes > most) {
    luaL_argerror(L, 1,
                  lua_pushfstring(L, "option '%s': this process itself has no more than %I bytes",
                                  name, static_cast<lua_Integer>(most)));
  }
  return bytes;
}

Duration CheckCpu(lua_State* L, Duration most) {
  constexpr char kExpected[] = "a positive number of seconds";
  constexpr double kMostSeconds = 9.2e9;  // that a Duration holds
  if (lua_type(L, -1) != LUA_TNUMBER) OptionError(L, "cpu_limit", kExpected);
  const double seconds = lua_tonumber(L, -1);
  if (!(seconds > 0)) {
    luaL_argerror(
        L, 1, lua_pushfstring(L, "option 'cpu_limit': %s expected, got %f", kExpected, seconds));
  }
  const Duration limit = seconds >= kMostSeconds
                             ? Limits::kNoTime
                             : Duration(static_cast<Duration::rep>(std::ceil(seconds * 1e9)));
  if (limit > most) {
    luaL_argerror(
        L, 1,
        lua_pushfstring(L, "option 'cpu_limit': this process itself has no more than %f s",
                        static_cast<double>(most.count()) / 1e9));
  }
  return limit;
}

// The list on the top. Nothing in here raises; may throw bad_alloc, with more on the stack.
void SetChannels(lua_State* L, SpawnOptions& options) {
  std::vector<std::string> names;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    std::size_t length = 0;
    const char* const text = lua_tolstring(L, -1, &length);
    names.emplace_back(text, length);
    lua_pop(L, 1);
  }
  options.reach.channels = Ref<NameSet>::Adopt(new NameSet(std::move(names)));
}

void TakeChannels(lua_State* L, SpawnOptions& options) {
  if (lua_type(L, -1) != LUA_TTABLE) OptionError(L, "channels", "a list of names");
  const core::Reach& own = Process::Of(L).reach();
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    if (lua_type(L, -1) != LUA_TSTRING) OptionError(L, "channels", "a list of names");
    std::size_t length = 0;
    const char* const name = lua_tolstring(L, -1, &length);
    if (!own.MayOpen({name, length})) {
      luaL_argerror(
          L, 1,
          lua_pushfstring(L, "option 'channels': this process itself may not open '%s'", name));
    }
    lua_pop(L, 1);
  }
  const int top = lua_gettop(L);
  const bool enough = core::EnoughMemory([&] { SetChannels(L, options); });
  lua_settop(L, top);
  CheckMemory(L, enough);
}

// [-0, +0, m]
bool HasOption(lua_State* L, const char* name, int type) {
  lua_pushstring(L, name);
  const bool has = lua_rawget(L, 1) == type;
  lua_pop(L, 1);
  return has;
}

// Those confined processes from which a child of `creator` descends. The ones that have ended will
// never look.
std::vector<std::uint64_t> AncestorsUnder(Process& creator) {
  std::vector<std::uint64_t> ancestors;
  core::ProcessTable& processes = creator.machine().processes;
  for (const std::uint64_t id : creator.reach().confined_ancestors) {
    if (processes.Find(id)) ancestors.push_back(id);
  }
  if (creator.reach().confined) ancestors.push_back(creator.id());
  return ancestors;
}

}  // namespace

int OptionError(lua_State* L, const char* name, const char* expected) {
  return luaL_argerror(
      L, 1,
      lua_pushfstring(L, "option '%s': %s expected, got %s", name, expected, luaL_typename(L, -1)));
}

void InheritBounds(Process& creator, SpawnOptions& options) {
  options.libraries = creator.libraries();
  options.limits = creator.limits();
  options.reach.confined = creator.reach().confined;
  options.reach.confined_ancestors = AncestorsUnder(creator);
  options.reach.channels = creator.reach().channels;
}

bool TakeBound(lua_State* L, std::string_view name, SpawnOptions& options) {
  const Limits& own = Process::Of(L).limits();
  if (name == "memory_limit") {
    options.limits.memory = CheckBytes(L, "memory_limit", own.memory);
  } else if (name == "message_limit") {
    options.limits.message = CheckBytes(L, "message_limit", own.message);
  } else if (name == "cpu_limit") {
    options.limits.cpu = CheckCpu(L, own.cpu);
  } else if (name == "channels") {
    TakeChannels(L, options);
  } else {
    return false;
  }
  return true;
}

void FinishBounds(lua_State* L, SpawnOptions& options) {
  // Who names the libraries names the channels as well.
  if (HasOption(L, "libs", LUA_TTABLE) && HasOption(L, "channels", LUA_TNIL)) {
    options.reach.channels = Ref<NameSet>::Adopt(core::TryNew<NameSet>(std::vector<std::string>()));
    // Null would be all.
    CheckMemory(L, static_cast<bool>(options.reach.channels));
  }
}

}  // namespace shoal::bindings
