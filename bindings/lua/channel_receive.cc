// SPDX-License-Identifier: MIT
// receive, receive_any, receive_batch, each.
#include <new>

#include "bindings/lua/arguments.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/handles.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::Duration;
using core::KeyName;
using core::Status;
using core::Task;
using core::WaitReason;

namespace {

// How the arguments of a receiving call look.
constexpr int kChannel = 1;
constexpr int kKey = 2;
constexpr int kAnyTimeout = 3;
constexpr int kBatchMax = 3;
constexpr int kBatchTimeout = 4;
constexpr int kBatchForm = 5;

void DescribeChannel(lua_State* L, std::string& text) {
  auto* channel = static_cast<Channel*>(ToReference(L, kChannel));
  if (channel != nullptr) AppendChannel(*channel, text);
}

void DescribeKey(lua_State* L, std::string& text) {
  DescribeChannel(L, text);
  text += ", key ";
  AppendKey(L, kKey, text);
}

void DescribeKeys(lua_State* L, std::string& text) {
  DescribeChannel(L, text);
  text += ", keys";
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, kKey));
  for (lua_Integer i = 1; i <= count && i <= 8; ++i) {
    text += i == 1 ? " " : ", ";
    lua_rawgeti(L, kKey, i);
    AppendKey(L, -1, text);
    lua_pop(L, 1);
  }
  if (count > 8) text += ", …";
}

// --- receive(key [, timeout])

int ReceiveDone(lua_State* L, int, lua_KContext) {
  const Status status = core::EndWait(L);
  return status == Status::kOk ? Deliver(L, Form::kValues, kKey) : PushOutcome(L, status);
}

int ReceiveAgain(lua_State* L, int, lua_KContext) { return Receive(L); }

// Takes up to `max` messages of one key into the task's waiter, or publishes a wait for them, which
// a timeout of zero does not. kOk, kTimeout, kClosed, kPending.
Status TakeOrWait(lua_State* L, Channel& channel, const KeyName& key, std::uint32_t max,
                  Duration timeout) {
  Task& task = core::Process::Of(L).current_task();
  if (timeout == Duration::zero()) {
    const Status status = channel.Receive(key, 1, max, &task.messages());
    return status == Status::kEmpty ? Status::kTimeout : status;
  }
  core::BeginWait(L, WaitReason::kReceive, DescribeKey);
  core::WaitNode& node = task.Nodes(1)[0];
  node.max = max;
  const Status status = channel.ReceiveOrWait(key, node, task, &task.messages());
  if (status == Status::kPending) {
    core::ArmDeadline(L, DeadlineFor(L, timeout));
  } else {
    core::DropWait(L);
  }
  return status;
}

}  // namespace

int Receive(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  const Duration timeout = CheckTimeout(L, kAnyTimeout);
  if (core::BeforeWait(L)) return core::YieldTurn(L, ReceiveAgain);
  const Status status = TakeOrWait(L, channel, key, 1, timeout);
  if (status == Status::kPending) return core::Suspend(L, 0, ReceiveDone);
  return status == Status::kOk ? Deliver(L, Form::kValues, kKey) : PushOutcome(L, status);
}

// --- each(key)

namespace {

int EachNext(lua_State* L) {
  lua_settop(L, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, lua_upvalueindex(2));
  return Receive(L);
}

}  // namespace

int Each(lua_State* L) {
  CheckChannel(L, kChannel);
  CheckKey(L, kKey);
  lua_settop(L, kKey);
  lua_pushcclosure(L, EachNext, 2);
  return 1;
}

// --- receive_any({k1, k2, …} [, timeout])

