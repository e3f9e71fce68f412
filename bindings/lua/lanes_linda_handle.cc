// SPDX-License-Identifier: MIT
// The handles of lindas, and what their methods have in common.
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/lanes_core.h"
#include "bindings/lua/lanes_linda.h"
#include "bindings/lua/message_box.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/weak_table.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Channel;
using core::KeyName;
using core::MessageList;
using core::MessagePtr;
using core::Process;
using core::Ref;

namespace {

// The address names the registry's table linda → handle. Its values are weak.
const char kHandlesKey = 0;
constexpr char kType[] = "shoal.linda";

struct Handle {
  const char* tag;  // kType, by its address
  Linda* linda;     // one reference, until __gc
};

constexpr int kCloseHandler = 1;  // the handle's user value

// nullptr: it is none.
Handle* ToHandle(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(Handle)) return nullptr;
  auto* const handle = static_cast<Handle*>(lua_touserdata(L, index));
  return handle->tag == kType ? handle : nullptr;
}

int Collect(lua_State* L) {
  auto* handle = static_cast<Handle*>(lua_touserdata(L, 1));
  Linda* const linda = std::exchange(handle->linda, nullptr);
  // In a child that was forked, locks may be held by threads that are not there.
  if (linda != nullptr && core::RecordOf(L).host != nullptr) linda->Release();
  return 0;
}

// tostring(linda): "Linda: jobs".
int ToString(lua_State* L) {
  const Linda& linda = CheckLinda(L);
  if (linda.options().name.empty()) {
    lua_pushfstring(L, "Linda: %p", static_cast<const void*>(&linda));
  } else {
    lua_pushfstring(L, "Linda: %s", linda.options().name.c_str());
  }
  return 1;
}

int Concat(lua_State* L) {
  luaL_tolstring(L, 1, nullptr);
  luaL_tolstring(L, 2, nullptr);
  lua_concat(L, 2);
  return 1;
}

int Close(lua_State* L) {
  lua_settop(L, 2);
  if (lua_getiuservalue(L, 1, kCloseHandler) == LUA_TNIL) return 0;
  lua_insert(L, 1);
  lua_callk(L, 2, 0, 0, nullptr);
  return 0;
}

// What is no method. Upvalue 1 of __index holds the methods.
int Index(lua_State* L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  const Linda& linda = CheckLinda(L);
  const std::string_view field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (linda.is_v4()) {
    if (field == "status") {
      lua_pushstring(L, linda.cancelled() ? "cancelled" : "active");
      return 1;
    }
    return luaL_error(L, "unknown field '%s'", luaL_tolstring(L, 2, nullptr));
  }
  if (field == "null") {
    lua_pushlightuserdata(L, LanesNull());
    return 1;
  }
  if (field == "batched") {
    lua_pushlightuserdata(L, BatchedMark());
    return 1;
  }
  lua_pushnil(L);
  return 1;
}

const char* CheckWord(lua_State* L, int index, const char* fallback) {
  if (lua_isnoneornil(L, index)) return fallback;
  return lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : luaL_typename(L, index);
}

// cancel([hint])
int Cancel(lua_State* L) {
  static const char* const kHints[] = {"read", "write", "both", "none"};
  Linda& linda = CheckLinda(L);
  const char* const word = CheckWord(L, 2, "both");
  for (int i = 0; i < 4; ++i) {
    if (std::strcmp(word, kHints[i]) != 0) continue;
    linda.Cancel(static_cast<CancelHint>(i));
    return 0;
  }
  return luaL_error(L, "unknown wake hint '%s'", word);
}

// wake([hint]): nobody here sleeps through what he waits for, so there is nothing to do.
int Wake(lua_State* L) {
  static_cast<void>(CheckLinda(L));
  const std::string_view word = CheckWord(L, 2, "both");
  if (word != "read" && word != "write" && word != "both") {
    return luaL_error(L, "unknown wake hint '%s'", word.data());
  }
  return 0;
}

// deep(): light userdata that is equal for equal lindas.
int Deep(lua_State* L) {
  lua_pushlightuserdata(L, &CheckLinda(L));
  return 1;
}

int CollectGarbage(lua_State* L) {
  static_cast<void>(CheckLinda(L));  // what is received leaves no garbage behind
  return 0;
}

