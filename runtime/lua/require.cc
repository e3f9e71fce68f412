// SPDX-License-Identifier: MIT
#include "runtime/lua/require.h"

#include <cstring>

#include "runtime/lua/code_cache.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// One call of `require` that did not find its module loaded. It is a userdata on the stack of the
// call, to be closed when the call ends in whatever way, and in the record's list meanwhile. If its
// coroutine is dropped without being closed, its finalizer does the same; its user value keeps the
// coroutine until then. The name stands behind the struct.
struct Load {
  Load* next;
  StateRecord* record;  // nullptr when it is no longer in the list
  lua_State* co;        // the coroutine of the call
  lua_State* base;      // the base coroutine of its task
  const void* task;
  bool is_waiting;  // for another's load of the same module

  [[nodiscard]] const char* name() const { return reinterpret_cast<const char*>(this + 1); }
  [[nodiscard]] char* name() { return reinterpret_cast<char*>(this + 1); }
};

constexpr const char* kLoadMetatable = "shoal.load";

Load* FirstLoad(const StateRecord& record) { return static_cast<Load*>(record.loads); }

// True if the call can still go on by itself: its coroutine runs, or waits with its task.
bool IsAlive(const Load& load) { return StandsInTask(load.co, load.base); }

// The call in which another task than `task` loads the module; nullptr if there is none.
const Load* FindLoader(const StateRecord& record, const char* name, const void* task) {
  for (const Load* load = FirstLoad(record); load != nullptr; load = load->next) {
    if (!load->is_waiting && load->task != task && std::strcmp(load->name(), name) == 0 &&
        IsAlive(*load)) {
      return load;
    }
  }
  return nullptr;
}

// The call in which `task` waits for a load; nullptr if there is none.
const Load* FindWait(const StateRecord& record, const void* task) {
  for (const Load* load = FirstLoad(record); load != nullptr; load = load->next) {
    if (load->is_waiting && load->task == task && IsAlive(*load)) return load;
  }
  return nullptr;
}

// True if `task` should wait for `loader`. Not if that waits for `task` in turn, over any number of
// other loads: then the modules require each other, and what happens is what happens in stock Lua.
// Nor if the wait could not end because the loader's frames are below ours on the C stack.
bool ShouldWait(lua_State* L, const StateRecord& record, const Load* loader, const void* task) {
  if (lua_status(loader->co) == LUA_OK && !CanSuspend(L, record)) return false;
  // A chain without a circle is no longer than the list.
  for (const Load* bound = FirstLoad(record); bound != nullptr; bound = bound->next) {
    const Load* const wait = FindWait(record, loader->task);
    if (wait == nullptr) return true;
    loader = FindLoader(record, wait->name(), wait->task);
    if (loader == nullptr) return true;  // it is about to be woken
    if (loader->task == task) return false;
  }
  return false;
}

// True if the task has as many loads under way, one in another, as stock Lua lets happen. There the
// C stack is the limit; here the frames of a load that has waited are no longer on it, so modules
// that require each other would go on for long.
bool IsTooDeep(const StateRecord& record, const void* task) {
  constexpr int kMaxDepth = 200;  // as LUAI_MAXCCALLS
  int depth = 0;
  for (const Load* load = FirstLoad(record); load != nullptr; load = load->next) {
    if (!load->is_waiting && load->task == task && IsAlive(*load)) ++depth;
  }
  return depth > kMaxDepth;
}

bool HasWaits(const StateRecord& record) {
  for (const Load* load = FirstLoad(record); load != nullptr; load = load->next) {
    if (load->is_waiting) return true;
  }
  return false;
}

// __close and __gc.
int EndLoad(lua_State* L) {
  auto* const load = static_cast<Load*>(lua_touserdata(L, 1));
  if (load == nullptr || load->record == nullptr) return 0;
  StateRecord& record = *load->record;
  Load* previous = nullptr;
  for (Load* other = FirstLoad(record); other != load; other = other->next) previous = other;
  if (previous == nullptr) {
    record.loads = load->next;
  } else {
    previous->next = load->next;
  }
  load->record = nullptr;
  if (record.host != nullptr && HasWaits(record)) record.host->LoadsChanged();
  return 0;
}

