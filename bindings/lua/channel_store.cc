// SPDX-License-Identifier: MIT
// What does not wait: set, get, add, incr, expire, ttl, limit, count, keys, close; and the kind.
#include <memory>
#include <string>
#include <vector>

#include "bindings/lua/arguments.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/handles.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/expiry.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::KeyName;
using core::Message;
using core::MessageList;
using core::MessagePtr;
using core::Number;
using core::Status;
using core::TimePoint;

namespace {

constexpr int kChannel = 1;
constexpr int kKey = 2;
constexpr int kValue = 3;

// Defines the continuation after the turn of the others.
template <lua_CFunction kFunction>
int Again(lua_State* L, int, lua_KContext) {
  return kFunction(L);
}

// The values from kValue on as one message; none: no message.
enum class Store : std::uint8_t { kReplace, kIfEmpty };
Status StoreMessage(Channel& channel, const KeyName& key, Message* message, Store store) {
  MessageList messages;
  if (message != nullptr) messages.PushBack(MessagePtr(message));
  return store == Store::kReplace ? channel.Replace(key, messages)
                                  : channel.SendIfEmpty(key, messages);
}

int PushStored(lua_State* L, Status status, int messages) {
  if (status != Status::kOk) return PushOutcome(L, status);
  core::Process::Of(L).CountSent(static_cast<std::uint64_t>(messages));
  lua_pushboolean(L, 1);
  return 1;
}

}  // namespace

int Set(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  const int values = lua_gettop(L) - kKey;
  if (values > 0) CheckFirstValue(L, kValue);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Set>);
  Message* message = values > 0 ? core::Encode(L, kValue, values) : nullptr;
  return PushStored(L, StoreMessage(channel, key, message, Store::kReplace), values > 0 ? 1 : 0);
}

int Add(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  CheckFirstValue(L, kValue);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Add>);
  Message* message = core::Encode(L, kValue, lua_gettop(L) - kKey);
  return PushStored(L, StoreMessage(channel, key, message, Store::kIfEmpty), 1);
}

namespace {

// A copy of the oldest message in the waiter of the current task; false if there is none. The copy
// that memory is too short for is an empty list and true.
bool CopyOldest(Channel& channel, const KeyName& key, MessageList& copy) {
  bool found = false;
  channel.Peek(key, 1, [&](const Message& message) {
    found = true;
    MessagePtr same = Message::New(message.bytes(), message.references());
    if (same) copy.PushBack(std::move(same));
  });
  return found;
}

}  // namespace

int Get(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Get>);
  MessageList& copy = core::Process::Of(L).current_task().messages();
  if (!CopyOldest(channel, key, copy)) {
    lua_pushnil(L);
    return 1;
  }
  if (copy.empty()) return luaL_error(L, "not enough memory");
  return DeliverCopy(L);
}

int Incr(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  Number by = std::int64_t{1};
  if (!lua_isnoneornil(L, 3)) {
    luaL_checktype(L, 3, LUA_TNUMBER);
    if (lua_isinteger(L, 3) != 0) {
      by = static_cast<std::int64_t>(lua_tointeger(L, 3));
    } else {
      by = lua_tonumber(L, 3);
    }
  }
  const TimePoint expiry = DeadlineFor(L, CheckTimeoutAt(L, 4, 4, "ttl"));
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Incr>);
  Number result;
  std::uint32_t generation = 0;
  const Status status = channel.Increment(key, by, expiry, &result, &generation);
  switch (status) {
    case Status::kOk:
      break;
    case Status::kNotNumber:
      return luaL_error(L, "incr: what stands under this key is not one message of one number");
    case Status::kNoMemory:
      return luaL_error(L, "not enough memory");
    default:
      return PushOutcome(L, status);
  }
  if (generation != 0) core::ArmExpiry(L, channel, key, expiry, generation);
  if (const auto* integer = std::get_if<std::int64_t>(&result)) {
    lua_pushinteger(L, *integer);
  } else {
    lua_pushnumber(L, std::get<double>(result));
  }
  return 1;
}

int Expire(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  const TimePoint expiry = DeadlineFor(L, CheckTime(L, 3));
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Expire>);
  std::uint32_t generation = 0;
  const Status status = channel.Expire(key, expiry, &generation);
  if (status == Status::kOk && generation != 0) {
    core::ArmExpiry(L, channel, key, expiry, generation);
  }
  return PushStored(L, status, 0);
}

int Ttl(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Ttl>);
  const TimePoint expiry = channel.ExpiryOf(key);
  if (expiry == core::kNever) {
    lua_pushnil(L);
  } else {
    const auto left = expiry - core::Process::Of(L).machine().clock.Now();
    lua_pushnumber(L, static_cast<double>(std::max(left, core::Duration::zero()).count()) / 1e9);
  }
  return 1;
}

int Limit(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  const bool set = !lua_isnoneornil(L, 3);
  const std::uint64_t limit = set ? CheckLimit(L, 3) : 0;
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Limit>);
  PushLimit(L, set ? channel.SetLimit(key, limit) : channel.Limit(key));
  return 1;
}

int Count(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Count>);
  lua_pushinteger(L, static_cast<lua_Integer>(channel.Count(key)));
  return 1;
}

namespace {

constexpr char kKeysType[] = "shoal.keys";
using Names = std::vector<core::StoredKeyName>;

int CollectNames(lua_State* L) {
  static_cast<Names*>(lua_touserdata(L, 1))->~Names();
  return 0;
}

}  // namespace

