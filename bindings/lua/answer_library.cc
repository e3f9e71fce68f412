// SPDX-License-Identifier: MIT
#include "bindings/lua/answer_library.h"

#include <new>
#include <string>
#include <utility>

#include "bindings/lua/arguments.h"
#include "bindings/lua/delivery.h"
#include "bindings/lua/ending.h"
#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/traceback.h"
#include "runtime/process/exit_notice.h"
#include "runtime/process/process.h"
#include "runtime/process/task_entry.h"

namespace shoal::bindings {

using core::Call;
using core::ExitKind;
using core::Message;
using core::MessagePtr;
using core::Process;

namespace {

constexpr char kAnswerType[] = "shoal.answer";
constexpr int kAnswer = 1;

struct AnswerHandle {
  core::Answer* answer;  // one reference; null: it has been answered, or given up
};

AnswerHandle& CheckAnswerHandle(lua_State* L) {
  return *static_cast<AnswerHandle*>(luaL_checkudata(L, kAnswer, kAnswerType));
}

Call& CheckAnswer(lua_State* L) {
  const AnswerHandle& handle = CheckAnswerHandle(L);
  luaL_argcheck(L, handle.answer != nullptr, kAnswer, "it has been given");
  return handle.answer->call();
}

int Collect(lua_State* L) {
  AnswerHandle& handle = CheckAnswerHandle(L);
  if (handle.answer != nullptr) std::exchange(handle.answer, nullptr)->Release();
  return 0;
}

int Begin(lua_State* L) {
  Call& call = CheckAnswer(L);
  lua_settop(L, kAnswer);
  if (!call.Begin(Process::Of(L).current_task())) return 0;
  return DeliverKept(L, call.arguments(), 0);
}

// Called with a Message*&, and the values.
int EncodeValues(lua_State* L) {
  auto** const message = static_cast<Message**>(lua_touserdata(L, 1));
  *message = core::Encode(L, 2, lua_gettop(L) - 1);
  return 0;
}

// Encodes the values from index 2 on. Null: why they cannot travel is on the top.
Message* EncodeRest(lua_State* L) {
  Message* message = nullptr;
  const int count = lua_gettop(L) - 1;
  luaL_checkstack(L, 2, "too many results");
  lua_pushcfunction(L, EncodeValues);
  lua_insert(L, 2);
  lua_pushlightuserdata(L, static_cast<void*>(&message));
  lua_insert(L, 3);
  static_cast<void>(lua_pcall(L, count + 1, 0, 0));
  return message;
}

// Ends the call, and lets go of the answer. Raises nothing.
void Answer(lua_State* L, ExitKind kind, Message* message, const char* traceback) {
  AnswerHandle& handle = CheckAnswerHandle(L);
  Call& call = handle.answer->call();
  static_cast<void>(call.Leave());
  std::string text;
  // Without memory for it, there is none.
  static_cast<void>(core::EnoughMemory([&] { text = traceback; }));
  call.End(kind, MessagePtr(message), std::move(text));
  std::exchange(handle.answer, nullptr)->Release();
}

int Finish(lua_State* L) {
  CheckAnswer(L);
  Message* const message = EncodeRest(L);
  if (message == nullptr) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  Answer(L, ExitKind::kDone, message, "");
  return PushTrue(L);
}

// The text of the error value at index 2.
MessagePtr TextNotice(lua_State* L) {
  lua_settop(L, 2);
  return core::MakeErrorNotice(Process::Of(L).id(), core::ErrorText(L));
}

int Fail(lua_State* L) {
  CheckAnswer(L);
  const char* const traceback = luaL_optstring(L, 3, "");
  lua_settop(L, 3);
  lua_pushinteger(L, static_cast<lua_Integer>(Process::Of(L).id()));
  lua_pushstring(L, core::ToString(ExitKind::kError));
  lua_pushvalue(L, 2);
  // answer, error, traceback, id, "error", error: what goes is behind the first of two
  lua_pushcfunction(L, EncodeValues);
  lua_insert(L, 4);
  Message* message = nullptr;
  lua_pushlightuserdata(L, static_cast<void*>(&message));
  lua_insert(L, 5);
  static_cast<void>(lua_pcall(L, 4, 0, 0));
  // Where the error value cannot travel, its text can.
  if (message == nullptr) message = TextNotice(L).release();
  Answer(L, ExitKind::kError, message, traceback);
  return 0;
}

int CloseCall(lua_State* L) {
  CheckAnswer(L).Close();
  return Collect(L);
}

int LeaveScope(lua_State* L) {
  if (CheckAnswerHandle(L).answer == nullptr) return 0;
  if (CheckAnswer(L).Leave()) {
    Answer(L, ExitKind::kCancelled, nullptr, "");
    return 0;
  }
  return Collect(L);
}

// [-0, +1, m]: an empty handle.
AnswerHandle& PushAnswerHandle(lua_State* L) {
  auto* const handle = static_cast<AnswerHandle*>(lua_newuserdatauv(L, sizeof(AnswerHandle), 0));
  handle->answer = nullptr;
  if (luaL_newmetatable(L, kAnswerType) != 0) {
    static const luaL_Reg kAnswerMethods[] = {
        {"begin", Begin},  {"finish", Finish},      {"fail", Fail},    {"close", CloseCall},
        {"__gc", Collect}, {"__close", LeaveScope}, {nullptr, nullptr}};
    luaL_setfuncs(L, kAnswerMethods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "answer");
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return *handle;
}

}  // namespace

void PushAnswer(lua_State* L, core::Answer& answer) {
  AnswerHandle& handle = PushAnswerHandle(L);
  answer.AddRef();
  handle.answer = &answer;
  answer.call().Arrive(Process::Of(L));
}

// --- tracebacks

namespace {

constexpr char kTraceType[] = "shoal.trace";

int CollectTrace(lua_State* L) {
  core::ClearTraceback(*static_cast<core::Traceback*>(lua_touserdata(L, 1)));
  return 0;
}

// Upvalue: the traceback.
int TakeTrace(lua_State* L) {
  const auto& trace = *static_cast<core::Traceback*>(lua_touserdata(L, lua_upvalueindex(1)));
  lua_pushlstring(L, trace.stack().data(), trace.stack().size());
  return 1;
}

}  // namespace

int NewTracer(lua_State* L) {
  auto* const trace = new (lua_newuserdatauv(L, sizeof(core::Traceback), 0)) core::Traceback();
  if (luaL_newmetatable(L, kTraceType) != 0) {
    lua_pushcfunction(L, CollectTrace);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  const int box = lua_gettop(L);
  core::PushTracebackHandler(L, trace);
  lua_pushvalue(L, box);
  lua_pushcclosure(L, TakeTrace, 1);
  return 2;
}

int CheckTravels(lua_State* L) {
  core::Message* const message = core::EncodeNamed(L, 1, luaL_checkstring(L, 2));
  MessagePtr(message).reset();
  return 0;
}

}  // namespace shoal::bindings
