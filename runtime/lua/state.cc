// SPDX-License-Identifier: MIT
#include "runtime/lua/state.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/lua/child_programs.h"
#include "runtime/lua/codec.h"
#include "runtime/lua/coroutine.h"
#include "runtime/lua/debug_hook.h"
#include "runtime/lua/hook.h"
#include "runtime/lua/output.h"
#include "runtime/lua/protected_call.h"
#include "runtime/lua/require.h"
#include "runtime/lua/state_image.h"

namespace shoal::core {
namespace {

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

LibrarySet LibraryOf(const char* name) {
  for (const Library& library : kLibraries) {
    if (std::strcmp(library.name, name) == 0) return library.bit;
  }
  return 0;
}

lua_State* NewState(Allocator* allocator, StateRecord* record) {
  return NewStateWith(AllocateBlock, allocator, record);
}

lua_State* NewStateWith(lua_Alloc function, Allocator* allocator, StateRecord* record) {
  lua_State* const L = lua_newstate(function, allocator);
  if (L == nullptr) return nullptr;
  lua_atpanic(L, Panic);
  lua_setwarnf(L, WarnOff, L);
  SetMain(L, record);
  return L;
}

void SetMain(lua_State* main, StateRecord* record) {
  record->main = main;
  record->task = main;
  record->current = main;
  SetRecord(main, record);
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

void CloseState(lua_State* L, int list) {
  StateRecord& record = RecordOf(L);
  Allocator* const allocator = AllocatorOf(L);
  record.is_closing = true;
  if (record.image == nullptr || !record.image->Drop(L, list)) {
    lua_close(L);
    allocator->cache.Drop();
    if (record.image != nullptr) record.image->FreeSlot(*allocator, list);
  }
  FreeSavedHooks(record);
  FreeCodecScratch(record.codec_scratch);
  record.codec_scratch = nullptr;
  record.loads = nullptr;
}

}  // namespace shoal::core
