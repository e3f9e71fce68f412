// SPDX-License-Identifier: MIT
#include "runtime/lua/finalizer_layout.h"

#include <cstdlib>
#include <cstring>

namespace shoal::core {
namespace {

constexpr std::size_t kWord = sizeof(std::uintptr_t);
constexpr std::size_t kNowhere = SIZE_MAX;

// One look at a state.
struct Look {
  char* first_block = nullptr;  // the first that the state has asked for
  std::size_t first_size = 0;
  lua_State* main = nullptr;
  // Of two tables with finalizers, the second is the first whose finalizer is called.
  std::uintptr_t first_table = 0;
  std::size_t newest = kNowhere;
  std::size_t due = kNowhere;
  int called = 0;
  bool failed = false;

  // Where in the first block the only word of that value stands; kNowhere: there are none, or more.
  [[nodiscard]] std::size_t OffsetOf(std::uintptr_t value) const {
    std::size_t found = kNowhere;
    for (std::size_t at = 0; at + kWord <= first_size; at += kWord) {
      std::uintptr_t word = 0;
      std::memcpy(&word, first_block + at, kWord);
      if (word != value) continue;
      if (found != kNowhere) return kNowhere;
      found = at;
    }
    return found;
  }
};

void* Allocate(void* context, void* block, std::size_t /*old_size*/, std::size_t new_size) {
  auto& look = *static_cast<Look*>(context);
  if (new_size == 0) {
    std::free(block);
    return nullptr;
  }
  if (look.first_block != nullptr) return std::realloc(block, new_size);
  look.first_block = static_cast<char*>(std::calloc(1, new_size));
  look.first_size = look.first_block != nullptr ? new_size : 0;
  return look.first_block;
}

// __gc. Upvalue: the Look.
int Finalize(lua_State* L) {
  auto& look = *static_cast<Look*>(lua_touserdata(L, lua_upvalueindex(1)));
  if (++look.called == 1) {
    look.due = look.OffsetOf(look.first_table);
    look.failed |= reinterpret_cast<std::uintptr_t>(lua_topointer(L, 1)) == look.first_table;
  }
  return 0;
}

// Pushes a table with a finalizer; its address. The metatable is at 1. [-0, +1, m]
std::uintptr_t PushTable(lua_State* L) {
  lua_createtable(L, 0, 0);
  lua_pushvalue(L, 1);
  lua_setmetatable(L, -2);
  return reinterpret_cast<std::uintptr_t>(lua_topointer(L, -1));
}

// The argument is the Look.
int Observe(lua_State* L) {
  auto& look = *static_cast<Look*>(lua_touserdata(L, 1));
  lua_createtable(L, 0, 1);
  lua_pushlightuserdata(L, &look);
  lua_pushcclosure(L, Finalize, 1);
  lua_setfield(L, -2, "__gc");
  lua_replace(L, 1);

  look.first_table = PushTable(L);
  look.newest = look.OffsetOf(look.first_table);
  const std::uintptr_t second = PushTable(L);
  look.failed |= look.newest == kNowhere || look.OffsetOf(second) != look.newest;
  lua_settop(L, 1);
  lua_gc(L, LUA_GCCOLLECT);
  return 0;
}

}  // namespace

std::optional<FinalizerLayout> FinalizerLayout::Find() {
  Look look;
  look.main = lua_newstate(Allocate, &look);
  if (look.main == nullptr) return std::nullopt;
  lua_gc(look.main, LUA_GCSTOP);
  lua_pushcfunction(look.main, Observe);
  lua_pushlightuserdata(look.main, &look);
  bool found = lua_pcall(look.main, 1, 0, 0) == LUA_OK && !look.failed && look.called == 2 &&
               look.due != kNowhere && look.due != look.newest;
  const auto main = static_cast<std::size_t>(reinterpret_cast<char*>(look.main) - look.first_block);
  if (found) {
    // Nothing has a finalizer any more.
    const FinalizerLayout layout(look.newest - main, look.due - main);
    found = layout.Newest(look.main) == 0 && !layout.AnyDue(look.main);
  }
  lua_close(look.main);
  if (!found) return std::nullopt;
  return FinalizerLayout(look.newest - main, look.due - main);
}

}  // namespace shoal::core
