// SPDX-License-Identifier: MIT
#include "runtime/lua/state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/lua/arena.h"
#include "runtime/lua/child_programs.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/coroutine.h"
#include "runtime/lua/debug_hook.h"
#include "runtime/lua/hook.h"
#include "runtime/lua/output.h"
#include "runtime/lua/protected_call.h"
#include "runtime/lua/require.h"

namespace shoal::core {
namespace {

// Memory ------------------------------------------------------------------------------------------

// No exchange: the thread that runs the state is the only one that writes.
void SetUsed(Allocator& allocator, std::size_t used) {
  allocator.used.store(used, std::memory_order_relaxed);
}

// Whether the state may have `wanted` bytes, which is beyond one of the two bounds.
bool MayGrow(Allocator& allocator, std::size_t wanted, bool is_object) {
  if (allocator.is_collecting) {
    // The second try: an emergency collection allocates nothing itself.
    allocator.is_collecting = false;
    allocator.CollectInTime();
  } else if (is_object && allocator.collect_at != SIZE_MAX) {
    allocator.is_collecting = true;
    allocator.collect_at = 0;  // the next one comes here, too
    return false;
  }
  if (wanted <= allocator.limit) return true;
  // The error that follows makes garbage of what has grown so large: the next object collects.
  allocator.collect_at = allocator.limit / 2;
  return false;
}

// The cache holds at most so much of what the state uses.
constexpr std::size_t kCacheShare = 4;

// Makes a block, or moves one. The sizes are those that Lua asked for, none is 0 but the old one of
// a new block.
void* Resize(Allocator& allocator, void* block, std::size_t old_size, std::size_t new_size) {
  if (allocator.arena != nullptr) return allocator.arena->Allocate(block, old_size, new_size);
  if (block == nullptr) return allocator.cache.Take(new_size);
  const std::size_t room = BlockCache::Rounded(new_size);
  return room == BlockCache::Rounded(old_size) ? block : std::realloc(block, room);
}

// Without memory, what the cache holds is given back for a second try.
[[gnu::noinline]] void* ResizeAgain(Allocator& allocator, void* block, std::size_t old_size,
                                    std::size_t new_size) {
  if (allocator.cache.bytes() == 0) return nullptr;
  allocator.cache.Drop();
  return Resize(allocator, block, old_size, new_size);
}

[[gnu::noinline]] void* Reallocate(Allocator& allocator, void* block, std::size_t old_size,
                                   std::size_t new_size) {
  const std::size_t used = allocator.used.load(std::memory_order_relaxed);
  const std::size_t wanted = used - old_size + new_size;
  if (new_size > old_size && (wanted > allocator.limit || wanted > allocator.collect_at) &&
      !MayGrow(allocator, wanted, false)) {
    return nullptr;
  }
  void* result = Resize(allocator, block, old_size, new_size);
  if (result == nullptr) result = ResizeAgain(allocator, block, old_size, new_size);
  if (result == nullptr) {
    if (new_size > old_size) return nullptr;
    // Lua relies on it that shrinking succeeds. The block goes on being counted as Lua sees it.
    result = block;
  }
  SetUsed(allocator, wanted);
  return result;
}

// Without a block, the old size tells what kind of object is made; 0 is none, as buffers.
void* Allocate(void* context, void* block, std::size_t old_size, std::size_t new_size) {
  auto& allocator = *static_cast<Allocator*>(context);
  const std::size_t used = allocator.used.load(std::memory_order_relaxed);
  if (block == nullptr) {
    if (new_size == 0) return nullptr;
    const std::size_t wanted = used + new_size;
    if ((wanted > allocator.limit || wanted > allocator.collect_at) &&
        !MayGrow(allocator, wanted, old_size != 0)) {
      return nullptr;
    }
    void* result = allocator.arena == nullptr ? allocator.cache.Take(new_size)
                                              : allocator.arena->Allocate(nullptr, 0, new_size);
    if (result == nullptr) result = ResizeAgain(allocator, nullptr, 0, new_size);
    if (result != nullptr) SetUsed(allocator, wanted);
    return result;
  }
  if (new_size != 0) return Reallocate(allocator, block, old_size, new_size);
  SetUsed(allocator, used - old_size);
  if (allocator.arena != nullptr) {
    allocator.arena->Free(block, old_size);
  } else {
    allocator.cache.Keep(block, old_size, used / kCacheShare);
  }
  return nullptr;
}

// Warnings and panics -----------------------------------------------------------------------------

// The three states of the warning system: off, at the start of a message, inside a message.
void WarnOff(void* context, const char* text, int to_continue);
void WarnOn(void* context, const char* text, int to_continue);
void WarnInside(void* context, const char* text, int to_continue);

// True if the piece is a message of its own that starts with "@"; obeys it if it is known.
bool ObeyControl(lua_State* L, const char* text, int to_continue) {
  if (to_continue != 0 || text[0] != '@') return false;
  if (std::strcmp(text, "@off") == 0) lua_setwarnf(L, WarnOff, L);
  if (std::strcmp(text, "@on") == 0) lua_setwarnf(L, WarnOn, L);
  return true;
}

void WarnOff(void* context, const char* text, int to_continue) {
  ObeyControl(static_cast<lua_State*>(context), text, to_continue);
}

void WarnOn(void* context, const char* text, int to_continue) {
  if (ObeyControl(static_cast<lua_State*>(context), text, to_continue)) return;
  std::fputs("Lua warning: ", stderr);
  WarnInside(context, text, to_continue);
}

void WarnInside(void* context, const char* text, int to_continue) {
  auto* const L = static_cast<lua_State*>(context);
  std::fputs(text, stderr);
  if (to_continue == 0) std::fputc('\n', stderr);
  std::fflush(stderr);
  lua_setwarnf(L, to_continue != 0 ? WarnInside : WarnOn, L);
}

int Panic(lua_State* L) {
  const char* message = lua_tostring(L, -1);
  if (message == nullptr) message = "error object is not a string";
  std::fprintf(stderr, "PANIC: unprotected error in call to Lua API (%s)\n", message);
  std::fflush(stderr);
  std::abort();
}

// Libraries ---------------------------------------------------------------------------------------

struct Library {
  LibrarySet bit;
  const char* name;
  lua_CFunction open;               // stock's
  void (*adapt)(lua_State* table);  // sets our functions in the table on top; nullptr if none
};

void AdaptIo(lua_State* table) {
  OpenWrite(table);
  OpenPopen(table);
}

// In the order in which stock opens them.
constexpr Library kLibraries[] = {
    {kLibPackage, LUA_LOADLIBNAME, luaopen_package, OpenRequire},
    {kLibCoroutine, LUA_COLIBNAME, luaopen_coroutine, OpenCoroutine},
    {kLibTable, LUA_TABLIBNAME, luaopen_table, nullptr},
    {kLibIo, LUA_IOLIBNAME, luaopen_io, AdaptIo},
    {kLibOs, LUA_OSLIBNAME, luaopen_os, OpenExecute},
    {kLibString, LUA_STRLIBNAME, luaopen_string, nullptr},
    {kLibMath, LUA_MATHLIBNAME, luaopen_math, nullptr},
    {kLibUtf8, LUA_UTF8LIBNAME, luaopen_utf8, nullptr},
    {kLibDebug, LUA_DBLIBNAME, luaopen_debug, OpenDebugHook},
    {kLibShoal, "shoal", nullptr, nullptr},  // by `require` alone
    {kLibSocket, "socket", nullptr, nullptr},
};

void OpenBase(lua_State* L) {
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  OpenProtectedCall(L);
  OpenPrint(L);
  lua_pop(L, 1);
}

}  // namespace

void Allocator::CollectInTime() {
  if (limit == SIZE_MAX) return;
  // Not for less than this, or near the limit there would be nothing but collections.
  const std::size_t least = limit / 16;
  const std::size_t now = used.load(std::memory_order_relaxed);
  const std::size_t room = limit > now ? limit - now : 0;
  collect_at = now + std::max(room / 2, least);
}

LibrarySet LibraryOf(const char* name) {
  for (const Library& library : kLibraries) {
    if (std::strcmp(library.name, name) == 0) return library.bit;
  }
  return 0;
}

lua_State* NewState(Allocator* allocator, StateRecord* record) {
  lua_State* const L = lua_newstate(Allocate, allocator);
  if (L == nullptr) return nullptr;
  lua_atpanic(L, Panic);
  lua_setwarnf(L, WarnOff, L);
  record->main = L;
  record->task = L;
  record->current = L;
  SetRecord(L, record);
  return L;
}

Allocator* AllocatorOf(lua_State* L) {
  void* allocator = nullptr;
  return lua_getallocf(L, &allocator) == Allocate ? static_cast<Allocator*>(allocator) : nullptr;
}

void OpenLibraries(lua_State* L, LibrarySet set) {
  OpenBase(L);
  for (const Library& library : kLibraries) {
    if ((set & library.bit) == 0 || library.open == nullptr) continue;
    luaL_requiref(L, library.name, library.open, 1);
    if (library.adapt != nullptr) library.adapt(L);
    lua_pop(L, 1);
  }
  if ((set & (kLibShoal | kLibSocket)) != 0 && (set & kLibPackage) == 0) OpenRequireOfPreloaded(L);
}

void CloseState(lua_State* L) {
  StateRecord& record = RecordOf(L);
  Allocator* const allocator = AllocatorOf(L);
  record.is_closing = true;
  lua_close(L);
  allocator->cache.Drop();
  FreeSavedHooks(record);
  FreeCodecScratch(record.codec_scratch);
  record.codec_scratch = nullptr;
  record.loads = nullptr;
}

}  // namespace shoal::core
