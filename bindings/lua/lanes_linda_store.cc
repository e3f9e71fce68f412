// SPDX-License-Identifier: MIT
// The calls of lindas that never wait: set, get, limit, restrict, count, dump.
#include <climits>
#include <string_view>
#include <vector>

#include "bindings/lua/arguments.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/lanes_core.h"
#include "bindings/lua/lanes_linda.h"
#include "bindings/lua/message_box.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::KeyName;
using core::Message;
using core::MessageList;
using core::MessagePtr;
using core::Process;
using core::Status;
using core::StoredKeyName;

namespace {

constexpr int kKey = 2;
constexpr int kValue = 3;

template <lua_CFunction kFunction>
int Again(lua_State* L, int, lua_KContext) {
  return kFunction(L);
}

// --- How full a key is.

struct Fill {
  std::uint64_t count;
  std::uint64_t limit;
};

Fill FillOf(Channel& channel, const KeyName& key) {
  return {static_cast<std::uint64_t>(channel.Count(key)), channel.Limit(key)};
}

const char* ToString(const Fill& fill) {
  return fill.count < fill.limit ? "under" : (fill.count == fill.limit ? "exact" : "over");
}

// What set and limit return: whether there is room where there was none, and how full the key is.
int PushChange(lua_State* L, const Linda& linda, const Fill& before, const Fill& after) {
  const bool opened = before.count >= before.limit && after.count < after.limit;
  if (!linda.is_v4() && !opened) return 0;
  lua_pushboolean(L, opened ? 1 : 0);
  if (!linda.is_v4()) return 1;
  lua_pushstring(L, ToString(after));
  return 2;
}

void PushLindaLimit(lua_State* L, const Linda& linda, std::uint64_t limit) {
  if (limit != Channel::kNoLimit) {
    lua_pushinteger(L, static_cast<lua_Integer>(limit));
  } else if (linda.is_v4()) {
    lua_pushliteral(L, "unlimited");
  } else {
    lua_pushinteger(L, -1);
  }
}

// Copies of the oldest messages, at most `most`. Raises nothing; false: memory is short.
bool CopyOldest(Channel& channel, const KeyName& key, std::size_t most, MessageList& copies) {
  bool enough = true;
  channel.Peek(key, most, [&](const Message& message) {
    MessagePtr same = Message::New(message.bytes(), message.references());
    enough = enough && same;
    if (same) copies.PushBack(std::move(same));
  });
  if (!enough) copies.Clear();
  return enough;
}

}  // namespace

// set(key [, values…]): without values, clears it.
int LindaSet(lua_State* L) {
  Linda& linda = CheckLinda(L);
  const KeyName key = CheckSlot(L, linda, kKey);
  CheckRestriction(L, linda, key, Restriction::kSetGet);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<LindaSet>);
  if (IsCancelled(L, linda)) return PushCancelError(L, linda);
  MessageList& messages = EncodeValues(L, linda, kValue, lua_gettop(L) - kKey);
  NoteKey(L, linda, key);
  const Fill before = FillOf(linda.channel(), key);
  const Status status = linda.channel().Replace(key, messages);
  if (status == Status::kNoMemory) return luaL_error(L, "not enough memory");
  if (status != Status::kOk) return PushCancelError(L, linda);
  Process::Of(L).CountSent(1);
  return PushChange(L, linda, before, FillOf(linda.channel(), key));
}

// get(key [, count]): what stands there stays.
int LindaGet(lua_State* L) {
  Linda& linda = CheckLinda(L);
  const KeyName key = CheckSlot(L, linda, kKey);
  CheckRestriction(L, linda, key, Restriction::kSetGet);
  const lua_Integer count = luaL_optinteger(L, 3, 1);
  luaL_argcheck(L, count >= 1, 3, "count should be >= 1");
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<LindaGet>);
  if (IsCancelled(L, linda)) return PushCancelError(L, linda);
  MessageList& copies = Process::Of(L).current_task().messages();
  const auto most = static_cast<std::size_t>(std::min<lua_Integer>(count, INT_MAX));
  if (!CopyOldest(linda.channel(), key, most, copies)) return luaL_error(L, "not enough memory");
  if (copies.empty()) {
    if (!linda.is_v4()) return 0;
    lua_pushinteger(L, 0);
    return 1;
  }
  return DeliverCopies(L, linda.is_v4() ? Counted::kYes : Counted::kNo);
}

namespace {

constexpr int kLimit = 3;

// The new limit at kLimit.
std::uint64_t CheckLindaLimit(lua_State* L, const Linda& linda) {
  if (linda.is_v4() && lua_type(L, kLimit) == LUA_TSTRING) {
    luaL_argcheck(L, std::string_view(lua_tostring(L, kLimit)) == "unlimited", kLimit,
                  "limit should be a number or 'unlimited'");
    return Channel::kNoLimit;
  }
  const lua_Integer limit = luaL_checkinteger(L, kLimit);
  if (limit >= 0) return static_cast<std::uint64_t>(limit);
  if (linda.is_v4()) luaL_argerror(L, kLimit, "limit must be >= 0");
  return Channel::kNoLimit;
}

}  // namespace

// limit(key [, limit])
int LindaLimit(lua_State* L) {
  Linda& linda = CheckLinda(L);
  const bool reads = lua_gettop(L) == kKey && linda.is_v4();
  luaL_argcheck(L, reads || lua_gettop(L) == kLimit, kKey, "wrong number of arguments");
  const KeyName key = CheckSlot(L, linda, kKey);
  const std::uint64_t limit = reads ? 0 : CheckLindaLimit(L, linda);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<LindaLimit>);
  if (IsCancelled(L, linda)) return PushCancelError(L, linda);
  const Fill before = FillOf(linda.channel(), key);
  if (reads) {
    PushLindaLimit(L, linda, before.limit);
    lua_pushstring(L, ToString(before));
    return 2;
  }
  NoteKey(L, linda, key);
  static_cast<void>(linda.channel().SetLimit(key, limit));
  return PushChange(L, linda, before, FillOf(linda.channel(), key));
}