constexpr luaL_Reg kMethods[] = {{"send", LindaSend},
                                 {"receive", LindaReceive},
                                 {"receive_batched", LindaReceiveBatched},
                                 {"set", LindaSet},
                                 {"get", LindaGet},
                                 {"limit", LindaLimit},
                                 {"restrict", LindaRestrict},
                                 {"count", LindaCount},
                                 {"dump", LindaDump},
                                 {"cancel", Cancel},
                                 {"wake", Wake},
                                 {"deep", Deep},
                                 {"collectgarbage", CollectGarbage},
                                 {nullptr, nullptr}};

// [-0, +1, m]
void PushMetatable(lua_State* L) {
  if (luaL_newmetatable(L, kType) == 0) return;
  luaL_newlib(L, kMethods);
  lua_pushcclosure(L, Index, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, Collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, Close);
  lua_setfield(L, -2, "__close");
  lua_pushcfunction(L, Concat);
  lua_setfield(L, -2, "__concat");
  lua_pushcfunction(L, ToString);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "Linda");
  lua_setfield(L, -2, "__metatable");
  lua_pushliteral(L, "Linda");
  lua_setfield(L, -2, "__name");
}

int PushLindaAt1(lua_State* L) {
  PushLinda(L, *static_cast<Linda*>(lua_touserdata(L, 1)));
  return 1;
}

// nullptr: memory is short. Raises nothing.
Linda* MakeLinda(core::ChannelRegistry& channels, Linda::Options& options) {
  Linda* made = nullptr;
  static_cast<void>(core::EnoughMemory([&] {
    Ref<Channel> channel = channels.Make({.zero_limit = core::ZeroLimit::kBlocks});
    Ref<Channel> control = channels.Make({});
    if (!channel || !control) return;
    made = new Linda(std::move(channel), std::move(control), std::move(options));
  }));
  return made;
}

// The fields are on the stack: the linda of them, with a reference to give, or nullptr.
Linda* MakeNamed(lua_State* L, const char* name, LanesApi api, bool verbose) {
  Linda::Options options;
  options.api = api;
  options.verbose = verbose;
  if (!core::EnoughMemory([&] { options.name = name; })) return nullptr;
  return MakeLinda(Process::Of(L).machine().channels, options);
}

}  // namespace

Linda* ToLinda(lua_State* L, int index) {
  const Handle* const handle = ToHandle(L, index);
  return handle == nullptr ? nullptr : handle->linda;
}

Linda& CheckLinda(lua_State* L) {
  Linda* const linda = ToLinda(L, 1);
  if (linda == nullptr) luaL_typeerror(L, 1, "Linda");
  return *linda;
}

void PushLinda(lua_State* L, Linda& linda) {
  core::PushWeakTable(L, &kHandlesKey, "v");
  lua_rawgetp(L, -1, &linda);
  // As with all handles, one may stand here that has been collected: see handles.cc.
  const auto* const known = static_cast<const Handle*>(lua_touserdata(L, -1));
  if (known == nullptr || known->linda != &linda) {
    lua_pop(L, 1);
    auto* handle = static_cast<Handle*>(lua_newuserdatauv(L, sizeof(Handle), kCloseHandler));
    handle->tag = kType;
    handle->linda = nullptr;
    PushMetatable(L);
    lua_setmetatable(L, -2);
    linda.AddRef();
    handle->linda = &linda;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &linda);
  }
  lua_remove(L, -2);
}

int NewLinda(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_getfield(L, 1, "name");
  lua_getfield(L, 1, "api");
  lua_getfield(L, 1, "verbose");
  lua_getfield(L, 1, "close_handler");
  Linda* const made = MakeNamed(L, luaL_optstring(L, 2, ""),
                                luaL_checkinteger(L, 3) == 3 ? LanesApi::k3 : LanesApi::k4,
                                lua_toboolean(L, 4) != 0);
  if (made == nullptr) return luaL_error(L, "not enough memory");
  lua_pushcfunction(L, PushLindaAt1);
  lua_pushlightuserdata(L, made);
  const int status = lua_pcall(L, 1, 1, 0);
  made->Release();
  if (status != LUA_OK) return lua_error(L);
  lua_pushvalue(L, 5);
  lua_setiuservalue(L, -2, kCloseHandler);
  return 1;
}

