// SPDX-License-Identifier: MIT
#include "bindings/host/configure.h"

#include <csignal>
#include <cstring>
#include <string_view>

#include "bindings/host/host.h"
#include "bindings/lua/arguments.h"

namespace shoal::bindings {

namespace {

constexpr lua_Integer kMostWorkers = 1024;

[[noreturn]] void Refuse(lua_State* L, const char* option, const char* expected) {
  luaL_argerror(L, 1, lua_pushfstring(L, "option '%s' must be %s", option, expected));
  __builtin_unreachable();
}

int CheckWorkers(lua_State* L) {
  const lua_Integer workers = lua_isinteger(L, -1) != 0 ? lua_tointeger(L, -1) : 0;
  if (workers < 1 || workers > kMostWorkers) {
    Refuse(L, "workers", "a number of workers from 1 to 1024");
  }
  return static_cast<int>(workers);
}

std::size_t CheckQueueMemory(lua_State* L) {
  const lua_Integer bytes = lua_isinteger(L, -1) != 0 ? lua_tointeger(L, -1) : 0;
  if (bytes < 1) Refuse(L, "queue_memory", "a positive number of bytes");
  return static_cast<std::size_t>(bytes);
}

core::LogLevel CheckLog(lua_State* L) {
  static constexpr struct {
    const char* name;
    core::LogLevel level;
  } kLevels[] = {{"off", core::LogLevel::kOff},
                 {"error", core::LogLevel::kError},
                 {"warning", core::LogLevel::kWarning},
                 {"notice", core::LogLevel::kNotice}};
  const char* const wanted = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  for (const auto& level : kLevels) {
    if (std::strcmp(level.name, wanted) == 0) return level.level;
  }
  Refuse(L, "log", "\"off\", \"error\", \"warning\" or \"notice\"");
}

// False: no signals.
int CheckSignal(lua_State* L) {
  if (lua_isboolean(L, -1) && lua_toboolean(L, -1) == 0) return 0;
  const lua_Integer signal = lua_isinteger(L, -1) != 0 ? lua_tointeger(L, -1) : 0;
  const bool can_be_caught = signal >= 1 && signal < NSIG && signal != SIGKILL && signal != SIGSTOP;
  if (!can_be_caught) Refuse(L, "signal", "the number of a signal that can be caught, or false");
  return static_cast<int>(signal);
}

// The name of the option stands below its value on the top.
void TakeOption(lua_State* L, HostSettings& settings) {
  const std::string_view name =
      lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "(not a string)";
  if (name == "workers") {
    settings.workers = CheckWorkers(L);
  } else if (name == "limit") {
    settings.limit = CheckOptionLimit(L, 1, "limit");
  } else if (name == "queue_memory") {
    settings.queue_memory = CheckQueueMemory(L);
  } else if (name == "log") {
    settings.log = CheckLog(L);
  } else if (name == "shutdown_timeout") {
    settings.shutdown_timeout = CheckTimeoutAt(L, lua_gettop(L), 1, "option 'shutdown_timeout'");
  } else if (name == "signal") {
    settings.signal = CheckSignal(L);
  } else {
    luaL_argerror(L, 1,
                  lua_pushfstring(L,
                                  "there is no option '%s' (workers, limit, queue_memory, log, "
                                  "shutdown_timeout, signal)",
                                  name.data()));
  }
}

}  // namespace

int Configure(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  Host& host = Host::Of(L);
  if (host.started()) {
    return luaL_error(L, "shoal.configure comes before the first use of shoal in this state");
  }
  HostSettings settings = host.settings();
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    TakeOption(L, settings);
    lua_pop(L, 1);
  }
  host.settings() = settings;
  return 0;
}

}  // namespace shoal::bindings
