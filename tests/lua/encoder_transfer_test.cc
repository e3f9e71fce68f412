// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <string>

#include "runtime/lua/encoder.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

TEST_CASE("__transfer gives a value and a loader", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass(R"(local mt = {__transfer = function(t)
                         return {t.a, t.b}, function(v) return {sum = v[1] + v[2]} end
                       end}
                       local t = setmetatable({a = 1, b = 2}, mt)
                       local u = setmetatable({a = 3, b = 4}, mt)
                       return t, {t, u})",
                    R"(local t, list = ...
                       return t.sum, list[1] == t, list[2].sum, getmetatable(t))") ==
        "3 true 7 nil");
  CHECK(states.Pass("return setmetatable({}, {__transfer = function() return 'abc', 'string:upper' "
                    "end})",
                    "return ...") == "ABC");
  states.receiver.Run(
      "package.preload.points = function() return {load = function(v) "
      "return 'point ' .. v end} end");
  CHECK(states.Pass("return setmetatable({}, {__transfer = function() return 5, 'points:load' "
                    "end})",
                    "return ...") == "point 5");
}

TEST_CASE("a loader that is missing or raises leaves the rest intact", "[encoder]") {
  TwoStates states;
  CHECK(states
            .Pass("return 1, setmetatable({}, {__transfer = function() return 5, 'math:nothing' "
                  "end}), 2",
                  "local a, b, c = ... return a, c, tostring(b)")
            .find("1 2 cannot use a transferred value: ") == 0);
  CHECK(states.Pass("return 1, setmetatable({}, {__transfer = function() "
                    "return 5, function() error({}) end end}), 2",
                    "local a, b, c = ... return a, c, tostring(b)") ==
        "1 2 cannot use a transferred value: the error is no string");
}

TEST_CASE("errors in __transfer are those of the send", "[encoder]") {
  TwoStates states;
  CHECK(states.SendError(
            "return {setmetatable({}, {__transfer = function() error('no', 0) end})}") == "no");
  CHECK(states.SendError("return {setmetatable({}, {__transfer = function() return 1 end})}") ==
        "__transfer must return a value, and a function or \"module:function\" (at [1][1])");
  CHECK(states.SendError("local t = {} return setmetatable(t, {__transfer = function() "
                         "return {t}, print end})") ==
        "cannot send a table that its __transfer refers to (at [1][1])");
  CHECK(states.sender.record().barrier == 0);
}

TEST_CASE("__transfer may change what is being sent, and collect garbage", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass(R"(local list = {}
                       local mt = {__transfer = function(t)
                         list.extra = nil
                         collectgarbage()
                         return {t.n, {t.n}}, function(v) return v[1] + v[2][1] end
                       end}
                       for i = 1, 50 do list[i] = setmetatable({n = i}, mt) end
                       list.extra = {}
                       return {list = list})",
                    R"(local list, sum = (...).list, 0
                       for i = 1, 50 do assert(list[i] == 2 * i) sum = sum + list[i] end
                       return sum)") == "2550");
}

// Sends and receives within the same state: the results are those of the values sent.
int Copy(lua_State* L) {
  Message* const message = Encode(L, 1, lua_gettop(L));
  lua_settop(L, 0);
  const int count = Decode(L, *message);
  MessageDeleter()(message);
  return count;
}

TEST_CASE("messages may be sent and received while one is being made", "[encoder]") {
  TwoStates states;
  for (CodecState* state : {&states.sender, &states.receiver}) {
    lua_register(state->lua(), "copy", Copy);
    state->Run("finalized = 0");
  }
  CHECK(states.Pass(R"(collectgarbage('generational')
                       local mt = {__transfer = function(t)
                         local c = copy({t.n, {t.n}, handle(1)})
                         assert(c[1] == t.n and c[2][1] == t.n and c[3] == handle(1))
                         return c, function(v)
                           local d = copy({v, v})
                           assert(d[1] == d[2])
                           return d[1][2][1]
                         end
                       end}
                       local t = {}
                       for i = 1, 20 do t[i] = {setmetatable({n = i}, mt), {i}} end
                       return t)",
                    R"(local t = ...
                       for i = 1, 20 do assert(t[i][1] == i and t[i][2][1] == i) end
                       return 'same')") == "same");
}

TEST_CASE("finalizers may send messages while one is received", "[encoder]") {
  TwoStates states;
  lua_register(states.receiver.lua(), "copy", Copy);
  const MessagePtr message =
      states.Send("local t = {} for i = 1, 500 do t[i] = {i, {tostring(i)}} end return t");
  states.receiver.Run(R"(
    finalized = 0
    local function Again()
      setmetatable({}, {__gc = function()
        local c = copy({finalized, {finalized}})
        assert(c[2][1] == finalized)
        finalized = finalized + 1
        Again()
      end})
    end
    Again()
    collectgarbage('setpause', 100))");
  for (int i = 0; i < 5; ++i) {
    REQUIRE(states.Receive(*message, R"(for i, v in ipairs(...) do
                                          assert(v[1] == i and v[2][1] == tostring(i))
                                        end
                                        return #...)") == "500");
  }
  CHECK(states.receiver.Call("return finalized > 0") == "true");
}

}  // namespace shoal::core
