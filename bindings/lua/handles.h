// SPDX-License-Identifier: MIT
// Handles: full userdata that stand for channels, processes, tasks, pools and calls, one for each
// object and state, so that handles of one thing are equal, also as table keys.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"
#include "runtime/process/call.h"
#include "runtime/process/process.h"
#include "runtime/process/task.h"

namespace shoal::bindings {

// What the handles of one kind can do; its address stands in each of them. The metatable is made
// when a state gets its first handle of the kind: most processes have few kinds.
struct HandleKind {
  const char* type;        // its name in the registry and in errors, "shoal.channel"
  const char* short_name;  // what shoal.type returns, "channel"
  const luaL_Reg* methods;
  lua_CFunction field;  // (handle, key) → `id`, `name`, which never change; may be nullptr
  lua_CFunction to_string;
  lua_CFunction close;
};
extern const HandleKind kChannelKind;  // channel_store.cc
extern const HandleKind kProcessKind;  // process_library.cc
extern const HandleKind kTaskKind;     // task_library.cc
extern const HandleKind kPoolKind;     // pool_library.cc
extern const HandleKind kFutureKind;   // call_library.cc

// The object of the handle at `index`, or nullptr if that is none. Channels, processes and pools
// only: what may travel. Not counted.
core::RefCounted* ToReference(lua_State* L, int index);
// The task of the handle at `index`, or nullptr.
core::Task* ToTask(lua_State* L, int index);
// The call of the future at `index`, or nullptr.
core::Call* ToCall(lua_State* L, int index);
// Pushes the handle of a channel, process or pool. [-0, +1, m]
void PushReference(lua_State* L, core::RefCounted* object);
// The same for an object of which the caller has a reference to give, whatever happens. [-0, +1, m]
void PushNewReference(lua_State* L, core::RefCounted* object);
// Pushes the handle of a task, which keeps its coroutine. [-0, +1, m]
void PushTask(lua_State* L, core::Task& task);
// … with a reference to give. [-0, +1, m]
void PushNewTask(lua_State* L, core::Task* task);
// Pushes the future of a call, with a reference to give. [-0, +1, m]
void PushNewFuture(lua_State* L, core::Call* call);

// The object of the handle that is argument `arg`; raises if it is none of that kind. [-0, +0, v]
core::Channel& CheckChannel(lua_State* L, int arg);
core::Process& CheckProcess(lua_State* L, int arg);
core::Task& CheckTask(lua_State* L, int arg);
core::Call& CheckFuture(lua_State* L, int arg);
// … of the pool, its object.
core::RefCounted& CheckPoolObject(lua_State* L, int arg);

// shoal.type(v): "channel", "process", "task", "pool", "future", "buffer", or nil and type(v)'s
// name. [-0, +1, -]
int Type(lua_State* L);

}  // namespace shoal::bindings
