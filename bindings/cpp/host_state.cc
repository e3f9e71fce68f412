// SPDX-License-Identifier: MIT
#include "bindings/cpp/host_state.h"

#include <shoal/host.h>

#include <new>
#include <utility>

#include "bindings/cpp/cell.h"
#include "bindings/lua/shoal_library.h"
#include "runtime/base/enough_memory.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/process/spawn_options.h"

namespace shoal {

namespace embed {

namespace {

// Its address names the box in the registry.
const char kKey = 0;
constexpr char kMetatable[] = "shoal.host_state";

// What OpenHost is about, for its protected call.
struct Request {
  const std::shared_ptr<RuntimeState>* runtime;
  core::Status status;
};

lua_State* MainThread(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State* const main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return main;
}

// Called with a light userdata: the Request.
int OpenState(lua_State* L) {
  auto& request = *static_cast<Request*>(lua_touserdata(L, 1));
  HostState** const box = HostState::MakeBox(L);
  // 1 What `require` finds.
  bindings::PreloadModules(L, bindings::PlainNames::kNo);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, bindings::LoadShoal);
  lua_setfield(L, -2, "shoal");
  // 2 From here on it is a process. What is set below may already stand for things of the runtime.
  HostState* const made = core::TryNew<HostState>();
  *box = made;
  request.status =
      made == nullptr ? core::Status::kNoMemory : made->Open(MainThread(L), *request.runtime);
  if (request.status != core::Status::kOk) return 0;
  (*request.runtime)->modules.Open(L);
  return 0;
}

}  // namespace

bool HostState::IsIn(lua_State* L) {
  const bool is_in = lua_rawgetp(L, LUA_REGISTRYINDEX, &kKey) != LUA_TNIL;
  lua_pop(L, 1);
  return is_in;
}

HostState** HostState::MakeBox(lua_State* L) {
  // The finalizer first: from here on, what is made is ended.
  auto** const box = static_cast<HostState**>(lua_newuserdatauv(L, sizeof(HostState*), 0));
  *box = nullptr;
  luaL_newmetatable(L, kMetatable);
  lua_pushcfunction(L, Collect);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kKey);
  return box;
}

core::Status HostState::Open(lua_State* main, const std::shared_ptr<RuntimeState>& runtime) {
  if (!core::HostStates::Add(main, entry_, starting_)) return core::Status::kNoMemory;
  core::SpawnOptions options;
  // Nobody waits for it at the end.
  options.daemon = true;
  const core::Status status =
      core::Process::AdoptHost(runtime->core->machine(), main, std::move(options), &process_);
  if (status != core::Status::kOk) {
    process_ = core::Ref<core::Process>();
    core::HostStates::Remove(entry_);
    return status;
  }
  core::HostStates::Change(entry_, process_->record());
  runtime_ = runtime;
  runtime_->AddUser();
  return core::Status::kOk;
}

void HostState::Undo(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kKey) == LUA_TUSERDATA) {
    End(L, static_cast<HostState**>(lua_touserdata(L, -1)));
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kKey);
  }
  lua_pop(L, 1);
}

int HostState::Collect(lua_State* L) {
  End(L, static_cast<HostState**>(lua_touserdata(L, 1)));
  return 0;
}

void HostState::End(lua_State* L, HostState** box) {
  HostState* const host = std::exchange(*box, nullptr);
  if (host != nullptr && (host->process_.get() == nullptr || host->Close(core::RecordOf(L)))) {
    delete host;  // NOLINT(cppcoreguidelines-owning-memory): the box owned it
  }
}

bool HostState::Close(const core::StateRecord& known) {
  // In a child that was forked, the state is known no more.
  if (&known != &process_->record()) return false;
  const int handles = known.handles;
  process_->FinishHost();
  core::HostStates::Remove(entry_);
  // A handle that was made while the state was being closed is never collected.
  if (handles != 0) return false;
  process_ = core::Ref<core::Process>();
  const std::shared_ptr<RuntimeState> runtime = std::move(runtime_);
  RuntimeState::RemoveUser(runtime);
  return true;
}

}  // namespace embed

Result<void> OpenHost(lua_State* L, Runtime& runtime) noexcept {
  if (!runtime) return runtime.error();
  if (core::RuntimeThread::IsCurrent()) {
    return Error(Status::kMisuse, "OpenHost is for states of the program, on threads of it");
  }
  const embed::Entry entry(*runtime.state()->gate);
  if (!entry) return entry.error();
  if (lua_checkstack(L, 4) == 0) return Status::kNoMemory;
  if (embed::HostState::IsIn(L)) {
    return Error(Status::kExists, "the state takes part in a runtime already");
  }
  embed::Request request{&runtime.shared_state(), core::Status::kOk};
  lua_pushcfunction(L, embed::OpenState);
  lua_pushlightuserdata(L, &request);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    lua_pop(L, 1);
    request.status = core::Status::kNoMemory;
  }
  if (request.status != core::Status::kOk) embed::HostState::Undo(L);
  switch (request.status) {
    case core::Status::kOk:
      return {};
    case core::Status::kClosed:
      return Status::kClosed;
    default:
      return Status::kNoMemory;
  }
}

}  // namespace shoal
