// SPDX-License-Identifier: MIT
// StateRecord is what the runtime keeps for one lua_State: which coroutine runs, whether it may be
// suspended, and why it is being suspended. Every coroutine of a state that we made reaches it
// through its extra space (a new thread inherits the main thread's); see host_states.h for others.
//
// How a wait suspends a task from inside user coroutines: the waiting C function sets `token` and
// yields; each of our coroutine functions on the way up sees the token and yields too, so that the
// whole chain stands still; at the bottom the process gets control. When the task is resumed, the
// same functions go down the chain again. User code sees none of it. (runtime/README.md)
//
// Threads: the thread that runs the process. Nobody else touches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/base/ref_counted.h"
#include "runtime/base/runtime_thread.h"
#include "runtime/lua/host_states.h"

namespace shoal::core {

class CodeCache;
class StateImage;

// Why a coroutine of ours yields.
enum class SwitchToken : std::uint8_t {
  kNone,   // the user's own coroutine.yield
  kWait,   // the task waits
  kYield,  // the task lets others go first
  kSlice,  // the process lets others go first; the same task goes on
};

enum class SliceEnd : std::uint8_t {
  kNo,
  kByItself,  // nobody has asked for it
  kAsked,
};

// What the process layer does for this one.
class StateHost {
 public:
  // Stands for the running task, to compare.
  virtual const void* CurrentTask() = 0;
  // Suspends the running task until LoadsChanged, then calls k(L, LUA_YIELD, context). Used as
  // `return host->WaitForLoads(L, context, k)`.
  virtual int WaitForLoads(lua_State* L, lua_KContext context, lua_KFunction k) = 0;
  // Called first in `k`: ends that wait. May raise, when the task is being cancelled. [-0, +0, e]
  virtual void EndWaitForLoads(lua_State* /*L*/) {}
  // A module has been loaded, or has failed to: those who wait look again. Does not raise, and
  // may be called by the garbage collector.
  virtual void LoadsChanged() = 0;

  // Slices, see slice.h. Whether the running code is to make way, where the hook stays armed.
  virtual SliceEnd SliceIsOver() { return SliceEnd::kNo; }
  // It does so now: who asked for that need not ask again, until it goes on.
  virtual void HasMadeWay() {}
  // Before it does, if that was asked for: what else has been asked of the process. May raise, as a
  // cancel does. [-0, +0, e]
  virtual void TakeRequests(lua_State* /*L*/) {}
  // Lets others have the thread's seat, in a frame that cannot be suspended.
  virtual void GiveWay() {}
  // Pushes the value that a cancelled task raises. [-0, +1, m]
  virtual void PushCancelled(lua_State* L) { lua_pushnil(L); }

  // The code of files that others have loaded; nullptr: none is kept.
  virtual CodeCache* code_cache() { return nullptr; }

  // Handles. The object for which the value at `index` stands, or nullptr. Not counted.
  virtual RefCounted* ToReference(lua_State* L, int index) = 0;
  // Pushes a handle of `object`: the same value for the same object. [-0, +1, m]
  virtual void PushReference(lua_State* L, RefCounted* object) = 0;

  // The metatable of a table that is to be sent is on the top, and has no __transfer: pushes what
  // is called in its place; or nothing, and returns false. Asks for no memory. [-0, +?, -]
  virtual bool PushTransfer(lua_State* /*L*/) { return false; }

