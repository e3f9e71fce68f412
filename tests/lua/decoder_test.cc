// SPDX-License-Identifier: MIT
#include "runtime/lua/decoder.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "runtime/message/wire.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

MessagePtr MessageOf(const std::vector<std::uint8_t>& bytes,
                     std::span<RefCounted* const> references = {}) {
  return Message::New({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, references);
}

// Decodes, and says what came of it.
std::string Outcome(CodecState& state, const std::vector<std::uint8_t>& bytes) {
  const MessagePtr message = MessageOf(bytes);
  return state.Decode(*message) ? "decoded" : lua_tostring(state.lua(), -1);
}

TEST_CASE("malformed messages are errors", "[decoder]") {
  CodecState state;
  const std::string malformed = "malformed message";
  CHECK(Outcome(state, {0, 0}) == "decoded");
  CHECK(Outcome(state, {0, 1, 5}) == "decoded");
  for (const std::vector<std::uint8_t>& bytes : std::vector<std::vector<std::uint8_t>>{
           {},
           {1},
           {1, 1},                                      // no value
           {1, 2, 5},                                   // one value of two
           {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 5},  // very many values
           {1, 1, wire::kInt32, 1, 2},
           {1, 1, wire::kDouble, 0},
           {1, 1, 0x85, 'a'},  // a string that is cut off
           {1, 1, wire::kLongString, 100, 'a'},
           {1, 1, wire::kLongString, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
           {1, 1, 0xde},  // no such tag
           {1, 1, wire::kLongString | wire::kShared},
           {1, 1, wire::kTable},
           {1, 1, wire::kTable, 1, 0},
           {1, 1, wire::kTable, 100, 0, 1, 2, 3},
           {1, 1, wire::kTable, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 1},
           {1, 1, wire::kTable, 0, 1, 5},     // a key without a value
           {1, 1, wire::kTable, 0, 1, 5, 6},  // no end
           {1, 1, wire::kTableWithMeta, 0, 0, wire::kNil},
           {1, 1, wire::kTable | wire::kShared, 0, 0, wire::kNil},  // no kHasShared
           {1 | wire::kHasShared, 1, wire::kBackReference, 50},
           {1, 1, wire::kBackReference, 0},
           {1, 1, wire::kHandle},
           {1, 1, wire::kFunction, 1, 0, 0, 0, 'x', 0},
           {1, 1, wire::kFunction, 255, 255, 255, 255, 'x', 0},
           {1, 1, wire::kUpvalue, 5},
           {1, 1, wire::kModule, 3, 'a'},
           {1, 1, wire::kModule, 1, 'a', 5},
           {1, 1, wire::kTransfer, 5},
           {1, 1, wire::kStandIn, 5},
           {1 | wire::kNeedsModules, 1, 5},
           {1 | wire::kNeedsModules, 1, 5, 255, 255, 0, 0, 0, 0, 0, 0},
           {1 | wire::kNeedsModules, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0},
           {1 | wire::kNeedsModules, 1, 5, 200, 3, 0, 0, 0, 0, 0, 0, 0},
       }) {
    CAPTURE(bytes);
    CHECK(Outcome(state, bytes) == malformed);
  }
  CHECK(Outcome(state, {1, 1, wire::kTable, 0, 1, wire::kDouble, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 5,
                        wire::kNil}) == "table index is NaN");
}

TEST_CASE("a size that cannot be is not allocated", "[decoder]") {
  CodecState state;
  std::vector<std::uint8_t> bytes = {1, 1};
  for (int i = 0; i < 5000; ++i)
    bytes.insert(bytes.end(), {wire::kTable, 1, wire::kLargeHint | 60});
  CHECK(Outcome(state, bytes) == "malformed message");
  CHECK(lua_gc(state.lua(), LUA_GCCOUNT) < 200'000);
}

TEST_CASE("tables nested too deep are malformed", "[decoder]") {
  CodecState state;
  std::vector<std::uint8_t> bytes = {1, 1};
  for (int i = 0; i < 1'000'000; ++i) bytes.insert(bytes.end(), {wire::kTable, 1, 0});
  CHECK(Outcome(state, bytes) == "malformed message");
}

TEST_CASE("a reference that was let go is nil", "[decoder]") {
  CodecState state;
  RefCounted* const nothing[] = {nullptr};
  const MessagePtr message = MessageOf({1, 1, wire::kHandle}, nothing);
  REQUIRE(state.Decode(*message));
  CHECK(state.Call("return ...") == "nil");
}

TEST_CASE("tables are made in the size they need", "[decoder]") {
  TwoStates states;
  // What a table takes that Lua code makes, and one that has travelled.
  const MessagePtr message = states.Send(
      "local t = {} for i = 1, 1000 do t[i] = i end "
      "for i = 1, 900 do t['k' .. i] = i end return t");
  CHECK(states.Receive(*message, "return #...") == "1000");
  states.receiver.Run("collectgarbage() collectgarbage('stop') before = collectgarbage('count')");
  REQUIRE(states.receiver.Decode(*message));
  states.receiver.Run("return collectgarbage('count') - before");
  // 16 bytes for each of 1000, 24 or 40 for each of 1024, and the keys (which are new strings).
  CHECK(lua_tonumber(states.receiver.lua(), 1) < 16 + 40 + 900 * 32 / 1024.0 + 60);
}

TEST_CASE("changed bytes never do harm", "[decoder]") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  TwoStates states;
  // No functions: Lua trusts their code.
  const MessagePtr message = states.Send(R"(
    local t = {1, 2.5, 'text', ('x'):rep(100), {a = 1, b = {true}}, n = -70000, [{}] = {}}
    t.self, t.f, t.out, t.g, t.h = t, string.format, io.stdout, _G, handle(1)
    package.loaded.class = {new = function() end}
    t.object = setmetatable({}, package.loaded.class)
    t.moved = setmetatable({}, {__transfer = function() return {1}, 'table:unpack' end})
    return t, t.object, 5)");
  const auto original = message->bytes();
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> bytes(original.size());
    std::memcpy(bytes.data(), original.data(), bytes.size());
    for (auto n = 1 + random() % 4; n != 0; --n) {
      std::uint8_t& byte = bytes[random() % bytes.size()];
      byte = random() % 2 == 0 ? static_cast<std::uint8_t>(random())
                               : static_cast<std::uint8_t>(0xc0 + random() % 32);
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const MessagePtr changed = MessageOf(bytes, message->references());
    // Not RequireModules: a changed name would be looked for in files.
    lua_settop(states.receiver.lua(), 0);
    lua_pushcfunction(states.receiver.lua(), [](lua_State* L) {
      return Decode(L, *static_cast<const Message*>(lua_touserdata(L, 1)));
    });
    lua_pushlightuserdata(states.receiver.lua(), changed.get());
    lua_pcall(states.receiver.lua(), 1, LUA_MULTRET, 0);
    ValueCount(*changed);
  }
  CHECK(states.Receive(*message, "return select(3, ...)") == "5");
}

}  // namespace shoal::core
