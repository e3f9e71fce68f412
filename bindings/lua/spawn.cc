// SPDX-License-Identifier: MIT
// shoal.spawn and shoal.spawn_file.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/process_library.h"
#include "bindings/lua/spawn_bounds.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::LibrarySet;
using core::MessagePtr;
using core::Process;
using core::Ref;
using core::SearchPaths;
using core::SpawnOptions;
using core::Status;

namespace {

constexpr char kBoxType[] = "shoal.spawn";

// The globals of a fresh process: `env = _G` copies what is not among them.
constexpr std::string_view kFreshGlobals[] = {
    "_G",     "_VERSION",     "assert",   "collectgarbage", "coroutine", "debug",        "dofile",
    "error",  "getmetatable", "io",       "ipairs",         "load",      "loadfile",     "math",
    "next",   "os",           "package",  "pairs",          "pcall",     "print",        "rawequal",
    "rawget", "rawlen",       "rawset",   "require",        "select",    "setmetatable", "string",
    "table",  "tonumber",     "tostring", "type",           "utf8",      "warn",         "xpcall"};

bool IsFresh(std::string_view name) {
  return std::binary_search(std::begin(kFreshGlobals), std::end(kFreshGlobals), name);
}

// What is gathered for the new process, in a userdata: what Lua calls raise on the way loses
// nothing.
int CollectOptions(lua_State* L) {
  static_cast<SpawnOptions*>(lua_touserdata(L, 1))->~SpawnOptions();
  return 0;
}

SpawnOptions& PushOptions(lua_State* L) {
  auto* options = new (lua_newuserdatauv(L, sizeof(SpawnOptions), 0)) SpawnOptions();
  if (luaL_newmetatable(L, kBoxType) != 0) {
    lua_pushcfunction(L, CollectOptions);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return *options;
}

// --- options

// libs = a list of names; never more than the creator has. The value is on the top.
LibrarySet CheckLibraries(lua_State* L) {
  const LibrarySet own = Process::Of(L).libraries();
  if (lua_type(L, -1) != LUA_TTABLE) OptionError(L, "libs", "\"*\" or a list of names");
  LibrarySet set = 0;
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    const char* name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    const LibrarySet library = core::LibraryOf(name);
    if (library == 0) {
      luaL_argerror(L, 1,
                    lua_pushfstring(L, "option 'libs': there is no library '%s'",
                                    luaL_tolstring(L, -1, nullptr)));
    }
    if ((own & library) == 0) {
      luaL_argerror(
          L, 1, lua_pushfstring(L, "option 'libs': this process itself may not use '%s'", name));
    }
    set |= library;
    lua_pop(L, 1);
  }
  return set;
}

// Pushes a table of the globals that a fresh process lacks. [-0, +1, m]
void PushOwnGlobals(lua_State* L) {
  lua_newtable(L);
  lua_pushglobaltable(L);
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    // own, globals, key, value
    if (lua_type(L, -2) == LUA_TSTRING && IsFresh(lua_tostring(L, -2))) {
      lua_pop(L, 1);
      continue;
    }
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -5);
  }
  lua_pop(L, 1);
}

// The value is on the top.
void TakeGlobals(lua_State* L, SpawnOptions& options) {
  if (lua_type(L, -1) != LUA_TTABLE) OptionError(L, "env", "a table");
  lua_pushglobaltable(L);
  const bool all = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 1);
  if (all) {
    PushOwnGlobals(L);
  } else {
    lua_pushvalue(L, -1);
  }
  options.globals.reset(core::EncodeNamed(L, lua_gettop(L), "env"));
  lua_pop(L, 1);
}

// libs = "*": what the creator has.
bool IsStar(lua_State* L) {
  return lua_type(L, -1) == LUA_TSTRING && std::strcmp(lua_tostring(L, -1), "*") == 0;
}

// Assigns without raising.
void SetLinked(SpawnOptions& options, Process* process) {
  options.linked = Ref<core::RefCounted>::Share(process);
}

void TakeOption(lua_State* L, SpawnOptions& options) {
  const std::string_view name =
      lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "(not a string)";
  if (name == "name") {
    if (lua_type(L, -1) != LUA_TSTRING) OptionError(L, "name", "a string");
    std::size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    CheckMemory(L, core::EnoughMemory([&] { options.name.assign(text, length); }));
  } else if (name == "daemon") {
    if (lua_type(L, -1) != LUA_TBOOLEAN) OptionError(L, "daemon", "a boolean");
    options.daemon = lua_toboolean(L, -1) != 0;
  } else if (name == "link") {
    if (lua_type(L, -1) != LUA_TBOOLEAN) OptionError(L, "link", "a boolean");
    SetLinked(options, lua_toboolean(L, -1) != 0 ? &Process::Of(L) : nullptr);
  } else if (name == "seed") {
    if (lua_isinteger(L, -1) == 0) OptionError(L, "seed", "an integer");
    options.seed = lua_tointeger(L, -1);
  } else if (name == "libs") {
    if (IsStar(L)) return;
    options.libraries = CheckLibraries(L);
    options.reach.confined = true;
  } else if (name == "env") {
    TakeGlobals(L, options);
  } else if (!TakeBound(L, name, options)) {
    luaL_argerror(L, 1,
                  lua_pushfstring(L,
                                  "there is no option '%s' of processes (name, daemon, env, libs, "
                                  "channels, memory_limit, cpu_limit, message_limit, link, seed)",
                                  name.data()));
  }
}

// --- what is inherited