namespace {

int DeliverFrom(lua_State* L, std::uint32_t index) {
  lua_rawgeti(L, kKey, static_cast<lua_Integer>(index) + 1);
  return Deliver(L, Form::kKeyed, 0);
}

int ReceiveAnyDone(lua_State* L, int, lua_KContext) {
  const Status status = core::EndWait(L);
  if (status != Status::kOk) return PushOutcome(L, status);
  return DeliverFrom(L, core::Process::Of(L).current_task().index());
}

int ReceiveAnyAgain(lua_State* L, int, lua_KContext) { return ReceiveAny(L); }

// Takes from the first of the keys that has a message.
int PollKeys(lua_State* L, Channel& channel, std::span<const KeyName> keys) {
  Task& task = core::Process::Of(L).current_task();
  // Closed keys are no reason to say so while another one is open.
  Status status = Status::kClosed;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const Status ready = channel.Receive(keys[i], 1, 1, &task.messages());
    if (ready == Status::kOk) return DeliverFrom(L, i);
    if (ready != Status::kClosed) status = Status::kTimeout;
  }
  return PushOutcome(L, status);
}

}  // namespace

int ReceiveAny(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  luaL_checktype(L, kKey, LUA_TTABLE);
  const Duration timeout = CheckTimeout(L, kAnyTimeout);
  const auto count = static_cast<std::size_t>(lua_rawlen(L, kKey));
  luaL_argcheck(L, count > 0, kKey, "the list of keys is empty");
  if (core::BeforeWait(L)) return core::YieldTurn(L, ReceiveAnyAgain);
  lua_settop(L, kAnyTimeout);
  // The names look at the strings in the list, which stays on the stack as long as they are used.
  auto* keys = static_cast<KeyName*>(lua_newuserdatauv(L, count * sizeof(KeyName), 0));
  for (std::size_t i = 0; i < count; ++i) {
    lua_rawgeti(L, kKey, static_cast<lua_Integer>(i) + 1);
    new (&keys[i]) KeyName(CheckKeyElement(L, kKey, static_cast<lua_Integer>(i) + 1));
    lua_pop(L, 1);
  }
  if (timeout == Duration::zero()) return PollKeys(L, channel, {keys, count});
  // A list of its own: the caller may change the given one while this waits.
  lua_createtable(L, static_cast<int>(count), 0);
  for (lua_Integer i = 1; i <= static_cast<lua_Integer>(count); ++i) {
    lua_rawgeti(L, kKey, i);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, kKey);
  Task& task = core::Process::Of(L).current_task();
  core::BeginWait(L, WaitReason::kReceive, DescribeKeys);
  const std::span<core::WaitNode> nodes = task.Nodes(count);
  if (nodes.empty()) {
    core::DropWait(L);
    return luaL_error(L, "not enough memory");
  }
  std::uint32_t index = 0;
  const Status status = channel.ReceiveOrWait({keys, count}, nodes, task, &task.messages(), &index);
  if (status == Status::kPending) {
    core::ArmDeadline(L, DeadlineFor(L, timeout));
    return core::Suspend(L, 0, ReceiveAnyDone);
  }
  core::DropWait(L);
  return status == Status::kOk ? DeliverFrom(L, index) : PushOutcome(L, status);
}

// --- receive_batch(key, max [, timeout [, "pack"]])

namespace {

int DeliverBatch(lua_State* L) {
  return Deliver(L, lua_isnoneornil(L, kBatchForm) ? Form::kFirsts : Form::kPacked, kKey);
}

int ReceiveBatchDone(lua_State* L, int, lua_KContext) {
  const Status status = core::EndWait(L);
  return status == Status::kOk ? DeliverBatch(L) : PushOutcome(L, status);
}

int ReceiveBatchAgain(lua_State* L, int, lua_KContext) { return ReceiveBatch(L); }

}  // namespace

int ReceiveBatch(lua_State* L) {
  Channel& channel = CheckChannel(L, kChannel);
  const KeyName key = CheckKey(L, kKey);
  const std::uint32_t max = CheckPositive(L, kBatchMax);
  const Duration timeout = CheckTimeout(L, kBatchTimeout);
  static const char* const kForms[] = {"pack", nullptr};
  if (!lua_isnoneornil(L, kBatchForm)) luaL_checkoption(L, kBatchForm, nullptr, kForms);
  if (core::BeforeWait(L)) return core::YieldTurn(L, ReceiveBatchAgain);
  const Status status = TakeOrWait(L, channel, key, max, timeout);
  if (status == Status::kPending) return core::Suspend(L, 0, ReceiveBatchDone);
  return status == Status::kOk ? DeliverBatch(L) : PushOutcome(L, status);
}

}  // namespace shoal::bindings
