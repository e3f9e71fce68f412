// SPDX-License-Identifier: MIT
#include "bindings/lua/delivery.h"

#include <new>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "runtime/lua/codec.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Message;
using core::MessageList;
using core::Process;

namespace {

constexpr char kBoxType[] = "shoal.delivery";

// What is being delivered while modules are required: the task may use its waiter meanwhile. Its
// user values are the channel and the key, to which the messages go back if the task is cancelled.
struct Box {
  MessageList messages;
  Form form;
  int key_index;
};

constexpr int kChannelValue = 1;
constexpr int kKeyValue = 2;

// __close: after a delivery nothing is left in it.
int CloseBox(lua_State* L) {
  auto* box = static_cast<Box*>(lua_touserdata(L, 1));
  if (box->messages.empty()) return 0;
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, kChannelValue);
  lua_getiuservalue(L, 1, kKeyValue);
  CheckChannel(L, 2).PutBack(CheckKey(L, 3), box->messages);
  return 0;
}

int CollectBox(lua_State* L) {
  static_cast<Box*>(lua_touserdata(L, 1))->~Box();
  return 0;
}

Box* PushBox(lua_State* L) {
  void* memory = lua_newuserdatauv(L, sizeof(Box), 2);
  Box* box = new (memory) Box{};
  if (luaL_newmetatable(L, kBoxType) != 0) {
    lua_pushcfunction(L, CollectBox);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, CloseBox);
    lua_setfield(L, -2, "__close");
  }
  lua_setmetatable(L, -2);
  return box;
}

// Whether the key stands on the top, and is the first result.
bool IsKeyed(Form form) { return form == Form::kKeyed || form == Form::kFlat; }
// Whether what stands on the top is the first result.
bool IsHeaded(Form form) { return IsKeyed(form) || form == Form::kNumbered; }
bool IsList(Form form) { return form == Form::kFirsts || form == Form::kPacked; }

// Called with the first message as light userdata: its values.
int DecodeOne(lua_State* L) {
  const auto* message = static_cast<const Message*>(lua_touserdata(L, 1));
  return core::Decode(L, *message);
}

// Called with the first message and the form: a list.
int DecodeList(lua_State* L) {
  const auto* message = static_cast<const Message*>(lua_touserdata(L, 1));
  const bool packed = lua_toboolean(L, 2) != 0;
  lua_newtable(L);
  const int list = lua_gettop(L);
  lua_Integer count = 0;
  for (; message != nullptr; message = MessageList::Next(*message)) {
    const int values = core::Decode(L, *message);
    if (packed) {
      lua_createtable(L, values, 1);
      lua_insert(L, list + 1);
      for (int i = values; i >= 1; --i) lua_rawseti(L, list + 1, i);
      lua_pushinteger(L, values);
      lua_setfield(L, list + 1, "n");
    } else {
      lua_settop(L, list + 1);
    }
    lua_rawseti(L, list, ++count);
  }
  lua_pushinteger(L, count);
  lua_setfield(L, list, "n");
  return 1;
}

void GoBack(lua_State* L, MessageList& messages, int key_index) {
  CheckChannel(L, 1).PutBack(CheckKey(L, key_index), messages);
}

// Called with the first message and how many there are: the first value of each.
int DecodeFirsts(lua_State* L) {
  const auto* message = static_cast<const Message*>(lua_touserdata(L, 1));
  const auto count = static_cast<int>(lua_tointeger(L, 2));
  luaL_checkstack(L, count, "too many values");
  int top = lua_gettop(L);
  for (; message != nullptr; message = MessageList::Next(*message)) {
    core::Decode(L, *message);
    lua_settop(L, ++top);
  }
  return count;
}

lua_CFunction DecoderOf(Form form) {
  if (form == Form::kFlat) return DecodeFirsts;
  return IsList(form) ? DecodeList : DecodeOne;
}

// Decodes `messages` and pushes the values; on an error they go back, and the error is on the top.
// They are taken out first: a loader of `__transfer` may itself receive.
bool TryDecode(lua_State* L, MessageList& source, Form form, int key_index) {
  MessageList messages = std::move(source);
  lua_pushcfunction(L, DecoderOf(form));
  lua_pushlightuserdata(L, messages.front());
  if (IsList(form)) lua_pushboolean(L, form == Form::kPacked ? 1 : 0);
  if (form == Form::kFlat) lua_pushinteger(L, static_cast<lua_Integer>(messages.count()));
  const int arguments = IsList(form) || form == Form::kFlat ? 2 : 1;
  const bool decoded = lua_pcall(L, arguments, LUA_MULTRET, 0) == LUA_OK;
  if (decoded) {
    Process::Of(L).CountReceived(messages.count());
  } else {
    GoBack(L, messages, key_index);
  }
  return decoded;
}

