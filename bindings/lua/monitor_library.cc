// SPDX-License-Identifier: MIT
#include "bindings/lua/monitor_library.h"

#include <new>

#include "bindings/lua/arguments.h"
#include "bindings/lua/handles.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/process/monitor.h"

namespace shoal::bindings {

using core::Channel;
using core::KeyName;
using core::MessageList;
using core::Monitor;
using core::Process;
using core::Ref;
using core::Status;
using core::Task;

namespace {

constexpr char kType[] = "shoal.monitor";
// Under which members of groups are reported.
KeyName MemberKey() { return KeyName::Integer(1); }

// What the handle of a monitor holds, as a userdata.
struct Handle {
  Ref<Process> process;
  Ref<Monitor> monitor;
};

int Collect(lua_State* L) {
  static_cast<Handle*>(luaL_checkudata(L, 1, kType))->~Handle();
  return 0;
}

// cancel() → true, or false if the message has been sent. Also __close.
int Cancel(lua_State* L) {
  auto* handle = static_cast<Handle*>(luaL_checkudata(L, 1, kType));
  const bool taken_back =
      handle->monitor && handle->process->exit().Unwatch(*handle->monitor.get());
  lua_pushboolean(L, taken_back ? 1 : 0);
  return 1;
}

// [-0, +1, m]
Handle& PushMonitor(lua_State* L) {
  auto* handle = new (lua_newuserdatauv(L, sizeof(Handle), 0)) Handle();
  if (luaL_newmetatable(L, kType) != 0) {
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, Cancel);
    lua_setfield(L, -2, "cancel");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, Cancel);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, Collect);
    lua_setfield(L, -2, "__gc");
    lua_pushliteral(L, "monitor");
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return *handle;
}

// False: memory is short. Raises nothing.
bool Watch(Handle& handle, Process& process, Channel& channel, const KeyName& key) {
  handle.process = Ref<Process>::Share(&process);
  handle.monitor = Ref<Monitor>::Adopt(
      core::TryNew<Monitor>(channel, key, process.id(), Monitor::Form::kNotice));
  if (!handle.monitor) return false;
  if (process.exit().Watch(*handle.monitor) == Status::kOk) process.MarkJoined();
  return true;
}

// The same for a member of a group, which is a process unless `task` is set.
bool WatchNumber(Process* process, Task* task, Channel& channel, std::uint64_t number) {
  const auto monitor = Ref<Monitor>::Adopt(
      core::TryNew<Monitor>(channel, MemberKey(), number, Monitor::Form::kNumber));
  if (!monitor) return false;
  if (task != nullptr) {
    static_cast<void>(task->Watch(*monitor));
  } else if (process->exit().Watch(*monitor) == Status::kOk) {
    process->MarkJoined();
  }
  return true;
}

void TakeInto(Channel& channel, MessageList& messages) {
  static_cast<void>(channel.Receive(MemberKey(), 1, 1, &messages));
}

}  // namespace

int MonitorProcess(lua_State* L) {
  Process& process = CheckProcess(L, 1);
  Channel& channel = CheckChannel(L, 2);
  static_cast<void>(CheckKey(L, 3));
  lua_settop(L, 3);
  Handle& handle = PushMonitor(L);
  if (!Watch(handle, process, channel, CheckKey(L, 3))) return luaL_error(L, "not enough memory");
  return 1;
}

int WatchMember(lua_State* L) {
  const auto* process = static_cast<Process*>(ToReference(L, 1));
  Task* task = process == nullptr ? &CheckTask(L, 1) : nullptr;
  const auto number = static_cast<std::uint64_t>(luaL_checkinteger(L, 3));
  if (!WatchNumber(task == nullptr ? &CheckProcess(L, 1) : nullptr, task, CheckChannel(L, 2),
                   number)) {
    return luaL_error(L, "not enough memory");
  }
  return 0;
}

int TakeMember(lua_State* L) {
  Channel& channel = CheckChannel(L, 1);
  MessageList& messages = Process::Of(L).current_task().outbox();
  TakeInto(channel, messages);
  if (messages.empty()) return 0;
  // One integer: it cannot raise.
  core::Decode(L, *messages.front());
  messages.Clear();
  return 1;
}

}  // namespace shoal::bindings
