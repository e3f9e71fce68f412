// SPDX-License-Identifier: MIT
#include "bindings/lua/pool_library.h"

#include <cstdint>
#include <string_view>

#include "bindings/lua/arguments.h"
#include "bindings/lua/built_in.h"
#include "bindings/lua/call_library.h"
#include "bindings/lua/handles.h"
#include "runtime/base/enough_memory.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::Channel;
using core::Duration;
using core::KeyName;

namespace {

constexpr int kPool = 1;

Pool& CheckPool(lua_State* L, int arg) { return static_cast<Pool&>(CheckPoolObject(L, arg)); }

// What a call does with its future, once it has been sent.
enum class Then : lua_KContext { kResult, kJoin, kFuture };

// The stack of a call that is on its way.
constexpr int kFuture = 1;
constexpr int kDeadline = 2;

void CheckCallable(lua_State* L, int arg) {
  const int type = lua_type(L, arg);
  if (type == LUA_TFUNCTION || type == LUA_TSTRING) return;
  luaL_argerror(L, arg,
                lua_pushfstring(L, "a function or the name of one expected, got %s",
                                type == LUA_TNONE ? "no value" : luaL_typename(L, arg)));
}

int Sent(lua_State* L, int, lua_KContext context) {
  const auto then = static_cast<Then>(context);
  const bool sent = lua_toboolean(L, kDeadline + 1) != 0;
  if (then == Then::kFuture) {
    lua_settop(L, kFuture);
    return 1;
  }
  if (sent) return AwaitCall(L, then == Then::kJoin ? Want::kJoin : Want::kResult);
  if (then == Then::kJoin) return 2;
  return luaL_error(L, "the pool is closed");
}

// Calls what stands from `first` on; the key of the queue is on the top. No hook of Lua can come
// between the send and the wait, so a cancel never leaves a call behind that nobody waits for.
int SendAndThen(lua_State* L, int first, Duration timeout, Then then) {
  const core::TimePoint deadline = DeadlineFor(L, timeout);
  lua_insert(L, first);
  PushNewCall(L, first + 1);
  PushReference(L, &CheckPool(L, kPool).queue());
  lua_pushvalue(L, first);
  // The future, the queue and the key are what is left.
  lua_rotate(L, 1, 3);
  lua_settop(L, 3);
  lua_pushinteger(L, deadline.time_since_epoch().count());
  lua_insert(L, kDeadline);
  lua_pushcfunction(L, SendCall);
  lua_insert(L, kDeadline + 1);
  if (timeout == kForever) {
    lua_pushnil(L);
  } else {
    lua_pushnumber(L, static_cast<double>(timeout.count()) / 1e9);
  }
  lua_insert(L, -2);
  lua_pushvalue(L, kFuture);
  const auto context = static_cast<lua_KContext>(then);
  lua_callk(L, 4, 2, context, Sent);
  return Sent(L, LUA_OK, context);
}

int Call(lua_State* L) {
  CheckPool(L, kPool);
  CheckCallable(L, 2);
  lua_pushstring(L, kCallKey);
  return SendAndThen(L, 2, kForever, Then::kResult);
}

int CallFor(lua_State* L) {
  CheckPool(L, kPool);
  if (lua_isnone(L, 2)) luaL_argerror(L, 2, "timeout in seconds expected, got no value");
  const Duration timeout = CheckTimeout(L, 2);
  CheckCallable(L, 3);
  lua_pushstring(L, kCallKey);
  return SendAndThen(L, 3, timeout, Then::kJoin);
}

int Async(lua_State* L) {
  CheckPool(L, kPool);
  CheckCallable(L, 2);
  lua_pushstring(L, kCallKey);
  return SendAndThen(L, 2, kForever, Then::kFuture);
}

// Equal keys have equal hashes, in all processes of the program.
int CallOn(lua_State* L) {
  const Pool& pool = CheckPool(L, kPool);
  const KeyName key = CheckKey(L, 2);
  CheckCallable(L, 3);
  const auto size = static_cast<std::size_t>(pool.size());
  lua_pushinteger(L, static_cast<lua_Integer>(key.Hash() % size) + 1);
  return SendAndThen(L, 3, kForever, Then::kResult);
}

// --- what is written in Lua

int MapOnPool(lua_State* L) {
  CheckPool(L, kPool);
  return CallBuiltIn(L, "map", "map_pool");
}

int Close(lua_State* L) {
  CheckPool(L, kPool);
  static_cast<void>(CheckTimeout(L, 2));
  return CallBuiltIn(L, "pool", "close");
}

int Reload(lua_State* L) {
  CheckPool(L, kPool);
  return CallBuiltIn(L, "pool", "reload");
}

int LeaveScope(lua_State* L) {
  CheckPool(L, kPool);
  return CallBuiltIn(L, "pool", "leave_scope");
}

// The bodies of the processes that belong to the pool: its handle is all that these can reach
// Shoal by, whatever libraries they may use.
int Start(lua_State* L) { return CallBuiltIn(L, "pool_starter", "serve"); }
int Serve(lua_State* L) { return CallBuiltIn(L, "pool_process", "serve"); }
int ServeMap(lua_State* L) { return CallBuiltIn(L, "pool_process", "serve_map"); }

const luaL_Reg kMethods[] = {{"call", Call},           {"call_for", CallFor}, {"async", Async},
                             {"call_on", CallOn},      {"map", MapOnPool},    {"close", Close},
                             {"reload", Reload},       {"_start", Start},     {"_serve", Serve},
                             {"_serve_map", ServeMap}, {nullptr, nullptr}};

int Field(lua_State* L) {
  const Pool& pool = CheckPool(L, kPool);
  const char* name = lua_tostring(L, 2);
  if (name == nullptr) return 0;
  const std::string_view field = name;
  if (field == "id") {
    lua_pushinteger(L, static_cast<lua_Integer>(pool.queue().id()));
    return 1;
  }
  if (field == "name" && !pool.name().empty()) {
    lua_pushlstring(L, pool.name().data(), pool.name().size());
    return 1;
  }
  return 0;
}

int PushText(lua_State* L) {
  const Pool& pool = CheckPool(L, kPool);
  const auto id = static_cast<lua_Integer>(pool.queue().id());
  if (pool.name().empty()) {
    lua_pushfstring(L, "pool: %I", id);
  } else {
    lua_pushfstring(L, "pool: %I (%s)", id, pool.name().c_str());
  }
  return 1;
}

void DropCalls(Channel& queue, const KeyName& key) {
  core::MessageList messages;
  static_cast<void>(queue.Receive(key, 1, UINT32_MAX, &messages));
}

}  // namespace

