// SPDX-License-Identifier: MIT
#include "runtime/lua/codec_scratch.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/memory_faults.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

TEST_CASE("an array grows, and reports a lack of memory", "[codec_scratch]") {
  PlainArray<int> array;
  for (int i = 0; i < 1000; ++i) {
    int* const added = array.Add();
    REQUIRE(added != nullptr);
    *added = i;
  }
  CHECK(array.size() == 1000);
  CHECK(array[999] == 999);
  const std::size_t capacity = array.capacity();
  bool reserved = true;
  {
    const MemoryFaults faults(0);
    reserved = array.Reserve(capacity + 1);
  }
  CHECK_FALSE(reserved);
  CHECK(array.capacity() == capacity);
  CHECK(array[500] == 500);
}

TEST_CASE("a map of addresses finds what it was given until it is cleared", "[codec_scratch]") {
  PointerMap map;
  static char objects[2000];
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < sizeof objects; ++i) {
      bool is_new = false;
      const std::size_t* const value = map.Insert(&objects[i], i, is_new);
      REQUIRE(value != nullptr);
      REQUIRE(is_new);
    }
    for (std::size_t i = 0; i < sizeof objects; ++i) {
      bool is_new = true;
      const std::size_t* const value = map.Insert(&objects[i], 0, is_new);
      REQUIRE_FALSE(is_new);
      REQUIRE(*value == i);
      REQUIRE(map.Contains(&objects[i]));
    }
    map.Clear();
    REQUIRE_FALSE(map.Contains(&objects[0]));
  }
}

TEST_CASE("a scratch is used again, also after an error", "[codec_scratch]") {
  CodecState state;
  char frames[3];  // addresses as of frames: the stack grows downwards
  CodecScratch& first = AcquireScratch(state.lua(), &frames[1]);
  REQUIRE(first.bytes.Reserve(10));
  first.bytes.set_size(10);
  // The call at frames[1] ended by an error, as one in the same place begins.
  CodecScratch& again = AcquireScratch(state.lua(), &frames[1]);
  CHECK(&again == &first);
  CHECK(again.bytes.size() == 0);
  // A call further down may have been made by that one.
  CodecScratch& inner = AcquireScratch(state.lua(), &frames[0]);
  CHECK(&inner != &first);
  ReleaseScratch(inner);
  CHECK(&AcquireScratch(state.lua(), &frames[0]) == &inner);
  // One further up shows that both have ended.
  CHECK(&AcquireScratch(state.lua(), &frames[2]) == &first);
}

TEST_CASE("a scratch releases its references when it is cleared", "[codec_scratch]") {
  TwoStates states;
  int alive = 0;
  auto* const object = new TestObject(&alive);
  char frame = 0;
  CodecScratch& scratch = AcquireScratch(states.sender.lua(), &frame);
  RefCounted** const place = scratch.references.Add();
  REQUIRE(place != nullptr);
  *place = object;
  ReleaseScratch(scratch);
  CHECK(alive == 0);
}

TEST_CASE("a scratch that grew large is not kept", "[codec_scratch]") {
  CodecState state;
  char frame = 0;
  CodecScratch& scratch = AcquireScratch(state.lua(), &frame);
  REQUIRE(scratch.bytes.Reserve(1000));
  ReleaseScratch(scratch);
  CHECK(scratch.bytes.capacity() >= 1000);
  REQUIRE(scratch.bytes.Reserve(100'000));
  ReleaseScratch(scratch);
  CHECK(scratch.bytes.capacity() == 0);
}

TEST_CASE("lack of memory is raised in Lua's own words", "[codec_scratch]") {
  CodecState state;
  lua_pushcfunction(state.lua(), [](lua_State* L) -> int { RaiseNoMemory(L); });
  REQUIRE(lua_pcall(state.lua(), 0, 0, 0) == LUA_ERRMEM);
  CHECK(lua_tostring(state.lua(), -1) == std::string("not enough memory"));
}

}  // namespace shoal::core
