// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_wait.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "bindings/lua/socket_address.h"
#include "bindings/lua/socket_error.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Descriptor;
using core::Direction;
using core::Duration;
using core::Process;
using core::Ref;
using core::Status;
using core::Task;
using core::TimePoint;
using core::WaitReason;

namespace {

Direction DirectionOf(WaitReason reason) {
  return reason == WaitReason::kReadable || reason == WaitReason::kAccept ? Direction::kRead
                                                                          : Direction::kWrite;
}

// " on tcp{client} 127.0.0.1:80".
void Describe(lua_State* L, std::string& text) {
  const Socket* const socket = ToSocket(L, 1);
  if (socket == nullptr) return;
  text += " on ";
  text += socket->kind->name;
  AppendAddress(*socket, text);
}

int NoResults(lua_State*, int, lua_KContext) { return 0; }
int SuspendOnly(lua_State* L) { return core::Suspend(L, 0, NoResults); }

// As core::Suspend, where Lua cannot yield: such a wait may be refused, and then the socket is free
// again.
int SuspendNested(lua_State* L, Socket& socket, Direction direction, lua_KContext context,
                  lua_KFunction k) {
  const int at = static_cast<int>(direction);
  luaL_checkstack(L, 4, nullptr);
  lua_pushcfunction(L, SuspendOnly);
  lua_pushvalue(L, 1);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return k(L, LUA_YIELD, context);
  socket.calls[at] = CallState::kNone;
  std::exchange(socket.awaited[at], nullptr)->Release();
  return lua_error(L);
}

}  // namespace

const char* BusyWord(Direction direction) {
  return direction == Direction::kRead ? "socket busy reading" : "socket busy writing";
}

void BeginCall(lua_State* L, Socket& socket, Direction direction) {
  // Who never waits, or for ever, need not look at the clock.
  if (!MayWait(socket) || (!(socket.block >= 0) && !(socket.total >= 0))) return;
  socket.start[static_cast<int>(direction)] = Process::Of(L).machine().clock.Now();
}

TimePoint CallDeadline(lua_State* L, const Socket& socket, Direction direction) {
  const TimePoint start = socket.start[static_cast<int>(direction)];
  const bool has_total = socket.total >= 0;
  const TimePoint end =
      has_total ? core::DeadlineAfter(start, ToDuration(socket.total)) : core::kNever;
  if (!(socket.block >= 0)) return end;
  // With both, the one is for each wait, and the other for the call.
  const TimePoint from = has_total ? Process::Of(L).machine().clock.Now() : start;
  return std::min(end, core::DeadlineAfter(from, ToDuration(socket.block)));
}

Descriptor* DescriptorOf(lua_State* L, Socket& socket) {
  if (socket.descriptor == nullptr) {
    Ref<Descriptor> made = core::NewDescriptor(L, socket.fd);
    if (!made) return nullptr;
    made->AddRef();
    socket.descriptor = made.get();
  }
  return socket.descriptor;
}

int WaitForSocket(lua_State* L, Socket& socket, WaitReason reason, lua_KContext context,
                  lua_KFunction k) {
  const Direction direction = DirectionOf(reason);
  const int at = static_cast<int>(direction);
  // 1 What to wait for.
  Descriptor* const descriptor = DescriptorOf(L, socket);
  if (descriptor == nullptr) return PushSocketError(L, SocketError(errno));
  // 2 The wait. It keeps the descriptor, whatever becomes of the socket meanwhile.
  Task& task = core::BeginWait(L, reason, Describe);
  core::WaitNode& node = task.Nodes(1)[0];
  const Status status = descriptor->Await(node, direction);
  if (status == Status::kPending) {
    descriptor->AddRef();
    socket.awaited[at] = descriptor;
    socket.calls[at] = CallState::kWaits;
    core::ArmDeadline(L, CallDeadline(L, socket, direction));
    if (core::CanSuspend(L, core::RecordOf(L))) return core::Suspend(L, context, k);
    return SuspendNested(L, socket, direction, context, k);
  }
  core::DropWait(L);
  switch (status) {
    case Status::kOk:
    case Status::kClosed:
      // It has become ready since it was tried.
      socket.calls[at] = CallState::kYields;
      return k(L, LUA_YIELD, context);
    default:
      return luaL_error(L, "not enough memory");
  }
}

int YieldInCall(lua_State* L, Socket& socket, Direction direction, lua_KContext context,
                lua_KFunction k) {
  socket.calls[static_cast<int>(direction)] = CallState::kYields;
  return core::YieldTurn(L, context, k);
}

Status EndSocketWait(lua_State* L, Socket& socket, Direction direction) {
  const int at = static_cast<int>(direction);
  if (std::exchange(socket.calls[at], CallState::kNone) == CallState::kYields) return Status::kOk;
  const Status status = core::TakeOutcome(L);
  std::exchange(socket.awaited[at], nullptr)->Release();
  core::RaiseOutcome(L, status);
  return status;
}

void DropDescriptor(Socket& socket, Fate fate) {
  Descriptor* const descriptor = std::exchange(socket.descriptor, nullptr);
  if (fate == Fate::kClose) {
    descriptor->Close();
  } else {
    static_cast<void>(descriptor->Detach());
  }
  descriptor->Release();
}

}  // namespace shoal::bindings
