// SPDX-License-Identifier: MIT
#include "runtime/lua/message_writer.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "runtime/message/message.h"
#include "tests/lua/memory_faults.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

// What the scratch holds, without the room for the header.
std::string BytesOf(CodecScratch& scratch) {
  return {scratch.bytes.begin() + Message::kHeaderRoom, scratch.bytes.end()};
}

TEST_CASE("a message is its flags, its count and its values", "[message_writer]") {
  CodecState state;
  char frame = 0;
  CodecScratch& scratch = AcquireScratch(state.lua(), &frame);
  MessageWriter out(state.lua(), scratch);
  out.Begin(3);
  out.Integer(5);
  out.String("text", 4);
  out.Tagged(wire::kInt8, static_cast<std::int8_t>(-100));
  out.End();
  CHECK(BytesOf(scratch) == std::string("\x01\x03\x05\x84text\xc3\x9c", 10));
}

TEST_CASE("a reference marks the object that it means", "[message_writer]") {
  CodecState state;
  char frame = 0;
  CodecScratch& scratch = AcquireScratch(state.lua(), &frame);
  MessageWriter out(state.lua(), scratch);
  out.Begin(2);
  const std::size_t place = out.place();
  for (const int byte : {int{wire::kTable}, 0, 0, int{wire::kNil}}) {
    out.Byte(static_cast<std::uint8_t>(byte));
  }
  out.Reference(wire::kBackReference, place);
  out.End();
  CHECK(BytesOf(scratch) == std::string("\x05\x02\xd1\0\0\xc0\xcc\x02", 8));
}

TEST_CASE("the trailer names each module once, but not _G", "[message_writer]") {
  CodecState state;
  char frame = 0;
  CodecScratch& scratch = AcquireScratch(state.lua(), &frame);
  MessageWriter out(state.lua(), scratch);
  out.Begin(4);
  out.Field("m", 1, "f", 1);
  out.Field("_G", 2, "f", 1);
  out.Field("n", 1, "f", 1);
  out.Field("m", 1, "g", 1);
  const std::size_t end = out.place();
  out.End();
  const std::string trailer = BytesOf(scratch).substr(end);
  CHECK(trailer == std::string("\x02\x01m\x01n", 5) + static_cast<char>(end) + std::string(7, 0));
  CHECK((BytesOf(scratch)[0] & wire::kNeedsModules) != 0);
}

TEST_CASE("a varint can be written over by a smaller one", "[message_writer]") {
  std::uint8_t bytes[kMaxVarint];
  for (const std::uint64_t large : {std::uint64_t{5}, std::uint64_t{300}, UINT64_MAX}) {
    const auto width = static_cast<int>(PutVarint(bytes, large) - bytes);
    for (const std::uint64_t small : {std::uint64_t{0}, std::uint64_t{4}, large / 2, large}) {
      RewriteVarint(bytes, width, small);
      WireReader reader{bytes, bytes + width};
      std::uint64_t value = 99;
      REQUIRE(reader.Varint(value));
      CHECK(value == small);
      CHECK(reader.left() == 0);
    }
  }
}

TEST_CASE("a message of the limit is written, a larger one raises", "[message_writer]") {
  CodecState state;
  state.record().message_limit = 100;
  lua_pushcfunction(state.lua(), [](lua_State* L) -> int {
    MessageWriter out(L, AcquireScratch(L, __builtin_frame_address(0)));
    out.Begin(1);
    for (auto left = lua_tointeger(L, 1) - 2; left > 0; --left) out.Byte(5);
    out.End();
    return 0;
  });
  for (const int size : {2, 99, 100, 101, 110, 111, 1000, 100000}) {
    lua_pushvalue(state.lua(), 1);
    lua_pushinteger(state.lua(), size);
    const bool raised = lua_pcall(state.lua(), 1, 0, 0) != LUA_OK;
    CHECK(raised == (size > 100));
    if (!raised) continue;
    CHECK(std::string(lua_tostring(state.lua(), -1)) ==
          "message larger than the limit of 100 bytes");
    lua_pop(state.lua(), 1);
    CHECK(MemoryOf(state.lua()).first.bytes.size() == 0);
  }
}

TEST_CASE("a lack of memory clears the scratch", "[message_writer]") {
  CodecState state;
  CodecScratch& scratch = MemoryOf(state.lua()).first;
  lua_pushcfunction(state.lua(), [](lua_State* L) -> int {
    MessageWriter out(L, AcquireScratch(L, __builtin_frame_address(0)));
    for (;;) out.Byte(5);
  });
  int status = LUA_OK;
  {
    const MemoryFaults faults(2);
    status = lua_pcall(state.lua(), 0, 0, 0);
  }
  CHECK(status == LUA_ERRMEM);
  CHECK(scratch.bytes.size() == 0);
}

TEST_CASE("TryBytes reports a lack of memory", "[message_writer]") {
  CodecState state;
  char frame = 0;
  MessageWriter out(state.lua(), AcquireScratch(state.lua(), &frame));
  out.Begin(1);
  bool written = true;
  {
    const MemoryFaults faults(0);
    while (written) written = out.TryBytes("12345678", 8);
  }
  CHECK_FALSE(written);
}

}  // namespace shoal::core
