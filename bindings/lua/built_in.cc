// SPDX-License-Identifier: MIT
#include "bindings/lua/built_in.h"

#include <cstring>

#include "bindings/lua/answer_library.h"
#include "bindings/lua/call_library.h"
#include "bindings/lua/channel_library.h"
#include "bindings/lua/handles.h"
#include "bindings/lua/monitor_library.h"
#include "bindings/lua/pool_library.h"
#include "bindings/lua/process_library.h"
#include "bindings/lua/shoal_library.h"
#include "bindings/lua/task_library.h"

namespace shoal::bindings {

namespace {

int RunPart(lua_State* L);

const BuiltIn& ChunkOf(lua_State* L, const char* name) {
  const BuiltIn* chunk = kBuiltIns;
  while (chunk->name != nullptr && std::strcmp(chunk->name, name) != 0) ++chunk;
  if (chunk->name == nullptr) luaL_error(L, "shoal.%s is not built in", name);
  return *chunk;
}

// Sets the field of that name of the table on top to the library: that of the process, or one for
// the chunk alone, if the process has none. [-0, +0, m]
void AddLibrary(lua_State* L, const char* name, lua_CFunction open) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, name) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_pushcfunction(L, open);
    lua_call(L, 0, 1);
  }
  lua_setfield(L, -3, name);
  lua_pop(L, 1);
}

// [-0, +0, m]
void AddLibraries(lua_State* L) {
  AddLibrary(L, LUA_MATHLIBNAME, luaopen_math);
  AddLibrary(L, LUA_TABLIBNAME, luaopen_table);
  // This one gives strings methods, too.
  lua_pushliteral(L, "");
  const bool has_methods = lua_getmetatable(L, -1) != 0;
  lua_settop(L, has_methods ? -3 : -2);
  AddLibrary(L, LUA_STRLIBNAME, luaopen_string);
  if (has_methods) return;
  lua_pushliteral(L, "");
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

// Runs the chunk, which returns one value. [-0, +1, e]
void RunBuiltIn(lua_State* L, const BuiltIn& chunk) {
  static const luaL_Reg kFunctions[] = {{"spawn", Spawn},
                                        {"spawn_file", SpawnFile},
                                        {"self", Self},
                                        {"channel", NewChannel},
                                        {"task", NewTask},
                                        {"now", Now},
                                        {"yield", Yield},
                                        {"wait", WaitForAll},
                                        {"shield", Shield},
                                        {"watch", WatchMember},
                                        {"take", TakeMember},
                                        {"part", RunPart},
                                        {"type", Type},
                                        {"workers", Workers},
                                        {"check_options", CheckSpawnOptions},
                                        {"new_pool", NewPool},
                                        {"queue", PoolQueue},
                                        {"watch_starter", WatchStarter},
                                        {"end_pool", EndPool},
                                        {"new_call", NewCall},
                                        {"send_call", SendCall},
                                        {"watch_call", WatchCall},
                                        {"tracer", NewTracer},
                                        {"travels", CheckTravels},
                                        {nullptr, nullptr}};
  const char* chunk_name = lua_pushfstring(L, "=[shoal.%s]", chunk.name);
  if (luaL_loadbufferx(L, chunk.source, std::strlen(chunk.source), chunk_name, "t") != LUA_OK) {
    lua_error(L);
  }
  lua_remove(L, -2);
  luaL_newlib(L, kFunctions);
  AddLibraries(L);
  lua_call(L, 1, 1);
}

// The same at the first call in this state; after that, what it returned then. [-0, +1, e]
void PushOnce(lua_State* L, const char* name) {
  const BuiltIn& chunk = ChunkOf(L, name);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &chunk) != LUA_TNIL) return;
  lua_pop(L, 1);
  RunBuiltIn(L, chunk);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &chunk);
}

// part(name): what the chunk of that name returns. For modules of several files.
int RunPart(lua_State* L) {
  PushOnce(L, luaL_checkstring(L, 1));
  return 1;
}

}  // namespace

int NewGroup(lua_State* L) {
  PushOnce(L, "group");
  lua_call(L, 0, 1);
  return 1;
}

namespace {

// The loader of all drop-ins. Upvalue: the name of the chunk.
int LoadDropIn(lua_State* L) {
  PushOnce(L, lua_tostring(L, lua_upvalueindex(1)));
  return 1;
}

}  // namespace

void PreloadDropIns(lua_State* L, PlainNames plain) {
  for (const DropIn& drop_in : kDropIns) {
    lua_pushstring(L, drop_in.chunk);
    lua_pushcclosure(L, LoadDropIn, 1);
    if (plain == PlainNames::kYes && drop_in.plain_name != nullptr) {
      lua_pushvalue(L, -1);
      lua_setfield(L, -3, drop_in.plain_name);
    }
    lua_setfield(L, -2, drop_in.name);
  }
}

int LoadSupervisor(lua_State* L) {
  RunBuiltIn(L, ChunkOf(L, "supervisor"));
  return 1;
}

namespace {
int CallDone(lua_State* L, int, lua_KContext) { return lua_gettop(L); }
}  // namespace

int CallBuiltIn(lua_State* L, const char* chunk, const char* function) {
  const int arguments = lua_gettop(L);
  PushOnce(L, chunk);
  lua_getfield(L, -1, function);
  lua_insert(L, 1);
  lua_settop(L, arguments + 1);
  lua_callk(L, arguments, LUA_MULTRET, 0, CallDone);
  return CallDone(L, LUA_OK, 0);
}

}  // namespace shoal::bindings
