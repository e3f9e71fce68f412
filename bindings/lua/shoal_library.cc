// SPDX-License-Identifier: MIT
#include "bindings/lua/shoal_library.h"

#include <cstdlib>
#include <cstring>

#include "bindings/lua/answer_library.h"
#include "bindings/lua/blocking.h"
#include "bindings/lua/buffer_library.h"
#include "bindings/lua/built_in.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/lanes_convert.h"
#include "bindings/lua/lanes_core.h"
#include "bindings/lua/lanes_linda.h"
#include "bindings/lua/outcome.h"
#include "bindings/lua/pool_library.h"
#include "bindings/lua/process_library.h"
#include "bindings/lua/select.h"
#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_parcel.h"
#include "bindings/lua/task_library.h"
#include "bindings/lua/timer_library.h"
#include "runtime/process/suspend.h"

namespace shoal::bindings {

using core::CloseStates;
using core::Process;
using core::WaitReason;

int Workers(lua_State* L) {
  lua_pushinteger(L, Process::Of(L).machine().workers);
  return 1;
}

namespace {

int ExitDone(lua_State* L, int, lua_KContext) {
  core::RaiseOutcome(L, core::TakeOutcome(L));
  return 0;
}

// os.exit([code [, close]]): ends the program. The arguments are those of stock Lua.
int Exit(lua_State* L) {
  int status = EXIT_SUCCESS;
  if (lua_isboolean(L, 1)) {
    status = lua_toboolean(L, 1) != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  } else {
    status = static_cast<int>(luaL_optinteger(L, 1, EXIT_SUCCESS));
  }
  const CloseStates close = lua_toboolean(L, 2) != 0 ? CloseStates::kYes : CloseStates::kNo;
  Process& process = Process::Of(L);
  process.machine().program_end.RequestExit(status, process, close);
  if (process.closing()) return 0;
  // It never returns: the program ends, or the cancel that comes first.
  core::BeginWait(L, WaitReason::kExit, nullptr);
  return core::Suspend(L, 0, ExitDone);
}

// shoal.configure: only a host (bindings/host) can be asked for that.
int Configure(lua_State* L) {
  return luaL_error(L, "shoal.configure is for hosts; the program has options: shoal --help");
}

// shoal.compat(name, ...): here, the drop-ins answer to their plain names anyway.
int Compat(lua_State* L) {
  for (int i = 1; i <= lua_gettop(L); ++i) CheckDropIn(L, i);
  return 0;
}

}  // namespace

const PlainModule kPlainModules[4] = {{"socket", "socket.core", LoadSocketCore},
                                      {"socket", "socket.unix", LoadSocketUnix},
                                      {"lanes", "lanes", nullptr},
                                      {"luaproc", "luaproc", nullptr}};

const char* CheckDropIn(lua_State* L, int arg) {
  const char* const name = luaL_checkstring(L, arg);
  for (const PlainModule& module : kPlainModules) {
    if (std::strcmp(module.drop_in, name) == 0) return name;
  }
  luaL_argerror(
      L, arg,
      lua_pushfstring(L, "there is no drop-in '%s' (there are: socket, lanes, luaproc)", name));
  return nullptr;
}

void PreloadModules(lua_State* L, PlainNames plain) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, LoadSupervisor);
  lua_setfield(L, -2, "shoal.supervisor");
  PreloadDropIns(L, plain);
  lua_pushcfunction(L, LoadLindaCore);
  lua_setfield(L, -2, "shoal.lanes.core");
  lua_pop(L, 1);
}

int LoadShoal(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"spawn", Spawn},         {"spawn_file", SpawnFile}, {"self", Self},
      {"process", FindProcess}, {"processes", Processes},  {"wait", WaitForAll},
      {"channel", NewChannel},  {"buffer", NewBuffer},     {"select", Select},
      {"after", After},         {"every", Every},          {"task", NewTask},
      {"sleep", Sleep},         {"yield", Yield},          {"now", Now},
      {"shield", Shield},       {"blocking", Blocking},    {"group", NewGroup},
      {"type", Type},           {"pool", MakePool},        {"map", Map},
      {"imap", IMap},           {"workers", Workers},      {"configure", Configure},
      {"compat", Compat},       {nullptr, nullptr}};
  luaL_newlib(L, kFunctions);
  PushCancelled(L);
  lua_setfield(L, -2, "cancelled");
  PushTimeout(L);
  lua_setfield(L, -2, "timeout");
  lua_pushstring(L, kVersion);
  lua_setfield(L, -2, "_VERSION");
  return 1;
}

void ShoalLibrary::Open(lua_State* L, core::LibrarySet libraries) const {
  if ((libraries & core::kLibOs) != 0) {
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_pushcfunction(L, Exit);
    lua_setfield(L, -2, "exit");
    lua_pop(L, 1);
  }
  if ((libraries & core::kLibShoal) != 0) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, LoadShoal);
    lua_setfield(L, -2, "shoal");
    lua_pop(L, 1);
    PreloadModules(L, PlainNames::kYes);
  }
  if ((libraries & core::kLibSocket) != 0) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    for (const PlainModule& module : kPlainModules) {
      if (module.load == nullptr) continue;
      lua_pushcfunction(L, module.load);
      lua_setfield(L, -2, module.name);
    }
    lua_pop(L, 1);
  }
}

core::RefCounted* ShoalLibrary::ToReference(lua_State* L, int index) const {
  if (core::RefCounted* const handle = bindings::ToReference(L, index)) return handle;
  if (core::Buffer* const buffer = ToBuffer(L, index)) return buffer;
  if (Linda* const linda = ToLinda(L, index)) return linda;
  return PackSocket(L, index);
}

void ShoalLibrary::PushReference(lua_State* L, core::RefCounted* object) const {
  if (object->kind() == core::RefCounted::Kind::kSocket) return PushPackedSocket(L, object);
  if (object->kind() == core::RefCounted::Kind::kLinda) {
    return PushLinda(L, static_cast<Linda&>(*object));
  }
  if (object->kind() == core::RefCounted::Kind::kAnswer) {
    return PushAnswer(L, static_cast<core::Answer&>(*object));
  }
  if (object->kind() == core::RefCounted::Kind::kBuffer) {
    return PushBuffer(L, static_cast<core::Buffer&>(*object));
  }
  bindings::PushReference(L, object);
}

bool ShoalLibrary::PushTransfer(lua_State* L) const { return PushConversion(L); }

void ShoalLibrary::PushCancelled(lua_State* L) const { bindings::PushCancelled(L); }

}  // namespace shoal::bindings
