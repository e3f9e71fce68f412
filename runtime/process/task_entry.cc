// SPDX-License-Identifier: MIT
#include "runtime/process/task_entry.h"

#include <algorithm>
#include <string_view>

#include "runtime/base/enough_memory.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/traceback.h"
#include "runtime/process/exit_notice.h"

namespace shoal::core {

namespace {

// The messages of SpawnOptions in the order in which they are taken in.
constexpr lua_KContext kPreload = 0;
constexpr lua_KContext kGlobals = 1;
constexpr lua_KContext kBody = 2;
constexpr lua_KContext kArguments = 3;
constexpr lua_KContext kStages = 4;

// The error that Lua raises.
constexpr char kNoMemory[] = "not enough memory";

// [-1, +0, m]: sets all pairs of the table on top in the table at `target`.
void CopyPairs(lua_State* L, int target) {
  target = lua_absindex(L, target);
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, target);
  }
  lua_pop(L, 1);
}

// [-0, +1, m]: the table of a loaded library, or nil.
void PushLibrary(lua_State* L, const char* name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

void SetPaths(lua_State* L, const SearchPaths& paths) {
  PushLibrary(L, LUA_LOADLIBNAME);
  if (lua_istable(L, -1)) {
    lua_pushlstring(L, paths.path.data(), paths.path.size());
    lua_setfield(L, -2, "path");
    lua_pushlstring(L, paths.cpath.data(), paths.cpath.size());
    lua_setfield(L, -2, "cpath");
  }
  lua_pop(L, 1);
}

void SetSeed(lua_State* L, Process& process) {
  PushLibrary(L, LUA_MATHLIBNAME);
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "randomseed");
    if (process.options().seed) {
      lua_pushinteger(L, *process.options().seed);
      lua_call(L, 1, 0);
    } else {
      lua_pushinteger(L, static_cast<lua_Integer>(process.machine().next_seed.fetch_add(1)));
      lua_pushinteger(L, static_cast<lua_Integer>(process.id()));
      lua_call(L, 2, 0);
    }
  }
  lua_pop(L, 1);
}

int ToText(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING && luaL_callmeta(L, 1, "__tostring") == 0) {
    lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  return 1;
}

}  // namespace

int TaskEntry::PushBody(lua_State* L) {
  lua_pushcfunction(L, RunBody);
  return 0;
}

void TaskEntry::PushTask(lua_State* thread) { lua_pushcfunction(thread, RunTask); }

int TaskEntry::RunTask(lua_State* L) {
  PushTracebackHandler(L, &Process::Of(L).current_task().traceback_);
  lua_insert(L, 1);
  const int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, 0, TaskDone);
  return TaskDone(L, status, 0);
}

int TaskEntry::TaskDone(lua_State* L, int status, lua_KContext) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - 1;
  Process::Of(L).current_task().failed_ = true;
  return 1;
}

int TaskEntry::RunBody(lua_State* L) {
  Process& process = Process::Of(L);
  if (process.record().image == nullptr) {
    // Nothing of what is made here is garbage.
    lua_gc(L, LUA_GCSTOP);
    OpenLibraries(L, process.libraries());
    process.machine().library.Open(L, process.libraries());
    lua_gc(L, LUA_GCRESTART);
  }
  process.machine().library.Add(L);
  lua_settop(L, 0);
  if (process.options().generational) lua_gc(L, LUA_GCGEN, 0, 0);
  SetSeed(L, process);
  if (process.machine().warnings_on.load(std::memory_order_relaxed)) lua_warning(L, "@on", 0);
  if (process.options().paths) SetPaths(L, *process.options().paths);
  if (process.options().main != nullptr) {
    process.begun_ = true;
    // In this frame: one more would be seen in tracebacks.
    lua_pushlightuserdata(L, process.options().main_context);
    return process.options().main(L);
  }
  return LoadModules(L, LUA_OK, kPreload);
}

const Message* TaskEntry::MessageOf(const SpawnOptions& options, lua_KContext stage) {
  switch (stage) {
    case kPreload:
      return options.preload.get();
    case kGlobals:
      return options.globals.get();
    case kBody:
      return options.body.get();
    case kArguments:
      return options.arguments.get();
    default:
      return nullptr;
  }
}

