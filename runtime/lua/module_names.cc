// SPDX-License-Identifier: MIT
#include "runtime/lua/module_names.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/lua/stand_in.h"
#include "runtime/lua/wire_bytes.h"

namespace shoal::core {
namespace {

// Their addresses are keys of the registry.
constexpr char kNames = 0;
constexpr char kTransferKey = 0;

// Names of more bytes are not made.
constexpr std::size_t kMaxName = 1000;
constexpr int kMaxFields = 2;

// The first byte of a name in the table: the lower, the better. Then the wire form follows.
enum class Origin : std::uint8_t { kStandard, kOther, kGlobal };

constexpr std::string_view kStandardModules[] = {"string",    "table", "math",  "io",      "os",
                                                 "coroutine", "utf8",  "debug", "package", "shoal"};
constexpr std::string_view kBaseFunctions[] = {
    "assert", "collectgarbage", "dofile",   "error",  "getmetatable", "ipairs",
    "load",   "loadfile",       "next",     "pairs",  "pcall",        "print",
    "rawlen", "rawequal",       "rawget",   "rawset", "require",      "select",
    "type",   "setmetatable",   "tonumber", "warn",   "tostring",     "xpcall"};

template <std::size_t kSize>
bool Contains(const std::string_view (&list)[kSize], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::string_view TextAt(lua_State* L, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, index, &size);
  return {text, size};
}

// The way to a value while the modules are walked. Stack: the names, and from `first` on name and
// value of the module, then of the field, then of its field.
struct Walk {
  lua_State* lua;
  CodecMemory* memory;
  int names;
  int loaded;
  int first;
  const void* globals;

  [[nodiscard]] std::string_view key(int depth) const { return TextAt(lua, first + 2 * depth); }
  [[nodiscard]] int value(int depth) const { return first + 2 * depth + 1; }
};

// True if `name` is better than the one on top of the stack.
bool IsBetter(lua_State* L, std::string_view name) {
  const std::string_view other = TextAt(L, -1);
  if (name[0] != other[0]) return name[0] < other[0];
  if (name.size() != other.size()) return name.size() < other.size();
  return name < other;
}

// Gives the value at `depth` its name, unless it has a better one. [-0, +0, m]
void AddName(const Walk& walk, int depth, Origin origin) {
  lua_State* const L = walk.lua;
  std::size_t total = 0;
  for (int i = 0; i <= depth; ++i) total += walk.key(i).size() + kMaxVarint;
  if (total > kMaxName) return;

  std::uint8_t name[kMaxName + 8];
  std::uint8_t* at = name;
  *at++ = static_cast<std::uint8_t>(static_cast<int>(origin) * (kMaxFields + 1) + depth);
  *at++ = wire::kModule;
  for (int i = 0; i <= depth; ++i) {
    const std::string_view key = walk.key(i);
    at = PutVarint(at, key.size());
    std::memcpy(at, key.data(), key.size());
    at += key.size();
    if (i == 0) at = PutVarint(at, static_cast<std::uint64_t>(depth));
  }
  const std::string_view text(reinterpret_cast<const char*>(name),
                              static_cast<std::size_t>(at - name));

  lua_pushvalue(L, walk.value(depth));
  const bool is_free = lua_rawget(L, walk.names) == LUA_TNIL;
  if (is_free || IsBetter(L, text)) {
    lua_pushvalue(L, walk.value(depth));
    lua_pushlstring(L, text.data(), text.size());
    lua_rawset(L, walk.names);
  }
  lua_pop(L, 1);
  if (is_free && lua_istable(L, walk.value(depth))) {
    bool is_new = false;
    const void* const table = lua_topointer(L, walk.value(depth));
    if (walk.memory->named_tables.Insert(table, 0, is_new) == nullptr) RaiseNoMemory(L);
  }
}

bool HasMethods(lua_State* L, int index) {
  int left = kMaxScan;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    if (lua_isfunction(L, -1) || --left == 0) {
      const bool found = lua_isfunction(L, -1);
      lua_pop(L, 2);
      return found;
    }
    lua_pop(L, 1);
  }
  return false;
}

bool HasMetatable(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  lua_pop(L, 1);
  return true;
}

// True if the value at `depth` gets a name.
bool DeservesName(const Walk& walk, int depth) {
  lua_State* const L = walk.lua;
  const int index = walk.value(depth);
  switch (lua_type(L, index)) {
    case LUA_TFUNCTION:
      return depth == 0 || lua_iscfunction(L, index);
    case LUA_TUSERDATA:
      return true;
    case LUA_TTABLE:
      return HasMethods(L, index) || (depth == 0 && HasMetatable(L, index)) ||
             lua_rawequal(L, index, walk.loaded);
    default:
      return false;
  }
}

// The value at `depth`, and what it holds.
void AddValue(const Walk& walk, int depth, Origin origin) {
  lua_State* const L = walk.lua;
  const int index = walk.value(depth);
  if (lua_topointer(L, index) == walk.globals) return;
  if (DeservesName(walk, depth)) AddName(walk, depth, origin);
  if (depth == kMaxFields || !lua_istable(L, index) || lua_rawequal(L, index, walk.loaded)) return;
  int left = kMaxScan;
  lua_pushnil(L);
  while (lua_next(L, index) != 0 && --left != 0) {
    if (lua_type(L, -2) == LUA_TSTRING) AddValue(walk, depth + 1, origin);
    lua_pop(L, 1);
  }
  lua_settop(L, index);
}

// The C functions of _G.
void AddGlobals(const Walk& walk) {
  lua_State* const L = walk.lua;
  if (!lua_istable(L, walk.value(0))) return;
  lua_pushnil(L);
  while (lua_next(L, walk.value(0)) != 0) {
    if (lua_type(L, -2) == LUA_TSTRING && lua_iscfunction(L, -1)) {
      const bool is_base = Contains(kBaseFunctions, walk.key(1));
      AddName(walk, 1, is_base ? Origin::kStandard : Origin::kGlobal);
    }
    lua_pop(L, 1);
  }
}

// Stands for what is loaded: changes when a module is added, removed or replaced. Never 0.
// Stack: the table of loaded modules on top.
std::uint64_t LoadedModules(lua_State* L) {
  std::uint64_t sum = 1;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    const auto key = reinterpret_cast<std::uintptr_t>(lua_topointer(L, -2));
    const auto value = reinterpret_cast<std::uintptr_t>(lua_topointer(L, -1));
    sum += (key * 31 + value) * 0x9E3779B97F4A7C15U;
    lua_pop(L, 1);
  }
  return sum == 0 ? 1 : sum;
}