// --- Arguments and results.

KeyName CheckSlot(lua_State* L, const Linda& linda, int index) {
  KeyName key = KeyName::Boolean(false);
  if (lua_type(L, index) == LUA_TNUMBER && lua_isinteger(L, index) == 0) {
    const double number = lua_tonumber(L, index);
    lua_Integer integer = 0;
    // As keys of tables: 2.0 is 2.
    if (lua_numbertointeger(number, &integer) && static_cast<double>(integer) == number) {
      return KeyName::Integer(integer);
    }
    if (!std::isnan(number)) return KeyName::Float(number);
  } else if (lua_type(L, index) != LUA_TUSERDATA) {
    if (ToKey(L, index, &key)) return key;
  } else if (linda.is_v4()) {
    if (ToKey(L, index, &key)) return key;
    if (Linda* const other = ToLinda(L, index)) return KeyName::Handle(other);
  }
  luaL_error(L, "argument #%d: invalid %s type (not a boolean, string, number or light userdata)",
             index, linda.is_v4() ? "slot" : "key");
  return key;
}

int TakeTimeout(lua_State* L, const Linda& linda, core::Duration* timeout) {
  constexpr int kFirst = 2;
  *timeout = kForever;
  if (lua_isnil(L, kFirst)) return kFirst + 1;
  if (lua_type(L, kFirst) != LUA_TNUMBER) return kFirst;
  const double seconds = lua_tonumber(L, kFirst);
  // In the words of Lanes, which count the linda, however the method is called.
  constexpr char kBad[] = "bad argument #%d to '?' (duration cannot be %s)";
  if (std::isnan(seconds)) luaL_error(L, kBad, kFirst, "NaN");
  if (seconds < 0) {
    if (linda.is_v4()) luaL_error(L, kBad, kFirst, "< 0");
  } else {
    *timeout = CheckTimeout(L, kFirst);
  }
  return kFirst + 1;
}

bool IsCancelled(lua_State* L, const Linda& linda) {
  return linda.cancelled() || LaneIsCancelled(L);
}

int PushCancelError(lua_State* L, const Linda& linda) {
  if (linda.is_v4()) lua_pushnil(L);
  lua_pushlightuserdata(L, LanesCancelError());
  return linda.is_v4() ? 2 : 1;
}

void CheckRestriction(lua_State* L, Linda& linda, const KeyName& key, Restriction use) {
  const Restriction restriction = linda.restriction(key);
  if (restriction != Restriction::kNone && restriction != use) luaL_error(L, "Key is restricted");
}

void NoteKey(lua_State* L, Linda& linda, const KeyName& key) {
  CheckMemory(L, core::EnoughMemory([&] { linda.Note(key); }));
}

namespace {

// (values…, box, count): each value as a message.
int EncodeEach(lua_State* L) {
  const int values = lua_gettop(L) - 2;
  auto& messages = *static_cast<MessageList*>(lua_touserdata(L, values + 1));
  const auto count = static_cast<int>(lua_tointeger(L, values + 2));
  lua_pushnil(L);
  const int nil = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    const bool is_nil = i > values || lua_touserdata(L, i) == LanesNull();
    messages.PushBack(MessagePtr(core::Encode(L, is_nil ? nil : i, 1)));
  }
  return 0;
}

}  // namespace

MessageList& EncodeValues(lua_State* L, const Linda& linda, int first, int count) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, top + 4, "too many values");
  MessageList& messages = PushMessageBox(L);
  lua_pushcfunction(L, EncodeEach);
  for (int i = first; i <= top; ++i) lua_pushvalue(L, i);
  lua_pushlightuserdata(L, &messages);
  lua_pushinteger(L, count);
  if (lua_pcall(L, top - first + 3, 0, 0) != LUA_OK) {
    if (lua_type(L, -1) != LUA_TSTRING) lua_error(L);
    std::size_t length = 0;
    const char* const text = lua_tolstring(L, -1, &length);
    PushRefusal(L, {text, length}, linda.options().api, linda.options().verbose);
    luaL_error(L, "%s", lua_tostring(L, -1));
  }
  return messages;
}

}  // namespace shoal::bindings
