// SPDX-License-Identifier: MIT
#include "runtime/lua/allocator.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

TEST_CASE("the allocator counts what the state holds and gives all back") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCCOLLECT);
  const auto counted = static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT)) * 1024 +
                       static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNTB));
  CHECK(allocator.used == counted);
  CHECK_FALSE(luaL_dostring(
      L, "t = {} for i = 1, 1000 do t[i] = ('x'):rep(i) end t = nil collectgarbage()"));
  CloseState(L);
  CHECK(allocator.used == 0);
}

TEST_CASE("a state beyond its limit raises, and shrinks all the same") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  allocator.limit = allocator.used + 100000;
  REQUIRE(luaL_loadstring(L, "local t = {} for i = 1, 1e9 do t[i] = i end") == LUA_OK);
  CHECK(lua_pcall(L, 0, 0, 0) == LUA_ERRMEM);
  CHECK(std::string(lua_tostring(L, -1)) == "not enough memory");
  CHECK(allocator.used <= allocator.limit);
  lua_settop(L, 0);
  allocator.limit = 0;
  lua_gc(L, LUA_GCCOLLECT);
  CHECK(allocator.used < 100000);
  allocator.limit = SIZE_MAX;
  CHECK_FALSE(luaL_dostring(L, "return #('x'):rep(1000000)"));
  CloseState(L);
}

TEST_CASE("garbage makes room for the buffers of lauxlib, which do not collect by themselves") {
  Allocator allocator;
  StateRecord record;
  lua_State* const L = NewState(&allocator, &record);
  luaL_openlibs(L);
  allocator.limit = allocator.used + 300000;
  allocator.CollectInTime();
  lua_gc(L, LUA_GCSTOP);
  // Each makes 100 KB of garbage, half of it in a buffer.
  CHECK_FALSE(luaL_dostring(L, "for i = 1, 100 do assert(#('x'):rep(50000 + i) > 50000) end"));
  // After an error for lack of memory, what it was about is garbage.
  CHECK_FALSE(luaL_dostring(L, R"lua(
    for i = 1, 5 do
      assert(not pcall(function() local t = {} for k = 1, 1e9 do t[k] = {} end end))
      assert(#('x'):rep(100000) == 100000)
    end)lua"));
  CHECK(lua_gettop(L) == 0);
  CHECK(allocator.used <= allocator.limit);
  CloseState(L);
  CHECK(allocator.used == 0);
}

// A block that a state would have, and what stands in it.
struct Block {
  char* at;
  std::size_t size;
  char fill;
};

TEST_CASE("blocks keep what is in them, inside of the slot and outside") {
  std::vector<char> memory(40'000);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    Allocator allocator;
    allocator.slot.Begin(memory.data(), memory.size());
    Random random(seed);
    std::vector<Block> blocks;
    for (int i = 0; i < 3000; ++i) {
      const std::size_t size = 1 + random.Below(random.Below(8) == 0 ? 3'000 : 300);
      const std::uint64_t what = blocks.size() < 20 ? 0 : random.Below(3);
      const char fill = static_cast<char>(random.Below(100));
      if (what == 0) {
        auto* const at = static_cast<char*>(AllocateInSlot(&allocator, nullptr, 0, size));
        REQUIRE(at != nullptr);
        REQUIRE(reinterpret_cast<std::uintptr_t>(at) % 8 == 0);
        std::memset(at, fill, size);
        blocks.push_back({at, size, fill});
        continue;
      }
      std::swap(blocks[random.Below(blocks.size())], blocks.back());
      Block& block = blocks.back();
      const std::size_t kept = what == 1 ? std::min(block.size, size) : block.size;
      if (what == 1) {
        block.at = static_cast<char*>(AllocateInSlot(&allocator, block.at, block.size, size));
        REQUIRE(block.at != nullptr);
      }
      REQUIRE(std::string(block.at, kept) == std::string(kept, block.fill));
      if (what == 1) {
        block.size = size;
        block.fill = fill;
        std::memset(block.at, fill, size);
      } else {
        AllocateInSlot(&allocator, block.at, block.size, 0);
        blocks.pop_back();
      }
    }
    std::size_t used = 0;
    std::size_t outside = 0;
    for (const Block& block : blocks) {
      used += block.size;
      if (!allocator.slot.Holds(block.at)) ++outside;
    }
    CHECK(allocator.used == used);
    CHECK(allocator.outside == outside);
    CHECK(outside > 0);
    for (const Block& block : blocks) AllocateInSlot(&allocator, block.at, block.size, 0);
    CHECK(allocator.used == 0);
    CHECK(allocator.outside == 0);
    allocator.slot.End();
  }
}

TEST_CASE("the state of an image is zero where it has not been written to") {
  std::vector<char> memory(4096);
  Allocator allocator;
  allocator.slot.Begin(memory.data(), memory.size());
  auto* const first = static_cast<char*>(AllocateZeroed(&allocator, nullptr, 0, 100));
  auto* const second = static_cast<char*>(AllocateZeroed(&allocator, nullptr, 0, 100));
  REQUIRE(second != nullptr);
  std::memset(first, 1, 100);
  AllocateZeroed(&allocator, first, 100, 0);
  auto* const again = static_cast<char*>(AllocateZeroed(&allocator, nullptr, 0, 98));
  CHECK(std::string(again, 104) == std::string(104, '\0'));
  std::memset(again, 1, 98);
  auto* const grown = static_cast<char*>(AllocateZeroed(&allocator, again, 98, 200));
  REQUIRE(grown != nullptr);
  CHECK(std::string(grown, 98) == std::string(98, '\1'));
  CHECK(std::string(grown + 98, 102) == std::string(102, '\0'));
  // There is nothing outside of the slot.
  CHECK(AllocateZeroed(&allocator, nullptr, 0, 5000) == nullptr);
  CHECK(allocator.outside == 0);
  CHECK(allocator.used == 300);
  allocator.slot.End();
}

}  // namespace
}  // namespace shoal::core
