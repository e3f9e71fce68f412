// SPDX-License-Identifier: MIT
#include "bindings/lua/handles.h"

#include <cstring>
#include <initializer_list>
#include <utility>

#include "runtime/lua/state_record.h"
#include "runtime/lua/weak_table.h"

namespace shoal::bindings {

using core::Channel;
using core::Process;
using core::RefCounted;
using core::Task;

namespace {

// The address names the registry's table object → handle. Its values are weak.
const char kHandlesKey = 0;

struct Handle {
  // The first word of a userdata tells whether it is a handle. Looking up a metatable by its name,
  // as luaL_checkudata does, costs more than all else in a short call.
  const HandleKind* kind;
  RefCounted* object;  // one reference, until __gc
  int index_calls;     // how often Index has been called for it
};

// A handle that has been indexed so often gets a metatable of its own, in which `__index` is a
// table: a method call then costs no call of Index. Handles that come and go would not earn it
// back.
constexpr int kOftenIndexed = 32;

// The userdata at `index` if it is as large as a handle, else nullptr.
inline Handle* ToHandleSized(lua_State* L, int index) {
  if (lua_rawlen(L, index) != sizeof(Handle)) return nullptr;
  return static_cast<Handle*>(lua_touserdata(L, index));
}

// The handle at `index` if it is one, else nullptr.
Handle* ToHandle(lua_State* L, int index) {
  Handle* const handle = ToHandleSized(L, index);
  if (handle == nullptr) return nullptr;
  const HandleKind* kind = handle->kind;
  const bool known = kind == &kChannelKind || kind == &kProcessKind || kind == &kTaskKind ||
                     kind == &kPoolKind || kind == &kFutureKind;
  return known ? handle : nullptr;
}

// [-0, +1, m]
void PushHandles(lua_State* L) { core::PushWeakTable(L, &kHandlesKey, "v"); }

// A handle that is garbage has been taken out of the weak table; if it stands there, the state is
// being closed, and so what waits for the object is not kept by its stack any more. A process'
// tasks have ended by then, a host's have not. [-0, +0, -]
void NoteCollection(lua_State* L, RefCounted* object) {
  if (lua_checkstack(L, 2) == 0) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kHandlesKey);
  if (lua_rawgetp(L, -1, object) != LUA_TNIL) Process::Of(L).DropTasks();
  lua_pop(L, 2);
}

int Collect(lua_State* L) {
  auto* handle = static_cast<Handle*>(lua_touserdata(L, 1));
  RefCounted* const object = std::exchange(handle->object, nullptr);
  core::StateRecord& record = core::RecordOf(L);
  // In a child that was forked, locks may be held by threads that are not there.
  if (object == nullptr || record.host == nullptr) return 0;
  if (core::IsHostState()) NoteCollection(L, object);
  --record.handles;
  object->Release();
  return 0;
}

constexpr int kMethods = lua_upvalueindex(1);
constexpr int kField = lua_upvalueindex(2);

// Replaces the table on top by a copy. What is in demand is put in first, as long as there is room
// for all: so it stands where it is looked for first, and nothing that it collides with does.
// [-1, +1, m]
void CopyTable(lua_State* L, std::initializer_list<const char*> in_demand) {
  lua_createtable(L, 0, 32);
  for (const char* name : in_demand) {
    lua_pushstring(L, name);
    lua_pushvalue(L, -1);
    lua_rawget(L, -4);
    lua_rawset(L, -3);
  }
  lua_pushnil(L);
  while (lua_next(L, -3) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_remove(L, -2);
}

// Sets result.name to the field of that name of the handle at index 1, for the table on top.
// [-0, +0, m]
void CopyField(lua_State* L, lua_CFunction field, const char* name) {
  lua_pushcfunction(L, field);
  lua_pushvalue(L, 1);
  lua_pushstring(L, name);
  lua_call(L, 2, 1);
  lua_setfield(L, -2, name);
}

// Gives the handle at index 1 a copy of its metatable, with a table of its methods and fields as
// `__index`. [-0, +0, m]
void GiveMetatable(lua_State* L, lua_CFunction field) {
  lua_getmetatable(L, 1);
  CopyTable(L, {"__index"});
  lua_pushvalue(L, kMethods);
  CopyTable(L, {"send", "receive"});
  CopyField(L, field, "id");
  CopyField(L, field, "name");
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, 1);
}

int Index(lua_State* L) {
  auto* handle = static_cast<Handle*>(lua_touserdata(L, 1));
  const lua_CFunction field = lua_tocfunction(L, kField);
  if (field != nullptr && ++handle->index_calls == kOftenIndexed) GiveMetatable(L, field);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, kMethods) != LUA_TNIL) return 1;
  lua_settop(L, 2);
  return field == nullptr ? 0 : field(L);
}

RefCounted* CheckObject(lua_State* L, int arg, const HandleKind& kind) {
  const Handle* handle = ToHandleSized(L, arg);
  if (handle == nullptr || handle->kind != &kind) luaL_checkudata(L, arg, kind.type);
  luaL_argcheck(L, handle->object != nullptr, arg, "the handle has been collected");
  return handle->object;
}