int Keys(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  if (core::BeforeCall(L)) return core::YieldSlice(L, Again<Keys>);
  // The names are owned by a userdata: pushing them may raise.
  auto* names = new (lua_newuserdatauv(L, sizeof(Names), 0)) Names();
  if (luaL_newmetatable(L, kKeysType) != 0) {
    lua_pushcfunction(L, CollectNames);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  CheckMemory(L, core::EnoughMemory([&] { *names = channel.Keys(); }));
  lua_createtable(L, static_cast<int>(names->size()), 0);
  for (std::size_t i = 0; i < names->size(); ++i) {
    PushKey(L, (*names)[i].view());
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
  return 1;
}

namespace {

int Close(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  if (lua_isnoneornil(L, kKey)) {
    channel.Close();
  } else {
    channel.CloseKey(CheckKey(L, kKey));
  }
  return 0;
}

// `local c <close> = shoal.channel()`: the second argument is the error, not a key.
int CloseScope(lua_State* L) {
  CheckChannel(L, kChannel).Close();
  return 0;
}

int Field(lua_State* L) {
  const Channel& channel = CheckChannel(L, kChannel);
  const char* name = lua_tostring(L, 2);
  if (name == nullptr) return 0;
  const std::string_view field = name;
  if (field == "id") {
    lua_pushinteger(L, static_cast<lua_Integer>(channel.id()));
    return 1;
  }
  if (field == "name" && !channel.name().empty()) {
    lua_pushlstring(L, channel.name().data(), channel.name().size());
    return 1;
  }
  return 0;
}

int ToString(lua_State* L) {
  const Channel& channel = CheckChannel(L, kChannel);
  const auto id = static_cast<lua_Integer>(channel.id());
  if (channel.name().empty()) {
    lua_pushfstring(L, "channel: %I", id);
  } else {
    lua_pushfstring(L, "channel: %I (%s)", id, channel.name().c_str());
  }
  return 1;
}

}  // namespace

namespace {

const luaL_Reg kMethods[] = {{"send", Send},
                             {"send_for", SendFor},
                             {"send_batch", SendBatch},
                             {"receive", Receive},
                             {"receive_any", ReceiveAny},
                             {"receive_batch", ReceiveBatch},
                             {"each", Each},
                             {"set", Set},
                             {"get", Get},
                             {"add", Add},
                             {"incr", Incr},
                             {"expire", Expire},
                             {"ttl", Ttl},
                             {"limit", Limit},
                             {"count", Count},
                             {"keys", Keys},
                             {"close", Close},
                             {nullptr, nullptr}};

}  // namespace

const HandleKind kChannelKind = {"shoal.channel", "channel", kMethods, Field, ToString, CloseScope};

namespace {

// What was asked for, and the name as text.
struct Wanted {
  const char* name = nullptr;
  std::size_t name_length = 0;
  bool has_options = false;
  Channel::Options options;
};

// No Lua call in here raises.
Status OpenWanted(core::ChannelRegistry& channels, const Wanted& wanted,
                  core::RefCounted** channel) {
  core::Ref<Channel> made;
  Status status = Status::kOk;
  if (wanted.name == nullptr) {
    made = channels.Make(wanted.options);
  } else {
    const bool enough = core::EnoughMemory([&] {
      status = channels.Open({wanted.name, wanted.name_length},
                             wanted.has_options ? &wanted.options : nullptr, &made);
    });
    if (!enough) status = Status::kNoMemory;
  }
  *channel = made.Leak();
  return status;
}

}  // namespace

int NewChannel(lua_State* L) {
  core::ChannelRegistry& channels = core::Process::Of(L).machine().channels;
  Wanted wanted;
  wanted.options = channels.defaults();
  if (lua_type(L, 1) == LUA_TSTRING) {
    wanted.name = lua_tolstring(L, 1, &wanted.name_length);
  } else if (!lua_isnoneornil(L, 1)) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
      const std::string_view option =
          lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "(not a string)";
      if (option == "name") {
        luaL_argcheck(L, lua_type(L, 3) == LUA_TSTRING, 1, "option 'name' is not a string");
        wanted.name = lua_tolstring(L, 3, &wanted.name_length);
      } else if (option == "limit") {
        wanted.options.limit = CheckOptionLimit(L, 1, "limit");
        wanted.has_options = true;
      } else if (option == "bytes") {
        wanted.options.bytes = CheckOptionLimit(L, 1, "bytes");
        wanted.has_options = true;
      } else {
        luaL_argerror(
            L, 1,
            lua_pushfstring(L, "no option '%s'; there are name, limit, bytes", option.data()));
      }
      lua_settop(L, 2);
    }
  }
  if (wanted.name != nullptr &&
      !core::Process::Of(L).reach().MayOpen({wanted.name, wanted.name_length})) {
    return luaL_error(L, "this process may not open the channel '%s'", wanted.name);
  }
  core::RefCounted* channel = nullptr;
  const Status status = OpenWanted(channels, wanted, &channel);
  if (status == Status::kExists) {
    return luaL_error(L, "channel '%s' exists with another limit", wanted.name);
  }
  if (channel == nullptr) return luaL_error(L, "not enough memory");
  PushNewReference(L, channel);
  return 1;
}

}  // namespace shoal::bindings