// Pushes the table of loaded modules by a key that needs no memory; nil before the first time.
int PushLoaded(lua_State* L) {
  return lua_rawgetp(L, LUA_REGISTRYINDEX, &kNames) == LUA_TTABLE ? lua_rawgeti(L, -1, 1)
                                                                  : LUA_TNIL;
}

}  // namespace

bool ModuleNamesAreCurrent(lua_State* L, const CodecMemory& memory) {
  if (memory.loaded_modules == 0) return false;
  const int top = lua_gettop(L);
  const bool result = PushLoaded(L) == LUA_TTABLE && LoadedModules(L) == memory.loaded_modules;
  lua_settop(L, top);
  return result;
}

void MakeModuleNames(lua_State* L, CodecMemory& memory) {
  luaL_checkstack(L, 20, nullptr);
  const int top = lua_gettop(L);
  memory.loaded_modules = 0;
  memory.named_tables.Clear();

  lua_pushliteral(L, "__transfer");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kTransferKey);

  // Values are keys, weakly; [1] is the table of loaded modules.
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  const int names = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  const int loaded = lua_gettop(L);
  lua_pushvalue(L, loaded);
  lua_rawseti(L, names, 1);
  lua_pushglobaltable(L);
  const Walk walk{L, &memory, names, loaded, loaded + 1, lua_topointer(L, -1)};
  lua_pop(L, 1);

  const std::uint64_t loaded_modules = LoadedModules(L);
  lua_pushnil(L);
  while (lua_next(L, loaded) != 0) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      const std::string_view module = walk.key(0);
      if (module == LUA_GNAME) {
        AddGlobals(walk);
      } else {
        const bool is_standard = Contains(kStandardModules, module);
        AddValue(walk, 0, is_standard ? Origin::kStandard : Origin::kOther);
      }
    }
    lua_pop(L, 1);
  }
  lua_pushvalue(L, names);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kNames);
  lua_settop(L, top);
  memory.loaded_modules = loaded_modules;
}

const char* PushModuleName(lua_State* L, const CodecMemory& memory, int index, std::size_t& size) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kNames) == LUA_TTABLE) {
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING) {
      const char* const name = lua_tolstring(L, -1, &size);
      --size;
      return name + 1;
    }
  }
  lua_pop(L, 1);
  if (memory.has_stand_ins) return PushStandInWire(L, index, size);
  lua_pushnil(L);
  return nullptr;
}

void PushTransferKey(lua_State* L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &kTransferKey); }

}  // namespace shoal::core