// Pushes a new Load, in the list. [-0, +1, m]
void PushLoad(lua_State* L, const char* name) {
  StateRecord& record = RecordOf(L);
  const std::size_t size = std::strlen(name) + 1;
  auto* const load = static_cast<Load*>(lua_newuserdatauv(L, sizeof(Load) + size, 1));
  load->record = nullptr;
  load->co = L;
  load->base = record.task;
  load->task = record.host != nullptr ? record.host->CurrentTask() : nullptr;
  load->is_waiting = false;
  std::memcpy(load->name(), name, size);
  lua_pushthread(L);
  lua_setiuservalue(L, -2, 1);
  if (luaL_getmetatable(L, kLoadMetatable) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, EndLoad);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, EndLoad);
    lua_setfield(L, -2, "__gc");
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, kLoadMetatable);
  }
  lua_setmetatable(L, -2);
  // From here on nothing raises until the caller has marked it as to be closed.
  load->next = FirstLoad(record);
  load->record = &record;
  record.loads = load;
}

// require -----------------------------------------------------------------------------------------

// The stack of a call. Above: the loader and its data, and what is being called.
constexpr int kName = 1;
constexpr int kLoaded = 2;
constexpr int kLoad = 3;
constexpr int kSearchers = 4;
constexpr int kMessage = 5;  // what the searchers said so far

// The module's loader has returned: ..., loader data, result.
int FinishLoad(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  const char* const name = lua_tostring(L, kName);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
  } else {
    lua_setfield(L, kLoaded, name);
  }
  if (lua_getfield(L, kLoaded, name) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, kLoaded, name);
  }
  ForgetModuleNames(L);
  lua_insert(L, -2);
  return 2;
}

// Asks the searchers until one has a loader, and calls that. Enters with the two results of the
// searcher at `position` on top.
int Search(lua_State* L, int /*status*/, lua_KContext position) {
  while (!lua_isfunction(L, -2)) {
    if (lua_isstring(L, -2)) {
      lua_pop(L, 1);
      lua_pushliteral(L, "\n\t");
      lua_insert(L, -2);
      lua_concat(L, 3);
    }
    lua_settop(L, kMessage);
    ++position;
    if (lua_rawgeti(L, kSearchers, position) == LUA_TNIL) {
      return luaL_error(L, "module '%s' not found:%s", lua_tostring(L, kName),
                        lua_tostring(L, kMessage));
    }
    lua_pushstring(L, lua_tostring(L, kName));
    lua_callk(L, 1, 2, position, Search);
  }
  lua_insert(L, -2);  // loader data, loader
  lua_pushvalue(L, kName);
  lua_pushvalue(L, -3);
  lua_callk(L, 2, 1, 0, FinishLoad);
  return FinishLoad(L, LUA_OK, 0);
}

// Finds out what to do about a module that was not loaded when `require` was called. Also the
// continuation of a wait for another task's load.
int BeginLoad(lua_State* L, int /*status*/, lua_KContext /*context*/) {
  lua_settop(L, kLoad);
  const char* const name = lua_tostring(L, kName);
  const StateRecord& record = RecordOf(L);
  auto* const load = static_cast<Load*>(lua_touserdata(L, kLoad));
  if (load->is_waiting) {
    load->is_waiting = false;
    record.host->EndWaitForLoads(L);
    lua_getfield(L, kLoaded, name);
    if (lua_toboolean(L, -1)) return 1;
    lua_pop(L, 1);
  }
  if (record.host != nullptr) {
    const Load* const loader = FindLoader(record, name, load->task);
    if (loader != nullptr && ShouldWait(L, record, loader, load->task)) {
      load->is_waiting = true;
      return record.host->WaitForLoads(L, 0, BeginLoad);
    }
  }
  if (IsTooDeep(record, load->task)) {
    lua_pushliteral(L, "C stack overflow");
    return lua_error(L);
  }
  if (lua_getfield(L, lua_upvalueindex(1), "searchers") != LUA_TTABLE) {
    return luaL_error(L, "'package.searchers' must be a table");
  }
  lua_pushliteral(L, "");
  lua_pushnil(L);  // as if a searcher before the first had found nothing
  lua_pushnil(L);
  return Search(L, LUA_OK, 0);
}

