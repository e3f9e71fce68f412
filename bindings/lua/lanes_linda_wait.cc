// SPDX-License-Identifier: MIT
// send, receive and receive_batched of lindas: the calls that wait. Each is a select among the keys
// of the call, and the places where a cancel is told.
#include <climits>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/lanes_core.h"
#include "bindings/lua/lanes_linda.h"
#include "runtime/channel/select_case.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::Duration;
using core::KeyName;
using core::MessageList;
using core::Process;
using core::ReceiveCase;
using core::SelectCase;
using core::SendCase;
using core::Status;
using core::Task;
using core::TimePoint;
using core::WaitReason;

namespace {

enum class Kind : std::uint8_t { kSend, kReceive, kBatched };

// A call that waits, in a userdata behind its arguments: the handle of the linda is at index 1.
struct Call {
  static constexpr std::size_t kCaseSize = std::max(sizeof(ReceiveCase), sizeof(SendCase));
  struct Case {
    alignas(void*) std::byte storage[kCaseSize];
  };

  Kind kind;
  int first_key;       // where on the stack the keys stand, one behind the other
  std::size_t keys;    // so many cases are for them …
  std::size_t count;   // … and the rest for cancels
  TimePoint deadline;  // kNever: none
  SelectCase** pointers;
  Case* cases;
  [[nodiscard]] std::span<SelectCase* const> all() const { return {pointers, count}; }
};

Call& CallAt(lua_State* L, int index) { return *static_cast<Call*>(lua_touserdata(L, index)); }

// The keys of the call, that of the linda's cancel, and that of the lane.
constexpr std::size_t kMostCancelCases = 2;

// [-0, +1, m]
Call& PushCall(lua_State* L, Kind kind, int first_key, std::size_t keys) {
  const std::size_t most = keys + kMostCancelCases;
  void* memory =
      lua_newuserdatauv(L, sizeof(Call) + most * (sizeof(SelectCase*) + sizeof(Call::Case)), 0);
  Call* call = new (memory) Call{};
  call->kind = kind;
  call->first_key = first_key;
  call->keys = keys;
  call->pointers = reinterpret_cast<SelectCase**>(call + 1);
  call->cases = reinterpret_cast<Call::Case*>(call->pointers + most);
  return *call;
}

template <class T, class... Arguments>
void AddCase(Call& call, Arguments&&... arguments) {
  static_assert(std::is_trivially_destructible_v<T>);
  const std::size_t i = call.count++;
  call.pointers[i] = new (call.cases[i].storage) T(std::forward<Arguments>(arguments)...);
}

void AddCancelCases(lua_State* L, Call& call, const Linda& linda) {
  AddCase<ReceiveCase>(
      call, linda.control(),
      linda.CancelKey(call.kind == Kind::kSend ? Linda::Wait::kWrite : Linda::Wait::kRead));
  Channel* const control = LaneControl(L);
  if (control != nullptr) AddCase<ReceiveCase>(call, *control, KeyName::String("wake"));
}

// A DescribeWait: " (receive on linda "jobs", key "a", key "b")". The call is on the stack's top.
void DescribeCall(lua_State* L, std::string& text) {
  constexpr std::size_t kMost = 8;
  const Linda* const linda = ToLinda(L, 1);
  if (linda == nullptr || lua_type(L, -1) != LUA_TUSERDATA) return;
  const Call& call = CallAt(L, -1);
  text += call.kind == Kind::kSend ? " (send on linda " : " (receive on linda ";
  text += linda->options().name.empty() ? std::to_string(linda->channel().id())
                                        : '"' + linda->options().name + '"';
  for (std::size_t i = 0; i < call.keys && i < kMost; ++i) {
    text += ", key ";
    AppendKey(L, call.first_key + static_cast<int>(i), text);
  }
  text += ")";
}

// [-0, +n, -]
int PushTimedOut(lua_State* L, const Linda& linda, Kind kind) {
  if (linda.is_v4()) return PushOutcome(L, Status::kTimeout);
  if (kind != Kind::kSend) return 0;
  lua_pushboolean(L, 0);
  return 1;
}

void ClearNodes(Task& task) {
  for (core::WaitNode& node : task.nodes()) node.messages.Clear();
}

// Case `index` has happened with `status`.
int Finish(lua_State* L, int call_index, std::uint32_t index, Status status) {
  ClearNodes(Process::Of(L).current_task());
  if (status == Status::kNoMemory) return luaL_error(L, "not enough memory");
  const Call& call = CallAt(L, call_index);
  Linda& linda = CheckLinda(L);
  // Closed: a cancel, or the end of the program.
  if (status != Status::kOk) return PushCancelError(L, linda);
  if (call.kind == Kind::kSend) {
    Process::Of(L).CountSent(1);
    lua_pushboolean(L, 1);
    return 1;
  }
  const int key = call.first_key + static_cast<int>(index);
  const Form form = call.kind == Kind::kBatched ? Form::kFlat : Form::kKeyed;
  lua_settop(L, call_index);
  // What cannot be decoded goes back into the channel.
  PushReference(L, &linda.channel());
  lua_replace(L, 1);
  lua_pushvalue(L, key);
  return Deliver(L, form, 0);
}

int CallDone(lua_State* L, int, lua_KContext call_index);

// The wait is open, and the messages stand in the nodes.
int FinishOrWait(lua_State* L, int call_index) {
  const Call& call = CallAt(L, call_index);
  Task& task = Process::Of(L).current_task();
  std::uint32_t index = 0;
  const Status status = core::SelectOrWait(call.all(), task.nodes(), task, &index);
  if (status != Status::kPending) {
    core::DropWait(L);
    return Finish(L, call_index, index, status);
  }
  core::ArmDeadline(L, call.deadline);
  return core::Suspend(L, call_index, CallDone);
}

WaitReason ReasonOf(const Call& call) {
  return call.kind == Kind::kSend ? WaitReason::kSend : WaitReason::kReceive;
}

int CallDone(lua_State* L, int, lua_KContext context) {
  const auto call_index = static_cast<int>(context);
  const Call& call = CallAt(L, call_index);
  Task& task = Process::Of(L).current_task();
  const Status outcome = core::TakeOutcome(L);
  if (outcome != Status::kOk && outcome != Status::kClosed && outcome != Status::kFull) {
    ClearNodes(task);
    core::RaiseOutcome(L, outcome);
    return PushTimedOut(L, CheckLinda(L), call.kind);
  }
  const std::uint32_t index = task.index();
  const Status status = call.pointers[index]->Completed(task.nodes()[index], outcome);
  if (status != Status::kEmpty) return Finish(L, call_index, index, status);
  // What there was room for has become something else.
  core::BeginWait(L, ReasonOf(call), DescribeCall);
  static_cast<void>(task.Nodes(call.count));
  return FinishOrWait(L, call_index);
}

// Does what can be done at once, or waits. `messages` are those of a send, else null. The call is
// on the stack's top.
int Run(lua_State* L, Call& call, MessageList* messages, Duration timeout) {
  const int call_index = lua_gettop(L);
  const Linda& linda = CheckLinda(L);
  // In this order: see Linda::CancelKey.
  AddCancelCases(L, call, linda);
  if (IsCancelled(L, linda)) return PushCancelError(L, linda);
  call.deadline = DeadlineFor(L, timeout);
  Task& task = core::BeginWait(L, ReasonOf(call), DescribeCall);
  const std::span<core::WaitNode> nodes = task.Nodes(call.count);
  if (nodes.empty()) {
    core::DropWait(L);
    return luaL_error(L, "not enough memory");
  }
  if (messages != nullptr) nodes[0].messages = std::move(*messages);
  std::uint32_t index = 0;
  const Status status = core::TrySelect({call.pointers, call.keys}, nodes.first(call.keys), &index);
  if (status == Status::kEmpty && timeout != Duration::zero()) return FinishOrWait(L, call_index);
  core::DropWait(L);
  if (status != Status::kEmpty) return Finish(L, call_index, index, status);
  ClearNodes(task);
  return PushTimedOut(L, linda, call.kind);
}

template <lua_CFunction kFunction>
int Again(lua_State* L, int, lua_KContext) {
  return kFunction(L);
}

}  // namespace