 protected:
  ~StateHost() = default;
};

struct StateRecord {
  const StateImage* image = nullptr;  // of which the state is a copy
  lua_State* main = nullptr;          // the main thread of the state
  lua_State* task = nullptr;     // the base coroutine of the running task (`main` for the body)
  lua_State* current = nullptr;  // the innermost coroutine that the runtime made run
  int barrier = 0;               // how many frames on the chain cannot yield (see CanSuspend)
  SwitchToken token = SwitchToken::kNone;
  // The running code is to make way. Set by a signal handler on this thread, too.
  volatile bool slice_is_over = false;
  int hook_period = 0;  // the slice hook stays armed, for each so many instructions; 0: it does not
  // How often `cancelled` has been raised in the running task. A protected call passes on what is
  // raised in it if that has happened since it began; what it calls in cleanup code, it catches.
  std::uint32_t unwinding = 0;
  std::size_t message_limit = SIZE_MAX;  // bytes of a message that is encoded; larger ones raise
  StateHost* host = nullptr;
  // A host state before its first use: starts the runtime and returns the host, or raises.
  StateHost* (*start)(lua_State* L, StateRecord& record) = nullptr;
  void* codec_scratch = nullptr;  // the codec's, freed by CloseState
  void* loads = nullptr;          // require.cc's: the calls of `require` that are under way
  // Handles that have been made and not collected, and whether the state is being closed, in which
  // none can be made: it would not be collected. (Nobody tells when a host closes its state.)
  int handles = 0;
  bool is_closing = false;
  // outside_memory.cc's, in bytes; what it has to grow to before garbage is collected for it, 0:
  // not known yet.
  std::size_t outside_memory = 0;
  std::size_t collect_outside_at = 0;
  void* raises = nullptr;  // hook.cc's: hooks to restore, freed by CloseState
};

// Whether `L` may be of a host. In a program that has no hosts, this costs a load.
inline bool IsHostState() { return HostStates::Exist() && !RuntimeThread::IsCurrent(); }

// The low bit of the extra space marks a coroutine that stands on the chain of a suspended task.
inline StateRecord& RecordOf(lua_State* L) {
  if (IsHostState()) [[unlikely]]
    return HostStates::Find(L);
  const auto word = *static_cast<std::uintptr_t*>(lua_getextraspace(L));
  return *reinterpret_cast<StateRecord*>(word & ~std::uintptr_t{1});
}
inline void SetRecord(lua_State* L, StateRecord* record) {
  *static_cast<StateRecord**>(lua_getextraspace(L)) = record;
}
// In a host, coroutines are resumed by the stock functions, which no token passes: none is marked.
inline bool OnSuspendedChain(lua_State* L) {
  if (IsHostState()) [[unlikely]]
    return false;
  return (*static_cast<std::uintptr_t*>(lua_getextraspace(L)) & 1) != 0;
}
// The main thread is never marked, as new coroutines get a copy of its extra space; it counts as
// "normal" for all others anyway.
inline void MarkSuspendedChain(lua_State* L, bool suspended) {
  if (IsHostState()) [[unlikely]]
    return;
  if (L == RecordOf(L).main) return;
  auto& word = *static_cast<std::uintptr_t*>(lua_getextraspace(L));
  word = (word & ~std::uintptr_t{1}) | (suspended ? 1U : 0U);
}

// The StateHost of a state in which Lua code runs. Of a host, its first use starts the runtime.
// Raises if the state has none (any more). [-0, +0, e]
StateHost& StartHost(lua_State* L, StateRecord& record);
inline StateHost& HostOf(lua_State* L) {
  StateRecord& record = RecordOf(L);
  return record.host != nullptr ? *record.host : StartHost(L, record);
}

// True if a call in the coroutine `co` of the task with that base can go on by itself: it runs, or
// waits with the task. Not if it was left by a yield of the user's, or an error.
inline bool StandsInTask(lua_State* co, lua_State* base) {
  switch (lua_status(co)) {
    case LUA_OK: {
      lua_Debug frame;
      return lua_getstack(co, 0, &frame) != 0;
    }
    case LUA_YIELD:
      return OnSuspendedChain(co) || co == base;
    default:
      return false;
  }
}

// True if the whole chain from `L` down to the task can yield: L runs because the runtime resumed
// it (not foreign C code), no frame below is one in which Lua cannot yield, and L itself can.
inline bool CanSuspend(lua_State* L, const StateRecord& record) {
  return record.current == L && record.barrier == 0 && lua_isyieldable(L) != 0;
}

}  // namespace shoal::core