// [-0, +1, m]: a field of `package`, or nil.
void PushPackageField(lua_State* L, const char* field) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, LUA_LOADLIBNAME) == LUA_TTABLE) {
    lua_getfield(L, -1, field);
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
}

// The creator's paths, shared with it as long as they are the same. May throw bad_alloc.
Ref<SearchPaths> PathsOf(Process& process, std::string_view path, std::string_view cpath) {
  Ref<SearchPaths>& known = process.options().paths;
  if (!known || known->path != path || known->cpath != cpath) {
    known = Ref<SearchPaths>::Adopt(new SearchPaths(std::string(path), std::string(cpath)));
  }
  return known;
}

void InheritPaths(lua_State* L, SpawnOptions& options) {
  PushPackageField(L, "path");
  PushPackageField(L, "cpath");
  if (lua_type(L, -1) == LUA_TSTRING && lua_type(L, -2) == LUA_TSTRING) {
    std::size_t path_length = 0;
    std::size_t cpath_length = 0;
    const char* path = lua_tolstring(L, -2, &path_length);
    const char* cpath = lua_tolstring(L, -1, &cpath_length);
    CheckMemory(
        L, core::EnoughMemory([&] {
          options.paths = PathsOf(Process::Of(L), {path, path_length}, {cpath, cpath_length});
        }));
  }
  lua_pop(L, 2);
}

// Lua functions in package.preload. What the host put there as C functions, it puts there for each
// process.
void InheritPreload(lua_State* L, SpawnOptions& options) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_newtable(L);
  bool any = false;
  lua_pushnil(L);
  while (lua_next(L, -3) != 0) {
    if (lua_type(L, -1) == LUA_TFUNCTION && lua_iscfunction(L, -1) == 0) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, -4);
      any = true;
    } else {
      lua_pop(L, 1);
    }
  }
  if (any) options.preload.reset(core::EncodeNamed(L, lua_gettop(L), "package.preload"));
  lua_pop(L, 2);
}

// --- the body

// Checks the options, if the first argument is a table, and leaves the body at index 1. Returns
// what is gathered, which stands on the top.
SpawnOptions& TakeOptions(lua_State* L) {
  const bool has_options = lua_type(L, 1) == LUA_TTABLE;
  SpawnOptions& options = PushOptions(L);
  CheckMemory(L, core::EnoughMemory([&] { InheritBounds(Process::Of(L), options); }));
  if (has_options) {
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
      TakeOption(L, options);
      lua_pop(L, 1);
    }
    FinishBounds(L, options);
    lua_remove(L, 1);
  }
  InheritPaths(L, options);
  InheritPreload(L, options);
  return options;
}

Status Start(core::Machine& machine, SpawnOptions& options, core::RefCounted** made) {
  Ref<Process> process;
  const Status status = Process::Spawn(machine, std::move(options), &process);
  *made = status == Status::kOk ? process.Leak() : nullptr;
  return status;
}

// The body is at index 1, its arguments follow, then the options on the top.
int SpawnBody(lua_State* L, SpawnOptions& options) {
  const int arguments = lua_gettop(L) - 2;
  options.body.reset(core::EncodeNamed(L, 1, "body"));
  options.arguments.reset(core::Encode(L, 2, arguments));
  core::RefCounted* process = nullptr;
  const Status status = Start(Process::Of(L).machine(), options, &process);
  if (process == nullptr) {
    return luaL_error(
        L, status == Status::kClosed ? "cannot spawn: the program is ending" : "not enough memory");
  }
  PushNewReference(L, process);
  return 1;
}

int SpawnAgain(lua_State* L, int, lua_KContext) { return Spawn(L); }
int SpawnFileAgain(lua_State* L, int, lua_KContext) { return SpawnFile(L); }

}  // namespace

int CheckSpawnOptions(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushnil(L);
  TakeOptions(L);
  return 0;
}

int Spawn(lua_State* L) {
  const int body = lua_type(L, 1) == LUA_TTABLE ? 2 : 1;
  const int type = lua_type(L, body);
  if (type != LUA_TFUNCTION && type != LUA_TSTRING) {
    luaL_argerror(L, body,
                  lua_pushfstring(L, "a function or source text expected, got %s",
                                  type == LUA_TNONE ? "no value" : lua_typename(L, type)));
  }
  if (core::BeforeCall(L)) return core::YieldSlice(L, SpawnAgain);
  if (type == LUA_TSTRING) {
    std::size_t length = 0;
    const char* source = lua_tolstring(L, body, &length);
    // The text is the chunk's name, as for `load`.
    if (luaL_loadbufferx(L, source, length, source, "t") != LUA_OK) {
      return luaL_error(L, "%s", lua_tostring(L, -1));
    }
    lua_replace(L, body);
  }
  SpawnOptions& options = TakeOptions(L);
  return SpawnBody(L, options);
}

int SpawnFile(lua_State* L) {
  const int path = lua_type(L, 1) == LUA_TTABLE ? 2 : 1;
  if (lua_type(L, path) != LUA_TSTRING) {
    luaL_argerror(
        L, path, lua_pushfstring(L, "the path of a file expected, got %s", luaL_typename(L, path)));
  }
  if (core::BeforeCall(L)) return core::YieldSlice(L, SpawnFileAgain);
  if (luaL_loadfilex(L, lua_tostring(L, path), "t") != LUA_OK) {
    return luaL_error(L, "%s", lua_tostring(L, -1));
  }
  lua_replace(L, path);
  SpawnOptions& options = TakeOptions(L);
  return SpawnBody(L, options);
}

}  // namespace shoal::bindings
