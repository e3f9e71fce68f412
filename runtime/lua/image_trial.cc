// SPDX-License-Identifier: MIT
#include "runtime/lua/image_trial.h"

#include <cstdio>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "runtime/base/enough_memory.h"
#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

// The walk ----------------------------------------------------------------------------------------

// All that can be reached in a copy. What is still to be looked at stands on the Lua stack; Lua's
// errors pass by what is in here, whose owner is below the protected call.
struct Walk {
  const Allocator* allocator;
  lua_State* main;
  std::unordered_set<const void*> seen;
  std::vector<std::string> paths;  // of what stands on the Lua stack, above the argument
  std::string path;                // of what is being looked at
  std::string name;                // of what is found there
  std::string why;
};

// How a key is named in a path. [-0, +0, -]
std::string KeyText(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING:
      return std::string(".") + lua_tostring(L, index);
    case LUA_TNUMBER:
      return "[" + std::to_string(static_cast<long long>(lua_tonumber(L, index))) + "]";
    default:
      return std::string("[") + luaL_typename(L, index) + "]";
  }
}

// C++ that may throw, in a function that Lua calls.
template <class Work>
void Guarded(lua_State* L, Work&& work) {
  if (!EnoughMemory(work)) luaL_error(L, "not enough memory");
}

int Refuse(lua_State* L, Walk& walk, const char* what, const std::string& name) {
  Guarded(L, [&] { walk.why = what + (", in " + walk.path) + name; });
  return lua_error(L);
}

// The address of a function of C that has no upvalues stands in the program.
bool IsPlainFunction(lua_State* L, int index) {
  if (lua_iscfunction(L, index) == 0) return false;
  if (lua_getupvalue(L, index, 1) == nullptr) return true;
  lua_pop(L, 1);
  return false;
}

bool IsStandardStream(lua_State* L, int index) {
  const auto* const stream =
      static_cast<const luaL_Stream*>(luaL_testudata(L, index, LUA_FILEHANDLE));
  return stream != nullptr && (stream->f == stdin || stream->f == stdout || stream->f == stderr);
}

// What math.random keeps: four words, and no metatable.
bool IsChance(lua_State* L, int index) {
  constexpr std::size_t kSize = 32;
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != kSize) return false;
  if (lua_getmetatable(L, index) == 0) return true;
  lua_pop(L, 1);
  return false;
}

// Takes the value on top, which is found under `name`: refuses it; or leaves it on the stack, to be
// looked into; or pops it, if there is nothing in it. [-(0|1), +0, e]
void Meet(lua_State* L, Walk& walk, const std::string& name) {
  switch (lua_type(L, -1)) {
    case LUA_TTHREAD:
      if (lua_tothread(L, -1) != walk.main) Refuse(L, walk, "a coroutine", name);
      return lua_pop(L, 1);
    case LUA_TUSERDATA:
      if (IsChance(L, -1)) return lua_pop(L, 1);
      if (!IsStandardStream(L, -1)) Refuse(L, walk, "a userdata", name);
      break;
    case LUA_TFUNCTION:
      if (IsPlainFunction(L, -1)) return lua_pop(L, 1);
      break;
    case LUA_TTABLE:
      break;
    default:
      return lua_pop(L, 1);
  }
  bool is_new = false;
  Guarded(L, [&] {
    is_new = walk.seen.insert(lua_topointer(L, -1)).second;
    if (is_new) walk.paths.push_back(walk.path + name);
  });
  if (!is_new) return lua_pop(L, 1);
  luaL_checkstack(L, 8, nullptr);
}

// The same for a key of the table `walk.path`. [-0, +0, e]
void CheckKey(lua_State* L, Walk& walk, int index) {
  const int type = lua_type(L, index);
  const bool moves =
      type == LUA_TTABLE || type == LUA_TTHREAD || type == LUA_TUSERDATA ||
      (type == LUA_TFUNCTION && !IsPlainFunction(L, index)) ||
      (type == LUA_TLIGHTUSERDATA && walk.allocator->slot.Holds(lua_touserdata(L, index)));
  static const std::string kNothing;
  if (moves) Refuse(L, walk, "a table with a key whose place depends on its address", kNothing);
}

// Pushes what stands in the table, function or userdata at `from`, through Meet. [-0, +?, e]
void LookInto(lua_State* L, Walk& walk, int from) {
  static const std::string kMetatable = " (metatable)";
  static const std::string kUpvalue = " (upvalue)";
  static const std::string kUserValue = " (user value)";
  if (lua_getmetatable(L, from) != 0) Meet(L, walk, kMetatable);
  if (lua_type(L, from) == LUA_TFUNCTION) {
    for (int i = 1; lua_getupvalue(L, from, i) != nullptr; ++i) Meet(L, walk, kUpvalue);
    return;
  }
  if (lua_type(L, from) == LUA_TUSERDATA) {
    for (int i = 1; lua_getiuservalue(L, from, i) != LUA_TNONE; ++i) Meet(L, walk, kUserValue);
    return lua_pop(L, 1);
  }
  lua_pushnil(L);
  while (lua_next(L, from) != 0) {
    const int key = lua_absindex(L, -2);
    CheckKey(L, walk, key);
    Guarded(L, [&] { walk.name = KeyText(L, key); });
    Meet(L, walk, walk.name);
    // What is to be looked into stays below the key.
    if (lua_gettop(L) > key) lua_insert(L, key);
  }
}

