// SPDX-License-Identifier: MIT
// send, send_for, send_batch.
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/message_box.h"
#include "runtime/lua/codec.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::Duration;
using core::KeyName;
using core::MessageList;
using core::MessagePtr;
using core::Status;
using core::Task;
using core::WaitReason;

namespace {

constexpr int kChannel = 1;

void DescribeSend(lua_State* L, int key, std::string& text) {
  auto* channel = static_cast<Channel*>(ToReference(L, kChannel));
  if (channel == nullptr) return;
  AppendChannel(*channel, text);
  text += ", key ";
  AppendKey(L, key, text);
}
void DescribeKey2(lua_State* L, std::string& text) { DescribeSend(L, 2, text); }
void DescribeKey3(lua_State* L, std::string& text) { DescribeSend(L, 3, text); }

// The outbox of the task could not be sent because of `status`: publishes the wait for room, if
// that is why and it may wait; else empties it. No Lua call in here raises.
// kOk, kClosed, kFull (only if it must not wait), kPending.
Status WaitForRoom(lua_State* L, Channel& channel, const KeyName& key, int key_index,
                   Duration timeout, Status status) {
  Task& task = core::Process::Of(L).current_task();
  if (status == Status::kFull && timeout != Duration::zero()) {
    core::BeginWait(L, WaitReason::kSend, key_index == 2 ? DescribeKey2 : DescribeKey3);
    status = channel.SendOrWait(key, task.outbox(), task.Nodes(1)[0]);
    if (status == Status::kPending) return status;
    core::DropWait(L);
  }
  task.outbox().Clear();
  return status;
}

int Report(lua_State* L, Status status, std::uint64_t messages) {
  if (status != Status::kOk) {
    return PushOutcome(L, status == Status::kFull ? Status::kTimeout : status);
  }
  core::Process::Of(L).CountSent(messages);
  lua_pushboolean(L, 1);
  return 1;
}

// After a wait: the outcome, with the outbox empty and no reservation left. kPending: it had to
// wait again, because what there was room for has become something else.
Status Settle(lua_State* L, int key_index) {
  Task& task = core::Process::Of(L).current_task();
  Channel& channel = CheckChannel(L, kChannel);
  const Status status = core::TakeOutcome(L);
  if (status == Status::kFull) {
    // The memory for queues has room now.
    MessageList messages = std::move(task.nodes()[0].messages);
    core::BeginWait(L, WaitReason::kSend, key_index == 2 ? DescribeKey2 : DescribeKey3);
    const Status again = channel.SendOrWait(CheckKey(L, key_index), messages, task.Nodes(1)[0]);
    if (again == Status::kPending) return again;
    core::DropWait(L);
    return again;
  }
  if (status != Status::kOk) {
    channel.AbandonSend(task.nodes()[0]);
    task.nodes()[0].messages.Clear();
  }
  return status;
}

// While the send waits, how many messages it has stands on the stack, and on the top the deadline,
// in nanoseconds of the clock.
int SendDone(lua_State* L, int, lua_KContext key_index) {
  const Status status = Settle(L, static_cast<int>(key_index));
  if (status == Status::kPending) {
    core::ArmDeadline(L, core::TimePoint(Duration(lua_tointeger(L, -1))));
    return core::Suspend(L, key_index, SendDone);
  }
  core::RaiseOutcome(L, status);
  return Report(L, status, static_cast<std::uint64_t>(lua_tointeger(L, -2)));
}

[[gnu::noinline]] int FinishSend(lua_State* L, Channel& channel, const KeyName& key, int key_index,
                                 Duration timeout, Status first_try, std::uint64_t messages) {
  const Status status = WaitForRoom(L, channel, key, key_index, timeout, first_try);
  if (status != Status::kPending) return Report(L, status, messages);
  const core::TimePoint deadline = DeadlineFor(L, timeout);
  core::ArmDeadline(L, deadline);
  lua_settop(L, key_index);
  lua_pushinteger(L, static_cast<lua_Integer>(messages));
  lua_pushinteger(L, deadline.time_since_epoch().count());
  return core::Suspend(L, key_index, SendDone);
}

// As the other one, for a key that has been looked at.
int SendOutbox(lua_State* L, Channel& channel, const KeyName& key, int key_index,
               Duration timeout) {
  core::MessageList& outbox = core::Process::Of(L).current_task().outbox();
  const std::uint64_t messages = outbox.count();
  const Status status = channel.Send(key, outbox);
  if (status != Status::kOk)
    return FinishSend(L, channel, key, key_index, timeout, status, messages);
  return Report(L, status, messages);
}

int SendAgain(lua_State* L, int, lua_KContext) { return Send(L); }
int SendForAgain(lua_State* L, int, lua_KContext) { return SendFor(L); }
int SendBatchAgain(lua_State* L, int, lua_KContext) { return SendBatch(L); }

// Encodes the values from `first` on as the message of the outbox.
void EncodeOne(lua_State* L, int first) {
  core::Message* message = core::Encode(L, first, lua_gettop(L) - first + 1);
  core::Process::Of(L).current_task().outbox().PushBack(MessagePtr(message));
}

}  // namespace