int Require(lua_State* L) {
  const char* const name = luaL_checkstring(L, kName);
  lua_settop(L, kName);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, kLoaded, name);
  if (lua_toboolean(L, -1)) return 1;
  lua_pop(L, 1);
  PushLoad(L, name);
  lua_toclose(L, kLoad);
  return BeginLoad(L, LUA_OK, 0);
}

// The one searcher of states without `package`.
int SearchPreloaded(lua_State* L) {
  const char* const name = luaL_checkstring(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  if (lua_getfield(L, -1, name) == LUA_TNIL) {
    lua_pushfstring(L, "no field package.preload['%s']", name);
    return 1;
  }
  lua_pushliteral(L, ":preload:");
  return 2;
}

// Files of Lua ----------------------------------------------------------------------------------

// package.searchers[2], as stock's, with the code that others have loaded. Upvalues: `package`, and
// its function searchpath.
int SearchFile(lua_State* L) {
  const char* const name = luaL_checkstring(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 1);
  lua_getfield(L, lua_upvalueindex(1), "path");
  if (lua_tostring(L, -1) == nullptr) {
    return luaL_error(L, "'package.path' must be a string");
  }
  lua_call(L, 2, 2);
  // Nothing, and the names of the files that there are not.
  if (lua_isnil(L, -2)) return 1;
  lua_pop(L, 1);
  const char* const file = lua_tostring(L, -1);
  const StateRecord& record = RecordOf(L);
  CodeCache* const cache = record.host != nullptr ? record.host->code_cache() : nullptr;
  const int status = cache != nullptr ? cache->Load(L, file) : luaL_loadfilex(L, file, nullptr);
  if (status != LUA_OK) {
    return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", name, file,
                      lua_tostring(L, -1));
  }
  lua_insert(L, -2);
  return 2;
}

// [-0, +0, m], with `package` on top.
void SetFileSearcher(lua_State* L) {
  if (lua_getfield(L, -1, "searchers") == LUA_TTABLE) {
    lua_pushvalue(L, -2);
    lua_getfield(L, -3, "searchpath");
    lua_pushcclosure(L, SearchFile, 2);
    lua_rawseti(L, -2, 2);
  }
  lua_pop(L, 1);
}

// With what has the searchers on top. [-0, +0, m]
void SetRequire(lua_State* L) {
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, Require, 1);
  lua_setglobal(L, "require");
}

}  // namespace

void OpenRequire(lua_State* L) {
  SetFileSearcher(L);
  SetRequire(L);
}

void OpenRequireOfPreloaded(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pop(L, 1);
  lua_createtable(L, 0, 1);  // stands for `package`
  lua_createtable(L, 1, 0);
  lua_pushcfunction(L, SearchPreloaded);
  lua_rawseti(L, -2, 1);
  lua_setfield(L, -2, "searchers");
  SetRequire(L);
  lua_pop(L, 1);
}

bool IsLoadingModule(lua_State* co) {
  for (const Load* load = FirstLoad(RecordOf(co)); load != nullptr; load = load->next) {
    if (load->co == co && !load->is_waiting) return true;
  }
  return false;
}

void LoadsMayHaveFailed(lua_State* L) {
  StateRecord& record = RecordOf(L);
  if (record.host != nullptr && HasWaits(record)) record.host->LoadsChanged();
}

}  // namespace shoal::core
