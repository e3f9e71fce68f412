// SPDX-License-Identifier: MIT
#include "bindings/lua/select_cases.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/message_box.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_parcel.h"
#include "bindings/lua/socket_wait.h"
#include "bindings/lua/task_library.h"
#include "runtime/lua/codec.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Channel;
using core::Direction;
using core::KeyName;
using core::MessageList;
using core::MessagePtr;
using core::Process;
using core::RefCounted;
using core::SelectCase;
using core::Task;

namespace {

template <class T, class... Arguments>
SelectCase* Make(Case& to, CaseKind kind, Arguments&&... arguments) {
  static_assert(std::is_trivially_destructible_v<T> && sizeof(T) <= Case::kSize);
  auto* const made = new (to.storage) T(std::forward<Arguments>(arguments)...);
  to.kind = kind;
  return made;
}

SocketCase& SocketCaseOf(Case& of) {
  return *std::launder(reinterpret_cast<SocketCase*>(of.storage));
}

// [-0, +1, m]
Cases& PushCases(lua_State* L, std::size_t count) {
  const std::size_t size = sizeof(Cases) + count * (sizeof(SelectCase*) + sizeof(Case));
  auto* cases = new (lua_newuserdatauv(L, size, 0)) Cases{};
  cases->count = count;
  cases->pointers = reinterpret_cast<SelectCase**>(cases + 1);
  cases->cases = reinterpret_cast<Case*>(cases->pointers + count);
  for (std::size_t i = 0; i < count; ++i) cases->cases[i].kind = CaseKind::kNone;
  return *cases;
}

// The finalizer of cases with a socket among them; the others are freed as they are.
int CollectCases(lua_State* L) {
  const auto& cases = *static_cast<const Cases*>(lua_touserdata(L, 1));
  for (std::size_t i = 0; i < cases.count; ++i) {
    if (cases.cases[i].kind == CaseKind::kSocket) SocketCaseOf(cases.cases[i]).Release();
  }
  return 0;
}

// [-0, +0, m]
void SetFinalizer(lua_State* L) {
  if (luaL_newmetatable(L, "shoal.cases") != 0) {
    lua_pushcfunction(L, CollectCases);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, kCases);
}

// --- Arguments.

int RaiseInCase(lua_State* L, std::size_t i, const char* what) {
  return luaL_argerror(L, 1,
                       lua_pushfstring(L, "case %I: %s", static_cast<lua_Integer>(i) + 1, what));
}

// Of the value on the top, for errors: "channel", "table". [-0, +1, m]
const char* PushTypeOfTop(lua_State* L) {
  if (luaL_getmetafield(L, -1, "__shoal") != LUA_TSTRING) lua_pushstring(L, luaL_typename(L, -1));
  return lua_tostring(L, -1);
}

// Raises if the case on the top, which sends nothing, has a field with a name. [-0, +0, v]
void CheckNoFields(lua_State* L, std::size_t i) {
  lua_pushinteger(L, static_cast<lua_Integer>(lua_rawlen(L, -1)));
  // What comes behind the list, in nearly all cases: nothing.
  if (lua_tointeger(L, -1) == 0) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) {
      RaiseInCase(L, i, lua_pushfstring(L, "there is no field '%s'", lua_tostring(L, -1)));
    }
  }
}

// Copies the parts of the case on the top, which the caller may change meanwhile. [-0, +0, v]
void CopyParts(lua_State* L, std::size_t i) {
  if (lua_type(L, -1) != LUA_TTABLE) {
    RaiseInCase(L, i, lua_pushfstring(L, "a table expected, got %s", PushTypeOfTop(L)));
  }
  if (lua_rawlen(L, -1) > 2) RaiseInCase(L, i, "more than a handle and a key");
  lua_rawgeti(L, -1, 1);
  lua_rawseti(L, kParts, HandlePart(i));
  lua_rawgeti(L, -1, 2);
  lua_rawseti(L, kParts, KeyPart(i));
  lua_pushliteral(L, "send");
  lua_rawget(L, -2);
  const bool sends = !lua_isnil(L, -1);
  lua_rawseti(L, kParts, ValuesPart(i));
  if (!sends) CheckNoFields(L, i);
}

