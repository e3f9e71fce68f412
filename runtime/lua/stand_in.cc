// SPDX-License-Identifier: MIT
#include "runtime/lua/stand_in.h"

#include <cstdint>
#include <iterator>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/weak_table.h"
#include "runtime/lua/wire_bytes.h"

namespace shoal::core {
namespace {

// Their addresses are keys of the registry.
constexpr char kWires = 0;     // stand-in or its metatable (weak) → what a message says for it
constexpr char kStandIns = 0;  // wire and reason → stand-in (weak)

int RaiseReason(lua_State* L) { return luaL_error(L, "%s", lua_tostring(L, lua_upvalueindex(1))); }

int GetReason(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return 1;
}

// Not __gc and __mode. Nor __eq: to compare is no use of a value.
constexpr const char* kEvents[] = {
    "__add",      "__band",   "__bnot",  "__bor", "__bxor", "__call", "__close", "__div",
    "__idiv",     "__concat", "__index", "__le",  "__len",  "__lt",   "__mod",   "__mul",
    "__newindex", "__pairs",  "__pow",   "__shl", "__shr",  "__sub",  "__unm"};

// Pushes what a message says for a stand-in without a name. [-0, +1, m]
void PushReasonWire(lua_State* L, std::string_view reason) {
  std::uint8_t start[1 + kMaxVarint];
  start[0] = wire::kStandIn;
  const std::uint8_t* const end = PutVarint(start + 1, reason.size());
  lua_pushlstring(L, reinterpret_cast<const char*>(start), static_cast<std::size_t>(end - start));
  lua_pushlstring(L, reason.data(), reason.size());
  lua_concat(L, 2);
}

// Pushes a metatable whose events raise the string on top of the stack. [-0, +1, m]
void PushMetatable(lua_State* L) {
  const int reason = lua_gettop(L);
  lua_createtable(L, 0, static_cast<int>(std::size(kEvents)) + 3);
  lua_pushvalue(L, reason);
  lua_pushcclosure(L, RaiseReason, 1);
  for (const char* event : kEvents) {
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, event);
  }
  lua_pop(L, 1);
  lua_pushvalue(L, reason);
  lua_pushcclosure(L, GetReason, 1);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "stand-in");
  lua_setfield(L, -2, "__name");
}

}  // namespace

void PushStandIn(lua_State* L, std::string_view wire, std::string_view reason) {
  luaL_checkstack(L, 12, nullptr);
  CodecMemory& memory = MemoryOf(L);
  const int top = lua_gettop(L);
  PushWeakTable(L, &kStandIns, "v");
  const int stand_ins = top + 1;
  lua_pushlstring(L, wire.data(), wire.size());
  lua_pushlstring(L, reason.data(), reason.size());
  lua_pushvalue(L, -1);
  lua_insert(L, -3);
  lua_concat(L, 2);  // stand-ins, reason, key
  lua_pushvalue(L, -1);
  if (lua_rawget(L, stand_ins) == LUA_TNIL) {
    lua_pop(L, 1);
    PushWeakTable(L, &kWires, "k");
    const int wires = lua_gettop(L);
    if (wire.empty()) {
      PushReasonWire(L, reason);
    } else {
      lua_pushlstring(L, wire.data(), wire.size());
    }
    const int said = wires + 1;
    lua_newuserdatauv(L, 0, 0);
    const int made = said + 1;
    lua_pushvalue(L, stand_ins + 1);
    PushMetatable(L);
    for (const int index : {made, lua_gettop(L)}) {
      lua_pushvalue(L, index);
      lua_pushvalue(L, said);
      lua_rawset(L, wires);
    }
    lua_setmetatable(L, made);
    lua_pushvalue(L, stand_ins + 2);
    lua_pushvalue(L, made);
    lua_rawset(L, stand_ins);
    memory.has_stand_ins = true;
    lua_settop(L, made);
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

const char* PushStandInWire(lua_State* L, int index, std::size_t& size) {
  index = lua_absindex(L, index);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kWires) == LUA_TTABLE) {
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  return lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &size) : nullptr;
}

bool IsStandIn(lua_State* L, int index) {
  std::size_t size = 0;
  const bool result = PushStandInWire(L, index, size) != nullptr;
  lua_pop(L, 1);
  return result;
}

}  // namespace shoal::core