void EndPool(Pool& pool) {
  pool.queue().Close();
  DropCalls(pool.queue(), KeyName::String(kCallKey));
  DropCalls(pool.queue(), KeyName::String("order"));
  for (std::int64_t slot = 1; slot <= pool.size(); ++slot) {
    DropCalls(pool.queue(), KeyName::Integer(slot));
  }
}

namespace {

// Told of the end of the starter, however it comes, and be it that the starter has never started:
// the pool is closed, and so are the calls that stand in its queue.
class PoolEnd final : public core::ExitWatch {
 public:
  PoolEnd(Pool& pool, Channel* registry)
      : pool_(core::Ref<Pool>::Share(&pool)), registry_(core::Ref<Channel>::Share(registry)) {}
  void OnExit(core::ExitKind, const core::Message*, const core::Ref<core::Failure>&) override {
    if (registry_) ForgetName();
    EndPool(*pool_);
  }
  [[nodiscard]] bool joins() const override { return false; }

 private:
  // Nobody else removes this pool from there any more, so it is what is looked at that goes.
  void ForgetName() {
    const KeyName key = KeyName::String("pool");
    bool is_known = false;
    registry_->Peek(key, 1, [&](const core::Message& message) {
      const auto references = message.references();
      is_known = !references.empty() && references.front() == pool_.get();
    });
    core::MessageList none;
    if (is_known) static_cast<void>(registry_->Replace(key, none));
  }

  const core::Ref<Pool> pool_;
  const core::Ref<Channel> registry_;
};

// False: memory is short. Raises nothing.
bool WatchEnd(core::Process& starter, Pool& pool, Channel* registry) {
  const auto end = core::Ref<PoolEnd>::Adopt(core::TryNew<PoolEnd>(pool, registry));
  if (!end) return false;
  static_cast<void>(starter.exit().Watch(*end));
  return true;
}

// No Lua call in here raises. Null: memory is short.
core::RefCounted* TryNewPool(core::Channel& queue, const char* name, lua_Integer size) {
  core::RefCounted* pool = nullptr;
  static_cast<void>(core::EnoughMemory(
      [&] { pool = new Pool(queue, std::string(name == nullptr ? "" : name), size); }));
  return pool;
}

}  // namespace

const HandleKind kPoolKind = {"shoal.pool", "pool", kMethods, Field, PushText, LeaveScope};

int NewPool(lua_State* L) {
  core::Channel& queue = CheckChannel(L, 1);
  const char* const name = luaL_optstring(L, 2, nullptr);
  core::RefCounted* const pool = TryNewPool(queue, name, luaL_checkinteger(L, 3));
  CheckMemory(L, pool != nullptr);
  PushNewReference(L, pool);
  return 1;
}

int WatchStarter(lua_State* L) {
  core::Process& starter = CheckProcess(L, 1);
  Pool& pool = CheckPool(L, 2);
  Channel* const registry = lua_isnoneornil(L, 3) ? nullptr : &CheckChannel(L, 3);
  CheckMemory(L, WatchEnd(starter, pool, registry));
  return 0;
}

int EndPool(lua_State* L) {
  EndPool(CheckPool(L, kPool));
  return 0;
}

int PoolQueue(lua_State* L) {
  const Pool& pool = CheckPool(L, kPool);
  PushReference(L, &pool.queue());
  lua_pushinteger(L, pool.size());
  return 2;
}

int MakePool(lua_State* L) { return CallBuiltIn(L, "pool", "make"); }
int Map(lua_State* L) { return CallBuiltIn(L, "map", "map"); }
int IMap(lua_State* L) { return CallBuiltIn(L, "map", "imap"); }

}  // namespace shoal::bindings