// The handle, key and values of a case stand on the top.
constexpr int kHandle = -3;
constexpr int kKey = -2;
constexpr int kValues = -1;

SelectCase* MakeChannelCase(lua_State* L, std::size_t i, Channel& channel, Case& to) {
  KeyName key = KeyName::Boolean(false);
  if (!ToKey(L, kKey, &key)) {
    const char* type = lua_isnil(L, kKey) ? "no value" : luaL_typename(L, kKey);
    RaiseInCase(L, i, lua_pushfstring(L, "%s, got %s", kKeyKinds, type));
  }
  if (lua_isnil(L, kValues)) return Make<core::ReceiveCase>(to, CaseKind::kReceive, channel, key);
  if (lua_type(L, kValues) != LUA_TTABLE) {
    RaiseInCase(L, i,
                lua_pushfstring(L, "send: a list of values expected, got %s", PushTypeOfTop(L)));
  }
  return Make<core::SendCase>(to, CaseKind::kSend, channel, key);
}

SelectCase* MakeEndCase(lua_State* L, std::size_t i, Process* process, Task* task, core::Call* call,
                        Case& to) {
  if (!lua_isnil(L, kKey) || !lua_isnil(L, kValues)) {
    RaiseInCase(L, i, "only a channel has keys, and can be sent to");
  }
  if (process == &Process::Of(L)) RaiseInCase(L, i, "a process cannot join itself");
  if (task == &Process::Of(L).current_task()) RaiseInCase(L, i, "a task cannot join itself");
  if (task != nullptr) return Make<Case::TaskCase>(to, CaseKind::kTask, *task);
  if (call != nullptr) return Make<Case::ProcessCase>(to, CaseKind::kCall, call->exit());
  return Make<Case::ProcessCase>(to, CaseKind::kProcess, process->exit());
}

SelectCase* MakeSocketCase(lua_State* L, std::size_t i, Socket& socket, Case& to) {
  const char* const word = lua_type(L, kKey) == LUA_TSTRING ? lua_tostring(L, kKey) : "";
  const bool reads = std::strcmp(word, "read") == 0;
  if (!reads && std::strcmp(word, "write") != 0) {
    RaiseInCase(L, i, "a socket is waited for with \"read\" or \"write\"");
  }
  if (!lua_isnil(L, kValues)) RaiseInCase(L, i, "only a channel can be sent to");
  if (socket.parcel != nullptr) TakeBackSocket(L, socket);
  SetFinalizer(L);
  core::Descriptor* descriptor = nullptr;
  if (socket.fd != kNoDescriptor) {
    descriptor = DescriptorOf(L, socket);
    if (descriptor == nullptr) RaiseInCase(L, i, SocketError(errno));
    descriptor->AddRef();
  }
  return Make<SocketCase>(to, CaseKind::kSocket, socket, descriptor,
                          reads ? Direction::kRead : Direction::kWrite);
}

SelectCase* MakeCase(lua_State* L, std::size_t i, Case& to) {
  RefCounted* object = ToReference(L, kHandle);
  if (object != nullptr && object->kind() == RefCounted::Kind::kChannel) {
    return MakeChannelCase(L, i, static_cast<Channel&>(*object), to);
  }
  Process* const process = object != nullptr && object->kind() == RefCounted::Kind::kProcess
                               ? static_cast<Process*>(object)
                               : nullptr;
  Task* const task = ToTask(L, kHandle);
  core::Call* const call = ToCall(L, kHandle);
  if (process != nullptr || task != nullptr || call != nullptr) {
    return MakeEndCase(L, i, process, task, call, to);
  }
  Socket* const socket = ToSocket(L, kHandle);
  if (socket != nullptr) return MakeSocketCase(L, i, *socket, to);
  lua_pop(L, 2);
  const char* const type = PushTypeOfTop(L);
  RaiseInCase(
      L, i,
      lua_pushfstring(L, "a channel, process, task, future or socket expected, got %s", type));
  return nullptr;
}

