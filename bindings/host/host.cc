// SPDX-License-Identifier: MIT
#include "bindings/host/host.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "bindings/lua/test_settings.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/base/thread_start.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

using core::Duration;
using core::Runtime;
using core::Status;

namespace {

// Its address names the host in the registry.
const char kHostKey = 0;
constexpr char kMetatable[] = "shoal.host";

// How long the end of the state waits for processes before it says so.
constexpr Duration kPatience = std::chrono::seconds(2);
// How long processes have to end by themselves when the program ends by os.exit.
constexpr Duration kExitGrace = std::chrono::seconds(1);

constexpr char kWorkersVariable[] = "SHOAL_WORKERS";
constexpr int kMostWorkers = 1024;

// The number of workers that the environment asks for; 0: it does not. Raises.
int WorkersVariable(lua_State* L) {
  const char* const value = std::getenv(kWorkersVariable);
  if (value == nullptr) return 0;
  char* end = nullptr;
  const long workers = std::strtol(value, &end, 10);
  if (end == value || *end != '\0' || workers < 1 || workers > kMostWorkers) {
    luaL_error(L, "%s must be a number of workers from 1 to %d, not '%s'", kWorkersVariable,
               kMostWorkers, value);
  }
  return static_cast<int>(workers);
}

lua_State* MainThread(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State* const main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return main;
}

// Another thread ends the program.
[[noreturn]] void AwaitEnd() {
  for (;;) pause();
}

}  // namespace

Host& Host::Of(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kHostKey) == LUA_TUSERDATA) {
    Host* const known = *static_cast<Host**>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    if (known == nullptr) luaL_error(L, "shoal cannot be loaded: the state is being closed");
    return *known;
  }
  lua_pop(L, 1);
  if (core::RuntimeThread::IsCurrent()) {
    luaL_error(L, "shoal cannot be loaded into a state that a process has made");
  }
  // The finalizer first: from here on, what is made is ended.
  auto** const box = static_cast<Host**>(lua_newuserdatauv(L, sizeof(Host*), 0));
  *box = nullptr;
  luaL_newmetatable(L, kMetatable);
  lua_pushcfunction(L, Collect);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  const int workers = WorkersVariable(L);
  Host* const host = new (std::nothrow) Host();
  *box = host;
  if (host == nullptr) luaL_error(L, "not enough memory");
  host->settings_.workers = workers;
  host->first_record_.owner = host;
  host->first_record_.start = Start;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kHostKey);
  if (!core::HostStates::Add(L, host->entry_, host->first_record_)) {
    luaL_error(L, "not enough memory");
  }
  return *host;
}

// __gc
int Host::Collect(lua_State* L) {
  auto** const box = static_cast<Host**>(lua_touserdata(L, 1));
  Host* const host = std::exchange(*box, nullptr);
  if (host == nullptr) return 0;
  const core::StateRecord* const known = &core::RecordOf(L);
  // In a child that was forked, the threads that would have to be waited for are not there.
  if (known == host->entry_.record) host->Close();
  return 0;
}

// The first use ----------------------------------------------------------------------------------

core::StateHost* Host::Start(lua_State* L, core::StateRecord& record) {
  Host& host = *static_cast<FirstRecord&>(record).owner;
  const Status status = host.StartRuntime(MainThread(L));
  if (status != Status::kOk) {
    luaL_error(L, "shoal cannot start: %s",
               status == Status::kNotFound ? "there is no such signal" : core::ToString(status));
  }
  return &host.runtime_->host();
}

Status Host::StartRuntime(lua_State* main) {
  log_.reset(new (std::nothrow) StderrLog(settings_.log));
  if (log_ == nullptr) return Status::kNoMemory;
  const std::size_t test_memory = TestQueueMemory();
  runtime_.reset(new (std::nothrow) Runtime(
      {.workers = settings_.workers,
       .queue_memory = test_memory != 0 ? test_memory : settings_.queue_memory,
       .channel_limit = settings_.limit,
       .clock = clock_,
       .log = *log_,
       .library = library_,
       .signal = TestSlicesEnd("counted") ? 0 : settings_.signal,
       .yield_at_every_instruction = TestSlicesEnd("every"),
       .collect_at_switch = TestCollectsAtSwitch(),
       .state_images = TestStateImages(core::StateImages::kForMany),
       .host_exit = this}));
  if (runtime_ == nullptr) return Status::kNoMemory;
  const Status status = runtime_->StartWithHost(main);
  if (status == Status::kOk) {
    core::HostStates::Change(entry_, runtime_->host().record());
    return status;
  }
  static_cast<void>(runtime_->Shutdown(Duration::zero()));
  runtime_.reset();
  return status;
}

// The end of the state ----------------------------------------------------------------------------

void Host::Close() {
  bool keep = false;
  if (runtime_ != nullptr) {
    if (exit_claimed_.exchange(true) && !shut_down_) AwaitEnd();
    const int handles = runtime_->host().record().handles;
    runtime_->host().FinishHost();
    if (!shut_down_) {
      AwaitProcesses();
      if (runtime_->exit_requested()) EndProgram(this);
      is_clean_ = runtime_->Shutdown(settings_.shutdown_timeout);
    }
    // A handle that was made while the state was being closed is never collected.
    keep = !is_clean_ || handles != 0;
  }
  core::HostStates::Remove(entry_);
  if (!keep) delete this;
}

void Host::AwaitProcesses() {
  if (runtime_->WaitForEnd(kPatience)) return;
  log_->Write(core::LogLevel::kWarning,
              "the state has been closed, and waits for " + runtime_->ListProcesses());
  static_cast<void>(runtime_->WaitForEnd());
}

// os.exit -----------------------------------------------------------------------------------------

void Host::PrepareExit(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kHostKey) != LUA_TUSERDATA) {
    lua_pop(L, 1);
    return;
  }
  Host* const host = *static_cast<Host**>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  const bool is_known = host != nullptr && &core::RecordOf(L) == host->entry_.record;
  if (!is_known || host->runtime_ == nullptr || host->shut_down_) return;
  if (host->exit_claimed_.exchange(true)) AwaitEnd();
  const Duration grace = std::min(kExitGrace, host->settings_.shutdown_timeout);
  host->is_clean_ = host->runtime_->Shutdown(grace);
  host->shut_down_ = true;
}

void Host::OnExitRequested() {
  if (exit_claimed_.exchange(true)) return;
  pthread_t thread;
  if (core::StartThread(EndProgram, this, &thread) == Status::kOk) {
    pthread_detach(thread);
  } else {
    std::exit(runtime_->WaitForEnd());
  }
}

void* Host::EndProgram(void* argument) {
  Host& host = *static_cast<Host*>(argument);
  const Duration grace = std::min(kExitGrace, host.settings_.shutdown_timeout);
  static_cast<void>(host.runtime_->Shutdown(grace));
  std::exit(host.runtime_->WaitForEnd());
}

}  // namespace shoal::bindings
