// SPDX-License-Identifier: MIT
#include "runtime/lua/weak_table.h"

#include <catch2/catch.hpp>
#include <memory>

namespace shoal::core {
namespace {

TEST_CASE("a weak table is made once for each key, and keeps nothing") {
  const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), lua_close);
  lua_State* const L = state.get();
  const char one = 0;
  const char other = 0;
  PushWeakTable(L, &one, "v");
  PushWeakTable(L, &one, "v");
  PushWeakTable(L, &other, "k");
  CHECK(lua_rawequal(L, -2, -3) == 1);
  CHECK(lua_rawequal(L, -1, -2) == 0);
  lua_settop(L, 1);
  lua_newtable(L);
  lua_rawseti(L, 1, 1);
  lua_gc(L, LUA_GCCOLLECT);
  CHECK(lua_rawgeti(L, 1, 1) == LUA_TNIL);
}

}  // namespace
}  // namespace shoal::core
