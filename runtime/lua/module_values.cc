// SPDX-License-Identifier: MIT
#include "runtime/lua/module_values.h"

#include <cstddef>

#include "runtime/lua/stand_in.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// Its address is a key of the registry.
constexpr char kFailures = 0;  // module → reason

// Stack slots that a name with its stand-in takes.
constexpr int kSlots = 12;

void PushText(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

// Pushes the loaded module, or nil. [-0, +1, m]
int PushModule(lua_State* L, std::string_view module) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) == LUA_TTABLE) {
    PushText(L, module);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  return lua_type(L, -1);
}

// Pushes why the module is not there. [-0, +1, m]
void PushFailure(lua_State* L, std::string_view module) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kFailures) == LUA_TTABLE) {
    PushText(L, module);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING) return;
  }
  lua_pop(L, 1);
  lua_pushliteral(L, "module '");
  PushText(L, module);
  lua_pushliteral(L, "' is not loaded");
  lua_concat(L, 3);
}

// What an error says. User code is not asked: there is no state in which it could fail.
std::string_view ErrorText(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return "the error is no string";
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, index, &size);
  return {text, size};
}

// A field of the value on top takes its place: raw, else as Lua code gets it. [-1, +1, m]
int ReplaceByField(lua_State* L, std::string_view field) {
  if (lua_istable(L, -1)) {
    PushText(L, field);
    if (lua_rawget(L, -2) != LUA_TNIL) {
      lua_remove(L, -2);
      return lua_type(L, -1);
    }
    lua_pop(L, 1);
  }
  if (luaL_getmetafield(L, -1, "__index") == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return LUA_TNIL;
  }
  lua_pop(L, 1);
  lua_pushcfunction(L, [](lua_State* state) {
    lua_gettable(state, 1);
    return 1;
  });
  lua_insert(L, -2);
  PushText(L, field);
  CallForValue(L, 2, {}, "a field of a module");
  return lua_type(L, -1);
}

}  // namespace

void CallForValue(lua_State* L, int arguments, std::string_view wire, const char* what) {
  StateRecord& record = RecordOf(L);
  const std::uint32_t unwinding = record.unwinding;
  ++record.barrier;
  const int status = lua_pcall(L, arguments, 1, 0);
  --record.barrier;
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM || record.unwinding != unwinding) lua_error(L);
  const std::string_view error = ErrorText(L, -1);
  luaL_checkstack(L, kSlots, nullptr);
  lua_pushfstring(L, "cannot use %s: ", what);
  PushText(L, error);
  lua_concat(L, 2);
  PushStandIn(L, wire, ErrorText(L, -1));
  lua_replace(L, -3);
  lua_pop(L, 1);
}

bool PushModuleValue(lua_State* L, WireReader& reader) {
  luaL_checkstack(L, kSlots, nullptr);
  const std::uint8_t* const start = reader.at - 1;  // the tag, without kShared in the wire form
  std::string_view module;
  std::uint64_t count = 0;
  if (!reader.Text(module) || !reader.Varint(count)) return false;
  const WireReader fields = reader;
  const int top = lua_gettop(L);
  int type = PushModule(L, module);
  std::string_view field;
  std::uint64_t found = 0;  // fields
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!reader.Text(field)) return false;
    if (type == LUA_TNIL) continue;
    type = ReplaceByField(L, field);
    ++found;
  }
  if (type != LUA_TNIL) return true;

  // cannot use 'module.field': reason
  lua_settop(L, top);
  lua_pushlstring(L, "\xd6", 1);
  static_assert(wire::kModule == 0xd6);
  PushText(L, {reinterpret_cast<const char*>(start + 1),
               static_cast<std::size_t>(reader.at - start - 1)});
  lua_concat(L, 2);
  lua_pushliteral(L, "cannot use '");
  PushText(L, module);
  WireReader rest = fields;
  for (std::uint64_t i = 0; i < count && rest.Text(field); ++i) {
    lua_pushliteral(L, ".");
    PushText(L, field);
    lua_concat(L, 3);
  }
  lua_pushliteral(L, "': ");
  if (found == 0) {
    PushFailure(L, module);
  } else {
    lua_pushliteral(L, "module '");
    PushText(L, module);
    lua_pushliteral(L, "' has no such field here");
    lua_concat(L, 3);
  }
  lua_concat(L, 4);
  PushStandIn(L, ErrorText(L, top + 1), ErrorText(L, top + 2));
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return true;
}

bool IsModuleSettled(lua_State* L, std::string_view module) {
  const int top = lua_gettop(L);
  PushModule(L, module);
  bool result = lua_toboolean(L, -1) != 0;
  if (!result && lua_rawgetp(L, LUA_REGISTRYINDEX, &kFailures) == LUA_TTABLE) {
    PushText(L, module);
    result = lua_rawget(L, -2) != LUA_TNIL;
  }
  lua_settop(L, top);
  return result;
}

void RememberModuleFailure(lua_State* L, std::string_view module) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kFailures) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kFailures);
  }
  PushText(L, module);
  PushText(L, ErrorText(L, -3));
  lua_rawset(L, -3);
  lua_pop(L, 2);
}

void ForgetModuleFailures(lua_State* L) {
  if (lua_checkstack(L, 1) == 0) return;
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kFailures);
}

}  // namespace shoal::core
