// SPDX-License-Identifier: MIT
#include "runtime/lua/stand_in.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/two_states.h"

namespace shoal::core {

// Sends a class and an object of it to a state without its module.
constexpr const char* kSend =
    "package.loaded.shapes = {area = function() end, wheel = {turn = function() end}} "
    "local class = package.loaded.shapes "
    "return class, setmetatable({side = 2}, class), class.wheel";
constexpr const char* kReason = "cannot use 'shapes': no shapes here";

void RefuseShapes(CodecState& state) {
  state.Run("package.preload.shapes = function() error('no shapes here', 0) end");
}

TEST_CASE("each use of a stand-in raises the reason", "[stand_in]") {
  TwoStates states;
  RefuseShapes(states.receiver);
  const MessagePtr message = states.Send(kSend);
  for (const char* use :
       {"v.x",   "v[1]",   "v.x = 1", "v()",     "v:area()", "v + 1", "1 - v",  "v * 1",
        "v / 2", "v // 2", "v % 2",   "v ^ 2",   "-v",       "~v",    "v & 1",  "v | 1",
        "v ~ 1", "v << 1", "v >> 1",  "v .. ''", "#v",       "v < v", "v <= v", "pairs(v)"}) {
    CAPTURE(use);
    const std::string script = std::string("local v = ... local _ = ") + use;
    const std::string statement = std::string("local v = ... ") + use;
    const bool is_statement = std::string(use) == "v.x = 1";
    CHECK(states.Receive(*message, is_statement ? statement : script).find(kReason) !=
          std::string::npos);
  }
  CHECK(states.Receive(*message, "local v <close> = ...").find(kReason) != std::string::npos);
}

TEST_CASE("a stand-in can be compared, printed and kept", "[stand_in]") {
  TwoStates states;
  RefuseShapes(states.receiver);
  const MessagePtr message = states.Send(kSend);
  CHECK(states.Receive(*message, R"(local v, _, w = ...
                                    kept = v
                                    return tostring(v), v == v, v == w, v == nil, type(v))") ==
        std::string(kReason) + " true false false userdata");
  CHECK(states.Receive(*message, "return (...) == kept") == "true");
  CHECK(states.Receive(*message, "return tostring((select(3, ...)))") ==
        "cannot use 'shapes.wheel': no shapes here");
}

TEST_CASE("a table whose metatable is missing keeps its fields", "[stand_in]") {
  TwoStates states;
  RefuseShapes(states.receiver);
  const MessagePtr message = states.Send(kSend);
  CHECK(states
            .Receive(*message, R"(local _, object = ...
                                    local ok, err = pcall(function() return object:area() end)
                                    return object.side, ok, err)")
            .find(std::string("2 false ")) == 0);
  CHECK(states.Receive(*message, "local _, object = ... return object:area()").find(kReason) !=
        std::string::npos);
}

TEST_CASE("a stand-in that is sent on is the same value again", "[stand_in]") {
  TwoStates states;
  RefuseShapes(states.receiver);
  const MessagePtr message = states.Send(kSend);
  REQUIRE(states.receiver.Decode(*message));
  const MessagePtr onward = states.receiver.Encode();
  REQUIRE(onward != nullptr);
  // Another state without the module has a stand-in, too.
  CodecState third;
  RefuseShapes(third);
  REQUIRE(third.Decode(*onward));
  CHECK(third.Call("local class, object = ... return tostring(class), object.side") ==
        std::string(kReason) + " 2");
  // Where it came from, it is what it was.
  states.sender.Run("");
  REQUIRE(states.sender.Decode(*onward));
  CHECK(states.sender.Call(R"(local class, object, wheel = ...
                              return class == package.loaded.shapes, wheel == class.wheel,
                                     getmetatable(object) == class)") == "true true true");
}

TEST_CASE("a stand-in without a name keeps its reason", "[stand_in]") {
  TwoStates states;
  const MessagePtr message = states.Send(
      "return setmetatable({}, {__transfer = function() "
      "return 1, function() error('it fell down', 0) end end})");
  const std::string reason = "cannot use a transferred value: it fell down";
  REQUIRE(states.receiver.Decode(*message));
  CHECK(luaL_tolstring(states.receiver.lua(), 1, nullptr) == reason);
  lua_settop(states.receiver.lua(), 1);
  const MessagePtr onward = states.receiver.Encode();
  REQUIRE(onward != nullptr);
  REQUIRE(states.sender.Decode(*onward));
  CHECK(states.sender.Call("return tostring(...)") == reason);
}

}  // namespace shoal::core