int SendOutbox(lua_State* L, Channel& channel, int key_index, Duration timeout) {
  return SendOutbox(L, channel, CheckKey(L, key_index), key_index, timeout);
}

int Send(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, 2, "; a send with a timeout is send_for");
  CheckFirstValue(L, 3);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SendAgain);
  EncodeOne(L, 3);
  return SendOutbox(L, channel, key, 2, kForever);
}

int SendFor(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const Duration timeout = CheckTimeout(L, 2);
  const KeyName key = CheckKey(L, 3);
  CheckFirstValue(L, 4);
  if (core::BeforeWait(L)) return core::YieldTurn(L, SendForAgain);
  EncodeOne(L, 4);
  return SendOutbox(L, channel, key, 3, timeout);
}

namespace {

// What EncodeList fills and counts. (Not the outbox: a `__transfer` in the list may itself send.)
struct Batch {
  MessageList* messages;
  lua_Integer position;
};

// Called with the list and a Batch in a protected call, so that an error can name the element.
int EncodeList(lua_State* L) {
  auto& batch = *static_cast<Batch*>(lua_touserdata(L, 2));
  lua_settop(L, 1);
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, 1));
  for (batch.position = 1; batch.position <= count; ++batch.position) {
    lua_rawgeti(L, 1, batch.position);
    if (lua_isnil(L, -1)) return luaL_error(L, "nil cannot be sent");
    batch.messages->PushBack(MessagePtr(core::Encode(L, 2, 1)));
    lua_settop(L, 1);
  }
  return 0;
}

}  // namespace

int SendBatch(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  const Duration timeout = CheckTimeout(L, 4);
  const std::uint64_t limit = channel.Limit(key);
  const auto count = lua_rawlen(L, 3);
  if (limit == 0) luaL_argerror(L, 3, "a batch cannot be sent to a key with limit 0");
  if (count > limit) {
    luaL_argerror(
        L, 3,
        lua_pushfstring(L, "the list has %I elements, the limit of the key is %I",
                        static_cast<lua_Integer>(count), static_cast<lua_Integer>(limit)));
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, SendBatchAgain);
  if (count == 0) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_settop(L, 4);
  Batch batch{&PushMessageBox(L), 0};
  lua_pushcfunction(L, EncodeList);
  lua_pushvalue(L, 3);
  lua_pushlightuserdata(L, &batch);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
    if (lua_type(L, -1) != LUA_TSTRING) return lua_error(L);
    return luaL_error(L, "element %I of the list: %s", batch.position, lua_tostring(L, -1));
  }
  core::Process::Of(L).current_task().outbox() = std::move(*batch.messages);
  return SendOutbox(L, channel, key, 2, timeout);
}

}  // namespace shoal::bindings