// restrict(key [, restriction]): returns what it was.
int LindaRestrict(lua_State* L) {
  Linda& linda = CheckLinda(L);
  const KeyName key = CheckSlot(L, linda, kKey);
  const bool sets = !lua_isnoneornil(L, 3);
  const int restriction = sets ? luaL_checkoption(L, 3, nullptr, kRestrictions) : 0;
  if (IsCancelled(L, linda)) return PushCancelError(L, linda);
  const Restriction before = linda.restriction(key);
  if (sets) {
    CheckMemory(
        L, core::EnoughMemory([&] { linda.Restrict(key, static_cast<Restriction>(restriction)); }));
  }
  lua_pushstring(L, kRestrictions[static_cast<int>(before)]);
  return 1;
}

namespace {

constexpr char kKeysType[] = "shoal.linda_keys";
using Names = std::vector<StoredKeyName>;

int CollectNames(lua_State* L) {
  static_cast<Names*>(lua_touserdata(L, 1))->~Names();
  return 0;
}

// All keys of the linda, owned by a userdata: pushing them may raise. [-0, +1, m]
Names& PushNames(lua_State* L, Linda& linda) {
  auto* names = new (lua_newuserdatauv(L, sizeof(Names), 0)) Names();
  if (luaL_newmetatable(L, kKeysType) != 0) {
    lua_pushcfunction(L, CollectNames);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  CheckMemory(L, core::EnoughMemory([&] { *names = linda.Keys(); }));
  return *names;
}

// [-0, +1, m]
void PushSlot(lua_State* L, const KeyName& key) {
  if (key.kind == KeyName::Kind::kHandle && key.handle->kind() == core::RefCounted::Kind::kLinda) {
    PushLinda(L, *static_cast<Linda*>(key.handle));
  } else {
    PushKey(L, key);
  }
}

// Sets the count of `key` in the table on the top, if the key is known. [-0, +0, m]
void SetCount(lua_State* L, Linda& linda, const KeyName& key) {
  const std::size_t count = linda.channel().Count(key);
  if (count == 0 && !linda.IsNoted(key)) return;
  PushSlot(L, key);
  lua_pushinteger(L, static_cast<lua_Integer>(count));
  lua_rawset(L, -3);
}

}  // namespace

// count(): a table of all keys; count(key): its number, or nil; count(keys…): a table.
int LindaCount(lua_State* L) {
  Linda& linda = CheckLinda(L);
  const int last = lua_gettop(L);
  for (int i = kKey; i <= last; ++i) static_cast<void>(CheckSlot(L, linda, i));
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<LindaCount>);
  if (last == kKey) {
    const KeyName key = CheckSlot(L, linda, kKey);
    const std::size_t count = linda.channel().Count(key);
    if (count == 0 && !linda.IsNoted(key)) {
      lua_pushnil(L);
    } else {
      lua_pushinteger(L, static_cast<lua_Integer>(count));
    }
    return 1;
  }
  if (last > kKey) {
    lua_newtable(L);
    for (int i = kKey; i <= last; ++i) SetCount(L, linda, CheckSlot(L, linda, i));
    return 1;
  }
  const Names& names = PushNames(L, linda);
  if (names.empty()) return 0;
  lua_newtable(L);
  for (const StoredKeyName& name : names) SetCount(L, linda, name.view());
  return 1;
}

namespace {

// The values that stand under the key, as a list. [-0, +1, m]
void PushFifo(lua_State* L, Linda& linda, const KeyName& key, std::size_t* count) {
  MessageList& copies = PushMessageBox(L);
  CheckMemory(L, CopyOldest(linda.channel(), key, SIZE_MAX, copies));
  *count = copies.count();
  lua_createtable(L, static_cast<int>(std::min<std::size_t>(*count, INT_MAX)), 0);
  lua_Integer i = 0;
  for (const Message* message = copies.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    core::Decode(L, *message);
    lua_rawseti(L, -2, ++i);
  }
  lua_remove(L, -2);
}

// [-0, +1, m]
void PushDumpOf(lua_State* L, Linda& linda, const KeyName& key) {
  std::size_t count = 0;
  lua_createtable(L, 0, 5);
  PushFifo(L, linda, key, &count);
  lua_setfield(L, -2, "fifo");
  lua_pushinteger(L, 1);
  lua_setfield(L, -2, "first");
  lua_pushinteger(L, static_cast<lua_Integer>(count));
  lua_setfield(L, -2, "count");
  PushLindaLimit(L, linda, linda.channel().Limit(key));
  lua_setfield(L, -2, "limit");
  if (!linda.is_v4()) return;
  lua_pushstring(L, kRestrictions[static_cast<int>(linda.restriction(key))]);
  lua_setfield(L, -2, "restrict");
}

}  // namespace

// dump(): what stands in the linda, for debugging; nil if there is nothing.
int LindaDump(lua_State* L) {
  Linda& linda = CheckLinda(L);
  lua_settop(L, 1);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<LindaDump>);
  const Names& names = PushNames(L, linda);
  if (names.empty()) {
    lua_pushnil(L);
    return 1;
  }
  lua_newtable(L);
  for (const StoredKeyName& name : names) {
    PushSlot(L, name.view());
    PushDumpOf(L, linda, name.view());
    lua_rawset(L, -3);
  }
  return 1;
}

}  // namespace shoal::bindings