// send([timeout,] key, values…)
int LindaSend(lua_State* L) {
  Linda& linda = CheckLinda(L);
  Duration timeout = kForever;
  int key_index = TakeTimeout(L, linda, &timeout);
  int count = lua_gettop(L) - key_index;
  // In api 3, linda.null before the key sends one nil if nothing is given.
  if (!linda.is_v4() && lua_touserdata(L, key_index) == LanesNull()) {
    ++key_index;
    count = std::max(count - 1, 1);
  }
  if (lua_gettop(L) < key_index || count < 1) return luaL_error(L, "no data to send");
  const KeyName key = CheckSlot(L, linda, key_index);
  CheckRestriction(L, linda, key, Restriction::kSendReceive);
  if (core::BeforeWait(L)) return core::YieldTurn(L, Again<LindaSend>);
  MessageList& messages = EncodeValues(L, linda, key_index + 1, count);
  NoteKey(L, linda, key);
  Call& call = PushCall(L, Kind::kSend, key_index, 1);
  AddCase<SendCase>(call, linda.channel(), key);
  return Run(L, call, &messages, timeout);
}

namespace {

// receive_batched([timeout,] key, min [, max]), with the key at `key_index`.
int ReceiveBatch(lua_State* L, int key_index, Duration timeout) {
  Linda& linda = CheckLinda(L);
  const KeyName key = CheckSlot(L, linda, key_index);
  CheckRestriction(L, linda, key, Restriction::kSendReceive);
  const lua_Integer min = luaL_checkinteger(L, key_index + 1);
  luaL_argcheck(L, min >= 1 && min <= INT_MAX, key_index + 1, "bad min count");
  const lua_Integer max =
      lua_isnoneornil(L, key_index + 2) ? min : luaL_checkinteger(L, key_index + 2);
  if (max < min) {
    if (!linda.is_v4()) return luaL_error(L, "batched min/max error");
    return luaL_argerror(L, key_index + 2, "batched min/max error");
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, Again<LindaReceiveBatched>);
  Call& call = PushCall(L, Kind::kBatched, key_index, 1);
  AddCase<ReceiveCase>(call, linda.channel(), key, static_cast<std::uint32_t>(min),
                       static_cast<std::uint32_t>(std::min<lua_Integer>(max, INT_MAX)));
  return Run(L, call, nullptr, timeout);
}

}  // namespace

