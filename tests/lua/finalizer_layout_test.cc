// SPDX-License-Identifier: MIT
#include "runtime/lua/finalizer_layout.h"

#include <catch2/catch.hpp>

namespace shoal::core {
namespace {

const FinalizerLayout* seen_by = nullptr;
bool was_due = false;

// __gc of one of two: the other one is due.
int Look(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  was_due = was_due || seen_by->AnyDue(lua_tothread(L, -1));
  return 0;
}

TEST_CASE("it is known which object with a finalizer is the newest, and whether one is due") {
  const std::optional<FinalizerLayout> layout = FinalizerLayout::Find();
  REQUIRE(layout);
  lua_State* const L = luaL_newstate();
  CHECK(layout->Newest(L) == 0);
  luaL_openlibs(L);
  const std::uintptr_t of_libraries = layout->Newest(L);
  CHECK(of_libraries != 0);
  REQUIRE(luaL_dostring(L, "t = {} for i = 1, 1000 do t[i] = setmetatable({}, {}) end") == LUA_OK);
  CHECK(layout->Newest(L) == of_libraries);
  lua_register(L, "look", Look);
  REQUIRE(luaL_dostring(L,
                        "x, y = {}, {} local mt = { __gc = look } "
                        "setmetatable(x, mt) setmetatable(y, mt) return y") == LUA_OK);
  CHECK(layout->Newest(L) == reinterpret_cast<std::uintptr_t>(lua_topointer(L, -1)));
  lua_settop(L, 0);
  CHECK_FALSE(layout->AnyDue(L));
  seen_by = &*layout;
  REQUIRE(luaL_dostring(L, "x, y = nil collectgarbage()") == LUA_OK);
  CHECK(was_due);
  CHECK_FALSE(layout->AnyDue(L));
  CHECK(layout->Newest(L) == of_libraries);
  // The same in the other mode of the collector.
  REQUIRE(luaL_dostring(L,
                        "collectgarbage('generational') x = setmetatable({}, { __gc = look }) "
                        "for i = 1, 1e4 do local t = {} end return x") == LUA_OK);
  CHECK(layout->Newest(L) == reinterpret_cast<std::uintptr_t>(lua_topointer(L, -1)));
  lua_close(L);
}

}  // namespace
}  // namespace shoal::core