int TaskEntry::LoadModules(lua_State* L, int, lua_KContext stage) {
  Process& process = Process::Of(L);
  while (stage < kStages) {
    const lua_KContext now = stage++;
    const Message* message = MessageOf(process.options(), now);
    if (now == kBody && process.options().function != nullptr) {
      lua_pushcfunction(L, process.options().function);
    }
    if (message == nullptr) continue;
    if (NeedsModules(L, *message)) return RequireModules(L, *message, now, LoadModules);
    const int count = Decode(L, *message);
    if (now == kGlobals) {
      lua_pushglobaltable(L);
      lua_insert(L, -2);
      CopyPairs(L, -2);
      lua_pop(L, 1);
    } else if (now == kPreload) {
      luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
      lua_insert(L, -2);
      CopyPairs(L, -2);
      lua_pop(L, 1);
    }
    static_cast<void>(count);
  }
  // What was given is no longer needed: a process may run for long.
  process.options().preload.reset();
  process.options().globals.reset();
  process.options().body.reset();
  process.options().arguments.reset();
  process.begun_ = true;
  return RunTask(L);
}

void TaskEntry::KeepExit(Process& process) {
  lua_State* L = process.L_;
  Task& body = *process.body_;
  if (body.end_ == ExitKind::kCancelled) {
    const Ref<Failure> failure = process.end_request_.failure();
    if (!failure) return;
    static_cast<void>(EnoughMemory([&] {
      process.exit_text_ = failure->text();
      process.exit_traceback_ = failure->traceback();
    }));
    return KeepText(process);  // what ends a process by its link is a text
  }
  if (body.end_ == ExitKind::kDone) {
    lua_pushcfunction(L, EncodeResults);
    lua_insert(L, 1);
    if (lua_pcall(L, lua_gettop(L) - 1, 0, 0) == LUA_OK) return;
    // A result that cannot travel is the error of the process.
    body.end_ = ExitKind::kError;
  } else {
    // Without memory for it, there is none.
    static_cast<void>(EnoughMemory([&] { process.exit_traceback_ = body.traceback(); }));
  }
  process.exit_text_ = ErrorText(L);
  const Limits& limits = process.limits();
  if (!process.begun_ && limits.memory != Limits::kNoBytes && process.exit_text_ == kNoMemory) {
    process.exit_text_ = MemoryLimitTooSmall(limits.memory);
  } else {
    lua_pushcfunction(L, EncodeError);
    lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
  }
  // Where the error value cannot travel, its text can.
  KeepText(process);
}

void TaskEntry::KeepNoResults(lua_State* L) {
  if (lua_checkstack(L, 1) == 0) return;
  lua_pushcfunction(L, EncodeResults);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
}

void TaskEntry::KeepText(Process& process) {
  // As much of it as the limit allows, but not too little to be understood. If memory is too short
  // even for that, there is none.
  constexpr std::size_t kLeastText = 200;
  const std::size_t most = std::max(process.limits().of_message(), kLeastText);
  const auto text = std::string_view(process.exit_text_).substr(0, most);
  process.exit_message_ = MakeErrorNotice(process.id(), text);
}

int TaskEntry::EncodeError(lua_State* L) {
  // What a monitor sends: see exit_notice.h.
  lua_pushinteger(L, static_cast<lua_Integer>(Process::Of(L).id()));
  lua_pushstring(L, ToString(ExitKind::kError));
  lua_rotate(L, 1, 2);
  return EncodeResults(L);
}

int TaskEntry::EncodeResults(lua_State* L) {
  Process::Of(L).exit_message_.reset(Encode(L, 1, lua_gettop(L)));
  return 0;
}

std::string ErrorText(lua_State* L) {
  if (lua_checkstack(L, 4) == 0) return "(no stack for the error message)";
  lua_pushcfunction(L, ToText);
  lua_pushvalue(L, -2);
  // Memory may be what is short: then the text is that.
  static_cast<void>(lua_pcall(L, 1, 1, 0));
  std::size_t length = 0;
  const char* text = lua_tolstring(L, -1, &length);
  std::string result;
  // Without memory for the text, it is empty.
  static_cast<void>(EnoughMemory([&] {
    if (text == nullptr) {
      result = "(error in error handling)";
    } else {
      result.assign(text, length);
    }
  }));
  lua_pop(L, 1);
  return result;
}

}  // namespace shoal::core