int DecodeAll(lua_State* L, MessageList& messages, Form form, int key_index) {
  const int base = lua_gettop(L) - (IsHeaded(form) ? 1 : 0);
  if (IsKeyed(form)) key_index = base + 1;
  if (!TryDecode(L, messages, form, key_index)) return lua_error(L);
  return lua_gettop(L) - base;
}

// What is the first result stands below the box; it is to be on the top.
int DecodeBox(lua_State* L, int box_index) {
  auto& box = *static_cast<Box*>(lua_touserdata(L, box_index));
  lua_settop(L, box_index);
  if (IsHeaded(box.form)) lua_pushvalue(L, box_index - 1);
  return DecodeAll(L, box.messages, box.form, box.key_index);
}

int LoadBox(lua_State* L, int, lua_KContext box_index) {
  const auto& box = *static_cast<Box*>(lua_touserdata(L, static_cast<int>(box_index)));
  for (const Message* message = box.messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    if (core::NeedsModules(L, *message)) {
      return core::RequireModules(L, *message, box_index, LoadBox);
    }
  }
  return DecodeBox(L, static_cast<int>(box_index));
}

bool AnyNeedsModules(lua_State* L, const MessageList& messages) {
  for (const Message* message = messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    if (core::NeedsModules(L, *message)) return true;
  }
  return false;
}

// The message as light userdata is at `context`; what goes before the values, above it.
int KeptLoaded(lua_State* L, int, lua_KContext context) {
  const auto* message = static_cast<const Message*>(lua_touserdata(L, static_cast<int>(context)));
  const int before = lua_gettop(L) - static_cast<int>(context);
  return before + core::Decode(L, *message);
}

// The copies stand in a box, to be freed whatever happens.
int CopiesLoaded(lua_State* L, int, lua_KContext box_index) {
  const auto& box = *static_cast<Box*>(lua_touserdata(L, static_cast<int>(box_index)));
  for (const Message* message = box.messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    if (core::NeedsModules(L, *message)) {
      return core::RequireModules(L, *message, box_index, CopiesLoaded);
    }
  }
  int values = 0;
  if (box.form == Form::kNumbered) {
    lua_pushinteger(L, static_cast<lua_Integer>(box.messages.count()));
    values = 1;
  }
  for (const Message* message = box.messages.front(); message != nullptr;
       message = MessageList::Next(*message)) {
    luaL_checkstack(L, core::ValueCount(*message), "too many values");
    values += core::Decode(L, *message);
  }
  return values;
}

}  // namespace

int DeliverCopies(lua_State* L, Counted counted) {
  MessageList& messages = Process::Of(L).current_task().messages();
  int values = 0;
  if (counted == Counted::kNo && messages.count() == 1 &&
      core::DecodeScalars(L, *messages.front(), &values)) {
    messages.Clear();
    return values;
  }
  Box* box = PushBox(L);
  box->form = counted == Counted::kYes ? Form::kNumbered : Form::kValues;
  box->messages = std::move(messages);
  return CopiesLoaded(L, LUA_OK, lua_gettop(L));
}

namespace {

[[gnu::noinline]] int DeliverLong(lua_State* L, MessageList& messages, Form form, int key_index) {
  if (!AnyNeedsModules(L, messages)) return DecodeAll(L, messages, form, key_index);
  Box* box = PushBox(L);
  const int at = lua_gettop(L);
  box->form = form;
  box->key_index = key_index;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, at, kChannelValue);
  lua_pushvalue(L, IsKeyed(form) ? at - 1 : key_index);
  lua_setiuservalue(L, at, kKeyValue);
  lua_toclose(L, at);
  box->messages = std::move(messages);
  return LoadBox(L, LUA_OK, at);
}

}  // namespace

int Deliver(lua_State* L, Form form, int key_index) {
  MessageList& messages = Process::Of(L).current_task().messages();
  int values = 0;
  if (IsList(form) || form == Form::kFlat || !core::DecodeScalars(L, *messages.front(), &values)) {
    return DeliverLong(L, messages, form, key_index);
  }
  messages.Clear();
  Process::Of(L).CountReceived(1);
  return values + (IsHeaded(form) ? 1 : 0);
}

int DeliverKept(lua_State* L, const Message& message, int before) {
  lua_pushlightuserdata(L, const_cast<Message*>(&message));
  lua_insert(L, -(before + 1));
  const int at = lua_gettop(L) - before;
  if (core::NeedsModules(L, message)) return core::RequireModules(L, message, at, KeptLoaded);
  return KeptLoaded(L, LUA_OK, at);
}

}  // namespace shoal::bindings
