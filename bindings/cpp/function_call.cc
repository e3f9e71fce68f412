// SPDX-License-Identifier: MIT
#include "bindings/cpp/function_call.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/cpp/async_call.h"
#include "bindings/cpp/cell.h"
#include "bindings/cpp/objects.h"
#include "bindings/cpp/value_reader.h"
#include "bindings/cpp/value_writer.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/message/wire.h"
#include "runtime/process/process.h"
#include "runtime/process/suspend.h"

namespace shoal {

Error embed::BadArgument(std::size_t index, const Value& value) {
  std::string text = "bad argument #" + std::to_string(index + 1);
  text += value.is_nil() ? ": there is none" : ": '" + value.ToText() + "' has another type";
  return Error(Status::kMisuse, text);
}

namespace embed {

using core::Message;
using core::MessagePtr;

namespace {

constexpr char kMessageType[] = "shoal.results";
constexpr char kWaitType[] = "shoal.async";

// --- The inner frames: no Lua

// As a call of Shoal would put it.
bool IsRaised(Status status) {
  return status == Status::kError || status == Status::kMisuse || status == Status::kNoMemory ||
         status == Status::kNoThread;
}

// Code that cleans up at the end of the runtime finds the gate closed. What needs nothing of the
// runtime goes on.
Result<Values> ToValues(Gate& gate, const Message* message) {
  if (message == nullptr) return Values();
  const Entry entry(gate);
  if (!entry && !message->references().empty()) return entry.error();
  return DecodeValues(*message, gate);
}

bool IsPlain(const Value& value) {
  const Value::Kind kind = value.kind();
  return kind != Value::Kind::kTable && kind != Value::Kind::kHandle &&
         kind != Value::Kind::kOpaque;
}

MessagePtr ToMessage(Gate& gate, const Values& values, Error* error) {
  const Entry entry(gate);
  if (!entry && !std::all_of(values.begin(), values.end(), IsPlain)) {
    *error = entry.error();
    return nullptr;
  }
  return EncodeValues(values.vector(), gate, error);
}

// Calls `call`, and makes an error of what it throws.
template <class Call>
Result<Values> Protected(Call call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status::kNoMemory;
  } catch (const std::exception& error) {
    return Error(Status::kMisuse, error.what());
  } catch (...) {
    return Error(Status::kMisuse, "the function has thrown something that is no std::exception");
  }
}

// `arguments` is freed; null: there are none.
template <class Call>
Outcome CallWith(Gate& gate, lua_State* L, Message* arguments, Call call) noexcept {
  const MessagePtr message(arguments);
  const Result<Values> results = Protected([&]() -> Result<Values> {
    const Result<Values> values = ToValues(gate, message.get());
    if (!values) return values.error();
    const CurrentCall current(L);
    return call(*values);
  });
  return OutcomeOf(gate, results);
}

// Begins a call; false: it has failed, and `outcome` says how.
bool BeginLater(const HostFunction& function, lua_State* L, Message* arguments, AsyncWait* wait,
                Outcome* outcome) noexcept {
  const MessagePtr message(arguments);
  const Result<Values> begun = Protected([&]() -> Result<Values> {
    const Result<Values> values = ToValues(function.gate, message.get());
    if (!values) return values.error();
    // Inside the gate only for the count: the function may take long.
    std::shared_ptr<AsyncCall> call;
    if (!function.gate.Enter()) return Status::kClosed;
    const bool enough = core::EnoughMemory([&] {
      call = std::make_shared<AsyncCall>(function.gate.shared_from_this(),
                                         core::Ref<AsyncWait>::Share(wait));
    });
    function.gate.Leave();
    if (!enough) return Status::kNoMemory;
    const CurrentCall current(L);
    const Result<Values> thrown = Protected([&]() -> Result<Values> {
      function.later(*values, Completion(call));
      return Values();
    });
    if (!thrown) call->Complete(thrown);
    return Values();
  });
  if (begun) return true;
  *outcome = OutcomeOf(function.gate, begun);
  return false;
}

// --- The outer frames: nothing with a destructor

struct MessageBox {
  Message* message;
};

int CollectMessage(lua_State* L) {
  auto* box = static_cast<MessageBox*>(lua_touserdata(L, 1));
  MessagePtr(std::exchange(box->message, nullptr)).reset();
  return 0;
}

// Called with a light userdata: a box that has taken over the message.
int BoxMessage(lua_State* L) {
  auto* const message = static_cast<Message*>(lua_touserdata(L, 1));
  auto* const box = static_cast<MessageBox*>(lua_newuserdatauv(L, sizeof(MessageBox), 0));
  box->message = nullptr;
  if (luaL_newmetatable(L, kMessageType) != 0) {
    lua_pushcfunction(L, CollectMessage);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  box->message = message;
  return 1;
}

// What the values from index `first` on are for.
int End(lua_State* L, Outcome::End end, int count) {
  if (end == Outcome::End::kReturn) return count;
  if (end == Outcome::End::kRaiseAt) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

int FinishWithModules(lua_State* L, int /*status*/, lua_KContext end) {
  auto* const box = static_cast<MessageBox*>(lua_touserdata(L, -1));
  const int count = core::Decode(L, *box->message);
  return End(L, static_cast<Outcome::End>(end), count);
}

int DecodeOne(lua_State* L) {
  return core::Decode(L, *static_cast<const Message*>(lua_touserdata(L, 1)));
}

bool NamesModules(const Message& message) {
  return (static_cast<std::uint8_t>(message.bytes()[0]) & core::wire::kNeedsModules) != 0;
}

// The arguments from `first` on, encoded; null: there are none. [-0, +0, e]
Message* EncodeFrom(lua_State* L, int first) {
  const int count = lua_gettop(L) - first + 1;
  return count <= 0 ? nullptr : core::Encode(L, first, count);
}

int Call(lua_State* L) {
  const auto& function = *static_cast<const HostFunction*>(lua_touserdata(L, lua_upvalueindex(1)));
  Message* const arguments = EncodeFrom(L, 1);
  return Finish(L, CallWith(function.gate, L, arguments,
                            [&](const Values& values) { return function.function(values); }));
}

int CallMethod(lua_State* L) {
  const auto& method = *static_cast<const HostMethod*>(lua_touserdata(L, lua_upvalueindex(1)));
  const SharedObject* const object = ToObject(L, 1);
  if (object == nullptr || object->of().get() != method.of) {
    return luaL_typeerror(L, 1, method.of->name().c_str());
  }
  Message* const arguments = EncodeFrom(L, 2);
  return Finish(L, CallWith(method.gate, L, arguments, [&](const Values& values) {
                  return method.method(object->pointer(), values);
                }));
}

// --- Calls that end later

struct WaitBox {
  AsyncWait* wait;
};

int CollectWait(lua_State* L) {
  auto* box = static_cast<WaitBox*>(lua_touserdata(L, 1));
  AsyncWait* const wait = std::exchange(box->wait, nullptr);
  if (wait == nullptr) return 0;
  wait->Abandon();
  wait->Release();
  return 0;
}

// [-0, +1, m]
AsyncWait* PushWait(lua_State* L) {
  auto* const box = static_cast<WaitBox*>(lua_newuserdatauv(L, sizeof(WaitBox), 0));
  box->wait = nullptr;
  if (luaL_newmetatable(L, kWaitType) != 0) {
    lua_pushcfunction(L, CollectWait);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  box->wait = core::TryNew<AsyncWait>();
  if (box->wait == nullptr) luaL_error(L, "not enough memory");
  return box->wait;
}

void DescribeLater(lua_State* /*L*/, std::string& text) { text += " of the program"; }

int EndLater(lua_State* L) {
  return Finish(L, static_cast<WaitBox*>(lua_touserdata(L, -1))->wait->Take());
}

int LaterHasEnded(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  const core::Status status = core::TakeOutcome(L);
  if (status == core::Status::kOk) return EndLater(L);
  static_cast<WaitBox*>(lua_touserdata(L, -1))->wait->Abandon();
  core::RaiseOutcome(L, status);
  return luaL_error(L, "the call has ended: %s", core::ToString(status));
}

int CallLater(lua_State* L);
int CallLaterAgain(lua_State* L, int /*status*/, lua_KContext /*context*/) { return CallLater(L); }

int CallLater(lua_State* L) {
  const auto& function = *static_cast<const HostFunction*>(lua_touserdata(L, lua_upvalueindex(1)));
  if (core::BeforeWait(L)) return core::YieldTurn(L, CallLaterAgain);
  // On top at the end: what owns the wait.
  AsyncWait* const wait = PushWait(L);
  lua_insert(L, 1);
  Message* const arguments = EncodeFrom(L, 2);
  lua_settop(L, 1);
  Outcome outcome{};
  if (!BeginLater(function, L, arguments, wait, &outcome)) return Finish(L, outcome);
  const core::Status status = core::AwaitJob(L, *wait, core::kNever, DescribeLater);
  if (status == core::Status::kPending) return core::Suspend(L, 0, LaterHasEnded);
  return EndLater(L);
}

}  // namespace

void PushFunction(lua_State* L, const HostFunction& function) {
  lua_pushlightuserdata(L, const_cast<HostFunction*>(&function));
  lua_pushcclosure(L, function.function ? Call : CallLater, 1);
}

void PushMethod(lua_State* L, const HostMethod& method) {
  lua_pushlightuserdata(L, const_cast<HostMethod*>(&method));
  lua_pushcclosure(L, CallMethod, 1);
}

Outcome OutcomeOf(Gate& gate, const Result<Values>& results) {
  Outcome outcome{.message = nullptr, .end = Outcome::End::kReturn};
  static_cast<void>(core::EnoughMemory([&] {
    const Error& error = results.error();
    Values text;
    const Values* values = nullptr;
    if (results) {
      values = &*results;
    } else if (!IsRaised(error.status())) {
      text = {Value(), Value(ToString(error.status()))};
      values = &text;
    } else if (error.status() == Status::kError && !error.value().is_nil()) {
      text = {error.value()};
      values = &text;
      outcome.end = Outcome::End::kRaise;
    } else {
      const std::string_view message = error.message();
      text = {message.empty() ? Value(ToString(error.status())) : Value(message)};
      values = &text;
      outcome.end = Outcome::End::kRaiseAt;
    }
    Error refused;
    MessagePtr message = ToMessage(gate, *values, &refused);
    if (message == nullptr && refused.status() == Status::kClosed) {
      outcome.end = Outcome::End::kReturn;
      message = ToMessage(gate, {Value(), Value(ToString(refused.status()))}, &refused);
    } else if (message == nullptr && refused.status() != Status::kNoMemory) {
      // Handles of another runtime, say.
      outcome.end = Outcome::End::kRaiseAt;
      message = ToMessage(gate, {Value(refused.message())}, &refused);
    }
    outcome.message = message.release();
  }));
  return outcome;
}

int Finish(lua_State* L, Outcome outcome) {
  Message* const message = outcome.message;
  if (message == nullptr) return luaL_error(L, "not enough memory");
  int count = 0;
  if (core::DecodeScalars(L, *message, &count)) {
    MessagePtr(message).reset();
    return End(L, outcome.end, count);
  }
  const bool boxed = NamesModules(*message);
  const int top = lua_gettop(L);
  lua_pushcfunction(L, boxed ? BoxMessage : DecodeOne);
  lua_pushlightuserdata(L, message);
  const int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  if (!boxed || status != LUA_OK) MessagePtr(message).reset();
  if (status != LUA_OK) return lua_error(L);
  if (!boxed) return End(L, outcome.end, lua_gettop(L) - top);
  const auto end = static_cast<lua_KContext>(outcome.end);
  if (!core::NeedsModules(L, *message)) return FinishWithModules(L, LUA_OK, end);
  return core::RequireModules(L, *message, end, FinishWithModules);
}

}  // namespace embed

}  // namespace shoal