// --- What is to be sent.

// Called with the list of values, and where the message goes.
int EncodeValues(lua_State* L) {
  auto& messages = *static_cast<MessageList*>(lua_touserdata(L, 2));
  lua_settop(L, 1);
  lua_pushliteral(L, "n");
  lua_rawget(L, 1);
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, 1));
  const lua_Integer count = lua_isinteger(L, -1) != 0 ? lua_tointeger(L, -1) : length;
  lua_settop(L, 1);
  luaL_checkstack(L, count > 0 && count < INT_MAX ? static_cast<int>(count) : 0, "too many values");
  if (count >= INT_MAX) return luaL_error(L, "too many values");
  for (lua_Integer i = 1; i <= count; ++i) lua_rawgeti(L, 1, i);
  if (count <= 0) return luaL_error(L, "a message needs at least one value");
  if (lua_isnil(L, 2)) return luaL_error(L, "the first value of a message must not be nil");
  messages.PushBack(MessagePtr(core::Encode(L, 2, static_cast<int>(count))));
  return 0;
}

// --- Reports.

void DescribeCase(lua_State* L, std::size_t i, std::string& text) {
  Case& of = CasesOf(L).cases[i];
  const CaseKind kind = of.kind;
  lua_rawgeti(L, kParts, HandlePart(i));
  RefCounted* object = ToReference(L, -1);
  if (kind == CaseKind::kTask) {
    text += "join of a task";
  } else if (kind == CaseKind::kCall) {
    text += "join of a call";
  } else if (kind == CaseKind::kSocket) {
    SocketCaseOf(of).Describe(text);
  } else if (kind == CaseKind::kProcess) {
    text += "join";
    AppendProcess(static_cast<Process&>(*object), text);
  } else {
    text += kind == CaseKind::kSend ? "send" : "receive";
    AppendChannel(static_cast<Channel&>(*object), text);
    text += ", key ";
    lua_rawgeti(L, kParts, KeyPart(i));
    AppendKey(L, -1, text);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

}  // namespace

void MakeCases(lua_State* L, std::size_t count) {
  lua_createtable(L, static_cast<int>(count * kPartsOfCase), 0);
  lua_insert(L, kParts);
  Cases& cases = PushCases(L, count);
  lua_insert(L, kCases);
  constexpr int kList = 3;
  for (std::size_t i = 0; i < count; ++i) {
    lua_rawgeti(L, kList, static_cast<lua_Integer>(i) + 1);
    CopyParts(L, i);
    lua_settop(L, kList);
    lua_rawgeti(L, kParts, HandlePart(i));
    lua_rawgeti(L, kParts, KeyPart(i));
    lua_rawgeti(L, kParts, ValuesPart(i));
    cases.pointers[i] = MakeCase(L, i, cases.cases[i]);
    lua_settop(L, kList);
  }
  lua_settop(L, kCases);
}

MessageList& PushMessages(lua_State* L) {
  const Cases& cases = CasesOf(L);
  MessageList& messages = PushMessageBox(L);
  for (std::size_t i = 0; i < cases.count; ++i) {
    if (cases.cases[i].kind != CaseKind::kSend) continue;
    lua_pushcfunction(L, EncodeValues);
    lua_rawgeti(L, kParts, ValuesPart(i));
    lua_pushlightuserdata(L, &messages);
    if (lua_pcall(L, 2, 0, 0) == LUA_OK) continue;
    if (lua_type(L, -1) != LUA_TSTRING) lua_error(L);
    RaiseInCase(L, i, lua_tostring(L, -1));
  }
  return messages;
}

void DescribeCases(lua_State* L, std::string& text) {
  constexpr std::size_t kMost = 8;
  const std::size_t count = CasesOf(L).count;
  for (std::size_t i = 0; i < count && i < kMost; ++i) {
    text += i == 0 ? " (" : "; ";
    DescribeCase(L, i, text);
  }
  if (count > kMost) text += "; …";
  if (count > 0) text += ")";
}

}  // namespace shoal::bindings