// The argument is a Walk.
int WalkThrough(lua_State* L) {
  auto& walk = *static_cast<Walk*>(lua_touserdata(L, 1));
  static const std::string kRegistry = "registry";
  static const std::string kTypes = "the metatable of a type";
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  Meet(L, walk, kRegistry);
  // The types that have one for all their values.
  const auto meet_type = [&] {
    if (lua_getmetatable(L, -1) == 0) return lua_pop(L, 1);
    lua_remove(L, -2);
    Meet(L, walk, kTypes);
  };
  lua_pushliteral(L, "");
  meet_type();
  lua_pushinteger(L, 0);
  meet_type();
  lua_pushboolean(L, 0);
  meet_type();
  lua_pushnil(L);
  meet_type();
  lua_pushcfunction(L, WalkThrough);
  meet_type();
  lua_pushlightuserdata(L, &walk);
  meet_type();
  lua_pushthread(L);
  meet_type();
  while (!walk.paths.empty()) {
    walk.path.swap(walk.paths.back());
    walk.paths.pop_back();
    const int top = lua_gettop(L);
    LookInto(L, walk, top);
    lua_remove(L, top);
  }
  return 0;
}

// The trial ---------------------------------------------------------------------------------------

// Walks through all globals by their keys, makes garbage and collects it, and does so again. Uses
// nothing that a state may lack.
constexpr char kTrial[] = R"lua(
  local function look()
    local seen, count, size = {}, 0, 0
    local function walk(t)
      if seen[t] then return end
      seen[t] = true
      for k, v in next, t do
        count = count + 1
        if type(k) == "string" then size = size + #k end
        if not rawequal(rawget(t, k), v) then error("a key is not found") end
        if type(v) == "table" then walk(v) end
        local mt = getmetatable(v)
        if type(mt) == "table" then walk(mt) end
      end
    end
    walk(_G)
    return count * 100000 + size
  end
  local before = look()
  local kept = {}
  for i = 1, 100 do
    kept[i] = setmetatable({ i, tostring(i) .. "x" }, { __index = function(_, k) return k end })
    local garbage = { i, { i }, "y" .. i }
  end
  collectgarbage()
  collectgarbage()
  assert(pcall(error) == false and kept[50].z == "z" and kept[100][2] == "100x")
  collectgarbage("generational")
  for i = 1, 100 do kept[i] = { i } end
  collectgarbage("incremental")
  kept = nil
  collectgarbage()
  assert(look() == before)
  return before
)lua";

int RunTrial(lua_State* L) {
  if (luaL_loadbufferx(L, kTrial, sizeof kTrial - 1, "=trial", "t") != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  return 1;
}

struct Opening {
  StateImage::Open open;
  void* context;
};

int OpenAndTry(lua_State* L) {
  const auto& opening = *static_cast<const Opening*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  opening.open(L, opening.context);
  lua_settop(L, 0);
  return RunTrial(L);
}

// Calls the function, with `argument`, in a protected call. Its result as an integer.
bool Call(lua_State* L, lua_CFunction function, void* argument, lua_Integer* result,
          std::string* why) {
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, argument);
  const bool done = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (done) {
    *result = lua_tointeger(L, -1);
  } else if (const char* const text = lua_tostring(L, -1)) {
    *why = text;
  }
  lua_pop(L, 1);
  return done;
}

// One state with what goes with it.
struct Subject {
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject() {
    if (main != nullptr) CloseState(main);
  }

  Allocator allocator;
  StateRecord record;
  lua_State* main = nullptr;
};

}  // namespace

bool CheckImage(const StateImage& image, std::string* why) {
  Subject copy;
  copy.main = image.Copy(&copy.allocator, &copy.record, 0);
  if (copy.main == nullptr) {
    *why = "not enough memory";
    return false;
  }
  Walk walk{&copy.allocator, copy.main, {}, {}, {}, {}, {}};
  lua_Integer none = 0;
  if (Call(copy.main, WalkThrough, &walk, &none, why)) return true;
  if (!walk.why.empty()) *why = walk.why;
  return false;
}

bool TryImage(const StateImage& image, StateImage::Open open, void* context, std::string* why) {
  lua_Integer of_copy = 0;
  lua_Integer of_ordinary = 0;
  {
    Subject copy;
    copy.main = image.Copy(&copy.allocator, &copy.record, 0);
    if (copy.main != nullptr && !Call(copy.main, RunTrial, nullptr, &of_copy, why)) return false;
  }
  {
    Subject ordinary;
    ordinary.main = NewState(&ordinary.allocator, &ordinary.record);
    Opening opening{open, context};
    if (ordinary.main != nullptr && !Call(ordinary.main, OpenAndTry, &opening, &of_ordinary, why)) {
      return false;
    }
  }
  if (of_copy == of_ordinary) return true;
  *why = "a copy has other globals than a state that was opened";
  return false;
}

}  // namespace shoal::core