// [-0, +1, m]
void PushMetatable(lua_State* L, const HandleKind& kind) {
  if (luaL_newmetatable(L, kind.type) == 0) return;
  lua_pushstring(L, kind.short_name);
  lua_setfield(L, -2, "__shoal");
  lua_newtable(L);
  luaL_setfuncs(L, kind.methods, 0);
  lua_pushcfunction(L, kind.field);
  lua_pushcclosure(L, Index, 2);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, Collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, kind.to_string);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, kind.close);
  lua_setfield(L, -2, "__close");
  lua_pushstring(L, kind.short_name);
  lua_setfield(L, -2, "__metatable");
}

// [-0, +1, m]: the handle of `object`, an old one if there is one.
void PushHandle(lua_State* L, RefCounted* object, const HandleKind& kind) {
  PushHandles(L);
  lua_rawgetp(L, -1, object);
  // While the state of a host is being closed, handles stand here that have been collected, and
  // their objects' addresses may be those of others.
  const auto* const known = static_cast<const Handle*>(lua_touserdata(L, -1));
  if (known == nullptr || known->object != object) {
    lua_pop(L, 1);
    core::StateRecord& record = core::RecordOf(L);
    if (record.is_closing) luaL_error(L, "no handle can be made: the process has ended");
    auto* handle = static_cast<Handle*>(lua_newuserdatauv(L, sizeof(Handle), 1));
    handle->kind = &kind;
    handle->object = nullptr;
    handle->index_calls = 0;
    PushMetatable(L, kind);
    lua_setmetatable(L, -2);
    object->AddRef();
    handle->object = object;
    ++record.handles;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, object);
  }
  lua_remove(L, -2);
}

// Calls `push` with the object in protected mode, so that the reference is given up in any case.
void PushAndRelease(lua_State* L, lua_CFunction push, RefCounted* object) {
  lua_pushcfunction(L, push);
  lua_pushlightuserdata(L, object);
  const int status = lua_pcall(L, 1, 1, 0);
  object->Release();
  if (status != LUA_OK) lua_error(L);
}

int PushReferenceAt1(lua_State* L) {
  PushReference(L, static_cast<RefCounted*>(lua_touserdata(L, 1)));
  return 1;
}

int PushFutureAt1(lua_State* L) {
  PushHandle(L, static_cast<RefCounted*>(lua_touserdata(L, 1)), kFutureKind);
  return 1;
}

int PushTaskAt1(lua_State* L) {
  PushTask(L, *static_cast<Task*>(static_cast<RefCounted*>(lua_touserdata(L, 1))));
  return 1;
}

}  // namespace

RefCounted* ToReference(lua_State* L, int index) {
  const Handle* handle = ToHandle(L, index);
  if (handle == nullptr || handle->kind == &kTaskKind || handle->kind == &kFutureKind) {
    return nullptr;
  }
  return handle->object;
}

Task* ToTask(lua_State* L, int index) {
  const Handle* handle = ToHandle(L, index);
  if (handle == nullptr || handle->kind != &kTaskKind) return nullptr;
  return static_cast<Task*>(handle->object);
}

core::Call* ToCall(lua_State* L, int index) {
  const Handle* handle = ToHandle(L, index);
  if (handle == nullptr || handle->kind != &kFutureKind) return nullptr;
  return static_cast<core::Call*>(handle->object);
}

void PushReference(lua_State* L, RefCounted* object) {
  switch (object->kind()) {
    case RefCounted::Kind::kChannel:
      return PushHandle(L, object, kChannelKind);
    case RefCounted::Kind::kPool:
      return PushHandle(L, object, kPoolKind);
    default:
      return PushHandle(L, object, kProcessKind);
  }
}

void PushNewReference(lua_State* L, RefCounted* object) {
  PushAndRelease(L, PushReferenceAt1, object);
}

void PushNewFuture(lua_State* L, core::Call* call) { PushAndRelease(L, PushFutureAt1, call); }

void PushNewTask(lua_State* L, Task* task) { PushAndRelease(L, PushTaskAt1, task); }

void PushTask(lua_State* L, Task& task) {
  PushHandle(L, &task, kTaskKind);
  // The results stand on the coroutine's stack: the handle keeps it.
  if (lua_getiuservalue(L, -1, 1) == LUA_TNIL) {
    lua_pushthread(task.thread());
    lua_xmove(task.thread(), L, 1);
    lua_setiuservalue(L, -3, 1);
  }
  lua_pop(L, 1);
}

Channel& CheckChannel(lua_State* L, int arg) {
  return *static_cast<Channel*>(CheckObject(L, arg, kChannelKind));
}

Process& CheckProcess(lua_State* L, int arg) {
  return *static_cast<Process*>(CheckObject(L, arg, kProcessKind));
}

Task& CheckTask(lua_State* L, int arg) {
  return *static_cast<Task*>(CheckObject(L, arg, kTaskKind));
}

core::Call& CheckFuture(lua_State* L, int arg) {
  return *static_cast<core::Call*>(CheckObject(L, arg, kFutureKind));
}

RefCounted& CheckPoolObject(lua_State* L, int arg) { return *CheckObject(L, arg, kPoolKind); }

int Type(lua_State* L) {
  luaL_checkany(L, 1);
  if (lua_type(L, 1) == LUA_TUSERDATA && luaL_getmetafield(L, 1, "__shoal") == LUA_TSTRING) {
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, luaL_typename(L, 1));
  return 2;
}

}  // namespace shoal::bindings