int LindaReceiveBatched(lua_State* L) {
  Linda& linda = CheckLinda(L);
  Duration timeout = kForever;
  int key_index = TakeTimeout(L, linda, &timeout);
  if (!linda.is_v4() && lua_touserdata(L, key_index) == BatchedMark()) ++key_index;
  return ReceiveBatch(L, key_index, timeout);
}

// receive([timeout,] keys…)
int LindaReceive(lua_State* L) {
  Linda& linda = CheckLinda(L);
  Duration timeout = kForever;
  const int first = TakeTimeout(L, linda, &timeout);
  if (!linda.is_v4() && lua_touserdata(L, first) == BatchedMark()) return LindaReceiveBatched(L);
  const int last = lua_gettop(L);
  luaL_argcheck(L, last >= first, first, "no key to receive from");
  for (int i = first; i <= last; ++i) {
    CheckRestriction(L, linda, CheckSlot(L, linda, i), Restriction::kSendReceive);
  }
  if (core::BeforeWait(L)) return core::YieldTurn(L, Again<LindaReceive>);
  const auto keys = static_cast<std::size_t>(last) - static_cast<std::size_t>(first) + 1;
  Call& call = PushCall(L, Kind::kReceive, first, keys);
  for (int i = first; i <= last; ++i) {
    AddCase<ReceiveCase>(call, linda.channel(), CheckSlot(L, linda, i));
  }
  return Run(L, call, nullptr, timeout);
}

}  // namespace shoal::bindings
