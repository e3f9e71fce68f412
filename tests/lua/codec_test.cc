// SPDX-License-Identifier: MIT
#include "runtime/lua/codec.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "runtime/message/number.h"
#include "tests/lua/memory_faults.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

TEST_CASE("scalars arrive as they were", "[codec]") {
  TwoStates states;
  CHECK(states.Pass("return", "return select('#', ...)") == "0");
  CHECK(states.Pass("return nil, true, false, nil", "return select('#', ...), ...") ==
        "4 nil true false nil");
  CHECK(states.Pass(R"(return 0, -1, 127, 128, -32, -33, 32767, -32768, 32768, 2^31|0, -2^31|0,
                              2^53|0, (2^53|0) + 1, math.maxinteger, math.mininteger)",
                    R"(for i = 1, select('#', ...) do
                         assert(math.type(select(i, ...)) == 'integer')
                       end
                       return ...)") ==
        "0 -1 127 128 -32 -33 32767 -32768 32768 2147483648 -2147483648 9007199254740992 "
        "9007199254740993 9223372036854775807 -9223372036854775808");
  CHECK(states.Pass("return 1.0, -0.0, 0/0, 1/0, -1/0, 5e-324, 1.7976931348623157e308, 2^53",
                    R"(local a = {...}
                       for i = 1, 8 do assert(math.type(a[i]) == 'float') end
                       assert(a[3] ~= a[3] and 1 / a[2] == -1/0 and a[6] == 5e-324 and a[6] > 0)
                       assert(a[7] == 1.7976931348623157e308)
                       return a[1], a[4], a[5])") == "1.0 inf -inf");
  CHECK(states.Pass("return '', 'a', 'a\\0b', ('x'):rep(63), ('y'):rep(64), ('\\255'):rep(100000)",
                    R"(local a = {...}
                       assert(a[3] == 'a\0b' and a[4] == ('x'):rep(63) and a[5] == ('y'):rep(64))
                       return #a[1], a[2], #a[6], a[6] == ('\255'):rep(100000))") ==
        "0 a 100000 true");
}

TEST_CASE("light userdata arrive as they were", "[codec]") {
  TwoStates states;
  int object = 0;
  lua_pushlightuserdata(states.sender.lua(), &object);
  const MessagePtr message = states.sender.Encode();
  REQUIRE(states.receiver.Decode(*message));
  CHECK(lua_touserdata(states.receiver.lua(), 1) == &object);
}

TEST_CASE("a message of one number is what the counters of channels make", "[codec]") {
  TwoStates states;
  for (const char* text : {"0", "-5", "1000", "-70000", "1.5", "math.maxinteger", "5000000000"}) {
    const MessagePtr message = states.Send(std::string("return ") + text);
    const auto number = NumberOf(*message);
    REQUIRE(number);
    const MessagePtr other = MakeNumberMessage(*number);
    CHECK(states.Receive(*other, std::string("return ... == ") + text) == "true");
  }
}

TEST_CASE("a message can be decoded many times", "[codec]") {
  TwoStates states;
  const MessagePtr message = states.Send("local t = {1, {2}} return t, t, handle(1)");
  for (int i = 0; i < 3; ++i) {
    CHECK(states.Receive(*message, R"(local a, b, h = ...
                                      assert(a == b and h == handle(1))
                                      a[1] = a[1] + 1
                                      return a[1], a[2][1])") == "2 2");
  }
}

TEST_CASE("a few scalars are decoded without a protected call, all else is not", "[codec]") {
  TwoStates states;
  lua_State* const L = states.receiver.lua();
  int count = 0;
  REQUIRE(DecodeScalars(L, *states.Send("return 1, -70000, 2.5, true, nil"), &count));
  CHECK(count == 5);
  REQUIRE(lua_gettop(L) == 5);
  CHECK(lua_tointeger(L, 2) == -70000);
  CHECK(lua_tonumber(L, 3) == 2.5);
  lua_settop(L, 0);
  for (const char* text : {"return 'a'", "return 1, {}", "return table.unpack({}, 1, 9)"}) {
    CHECK_FALSE(DecodeScalars(L, *states.Send(text), &count));
    CHECK(lua_gettop(L) == 0);
  }
}

TEST_CASE("a message knows how many values it holds", "[codec]") {
  TwoStates states;
  CHECK(ValueCount(*states.Send("return table.unpack({}, 1, 1000)")) == 1000);
  CHECK(ValueCount(*states.Send("return {}, {}")) == 2);
}

TEST_CASE("very many values travel", "[codec]") {
  TwoStates states;
  CHECK(states.Pass("local t = {} for i = 1, 200000 do t[i] = i end return table.unpack(t)",
                    "return select('#', ...), (select(-1, ...))") == "200000 200000");
}

TEST_CASE("a string of 100 MB travels", "[codec]") {
  TwoStates states;
  CHECK(states.Pass("return ('0123456789'):rep(10000000)", "local s = ... return #s, s:sub(-10)") ==
        "100000000 0123456789");
}

TEST_CASE("a message larger than the limit of the state raises, with the place", "[codec]") {
  TwoStates states;
  states.sender.record().message_limit = 200;
  const std::string text = "message larger than the limit of 200 bytes (at ";
  CHECK(states.SendError("return ('x'):rep(200)").find(text + "[1])") != std::string::npos);
  CHECK(states.SendError("return 1, {a = {b = ('x'):rep(300)}}").find(text + "[2].a.b)") !=
        std::string::npos);
  CHECK(
      states.SendError("local t = {} for i = 1, 500 do t[i] = i end return t").find(text + "[1]") !=
      std::string::npos);
  CHECK(states.SendError("local big = ('x'):rep(300) return function() return big end")
            .find(text + "[1]") != std::string::npos);
  CHECK(states.Pass("return ('x'):rep(190)", "return #...") == "190");
  states.sender.record().message_limit = 10;
  CHECK(states.SendError("return 1, 2, '0123456789'").find("limit of 10 bytes (at [3])") !=
        std::string::npos);
  CHECK(states.Pass("return 1, 2, 'abc'", "return ...") == "1 2 abc");
}

TEST_CASE("the name given starts the path in errors", "[codec]") {
  CodecState state;
  state.Run("return {a = {coroutine.create(print)}}");
  lua_pushcfunction(state.lua(), [](lua_State* L) {
    EncodeNamed(L, 1, "env");
    return 0;
  });
  lua_insert(state.lua(), 1);
  REQUIRE(lua_pcall(state.lua(), 1, 0, 0) == LUA_ERRRUN);
  CHECK(lua_tostring(state.lua(), -1) == std::string("cannot send a coroutine (at env.a[1])"));
}

TEST_CASE("modules are required before decoding", "[codec]") {
  TwoStates states;
  states.sender.Run(
      "package.preload.shapes = function() return {area = function() end} end "
      "return require 'shapes'");
  const MessagePtr message = states.sender.Encode();
  REQUIRE(message != nullptr);
  states.receiver.Run(
      "package.preload.shapes = function(...) loaded = ... "
      "return {area = function() return 7 end} end");
  CHECK(NeedsModules(states.receiver.lua(), *message));
  CHECK(states.Receive(*message, "return (...).area(), loaded, package.loaded.shapes == ...") ==
        "7 shapes true");
  CHECK_FALSE(NeedsModules(states.receiver.lua(), *message));
}

TEST_CASE("a module that fails is not tried again until another has been loaded", "[codec]") {
  TwoStates states;
  const MessagePtr message =
      states.Send("package.loaded.shapes = {area = function() end} return package.loaded.shapes");
  states.receiver.Run(
      "tries = 0 package.preload.shapes = function() "
      "tries = tries + 1 error('no shapes today', 0) end");
  for (int i = 0; i < 3; ++i) {
    CHECK(states.Receive(*message, "return tries, tostring(...)") ==
          "1 cannot use 'shapes': no shapes today");
  }
  CHECK_FALSE(NeedsModules(states.receiver.lua(), *message));
  ForgetModuleNames(states.receiver.lua());
  CHECK(NeedsModules(states.receiver.lua(), *message));
  states.receiver.Run("package.preload.shapes = function() return {5} end");
  CHECK(states.Receive(*message, "return (...)[1]") == "5");
}

TEST_CASE("requiring modules may wait", "[codec]") {
  TwoStates states;
  const MessagePtr message = states.Send(
      "package.loaded.a = {f = print, g = function() end} "
      "package.loaded.b = {f = print, g = function() end} "
      "return package.loaded.a, package.loaded.b");
  // Stock require cannot yield; this one can.
  states.receiver.Run(R"(
    function require(name)
      coroutine.yield(name)
      if name == 'a' then error('late', 0) end
      package.loaded[name] = {name}
    end)");
  struct Job {
    static int Run(lua_State* L) {
      auto* const m = static_cast<Message*>(lua_touserdata(L, 1));
      lua_settop(L, 0);
      lua_pushliteral(L, "kept");
      return RequireModules(L, *m, reinterpret_cast<lua_KContext>(m), Continue);
    }
    static int Continue(lua_State* L, int /*status*/, lua_KContext context) {
      return 1 + Decode(L, *reinterpret_cast<Message*>(context));
    }
  };
  lua_State* const co = lua_newthread(states.receiver.lua());
  lua_pushcfunction(co, Job::Run);
  lua_pushlightuserdata(co, message.get());
  std::string waits;
  int results = 0;
  int status = lua_resume(co, nullptr, 1, &results);
  while (status == LUA_YIELD) {
    waits += lua_tostring(co, -1);
    lua_pop(co, results);
    status = lua_resume(co, nullptr, 0, &results);
  }
  REQUIRE(status == LUA_OK);
  CHECK(waits == "ab");
  REQUIRE(results == 3);
  CHECK(lua_tostring(co, -3) == std::string("kept"));
  CHECK(luaL_tolstring(co, -2, nullptr) == std::string("cannot use 'a': late"));
  lua_pop(co, 1);
  lua_rawgeti(co, -1, 1);
  CHECK(lua_tostring(co, -1) == std::string("b"));
}

TEST_CASE("a cancellation while modules are required is passed on", "[codec]") {
  TwoStates states;
  const MessagePtr message =
      states.Send("package.loaded.a = {g = function() end} return package.loaded.a");
  lua_register(states.receiver.lua(), "cancel", [](lua_State* L) {
    ++RecordOf(L).unwinding;
    return lua_error(L);
  });
  states.receiver.Run("package.preload.a = function() cancel('cancelled') end");
  CHECK(states.Receive(*message, "return 'received'") == "error: cancelled");
  states.receiver.Run("package.preload.a = function() return {1} end");
  CHECK(states.Receive(*message, "return (...)[1]") == "1");
}

// Builds a graph of tables that hold each other in all places, and describes one. The description
// numbers tables in the order of the walk; `id` tells them apart in keys.
constexpr const char* kGraphs = R"(
function build(random, size)
  local tables = {}
  for i = 1, size do tables[i] = {id = i} end
  local scalars = {0, -1, 300, 1 << 40, 1.5, -0.0, 1/0, 5e-324, true, false, '', 'name', 'a b',
                   ('long'):rep(50), '\0\1'}
  local function any()
    if random(3) == 1 then return tables[random(size)] end
    return scalars[random(#scalars)]
  end
  for _, t in ipairs(tables) do
    for i = 1, random(0, 6) do
      if random(5) > 1 then t[i] = any() end
    end
    for _ = 1, random(0, 5) do
      local key = any()
      if key ~= 'id' then t[key] = any() end
    end
    if random(4) == 1 then setmetatable(t, tables[random(size)]) end
  end
  return tables[1], any(), tables[random(size)]
end
function describe(...)
  local numbers, count, out = {}, 0, {}
  local function scalar(v)
    if type(v) == 'number' then return math.type(v) .. ('%q'):format(v) end
    return type(v) .. ('%q'):format(v)
  end
  local function order(key) return type(key) == 'table' and 'T' .. rawget(key, 'id') or scalar(key) end
  local function walk(v)
    if type(v) ~= 'table' then out[#out + 1] = scalar(v) return end
    if numbers[v] then out[#out + 1] = '#' .. numbers[v] return end
    count = count + 1
    numbers[v] = count
    local keys = {}
    for k in next, v do keys[#keys + 1] = k end
    table.sort(keys, function(a, b) return order(a) < order(b) end)
    out[#out + 1] = '{'
    for _, k in ipairs(keys) do walk(k) out[#out + 1] = '=' walk(rawget(v, k)) end
    if getmetatable(v) then out[#out + 1] = 'meta' walk(getmetatable(v)) end
    out[#out + 1] = '}'
  end
  for i = 1, select('#', ...) do walk((select(i, ...))) end
  return table.concat(out, ' ')
end
)";

TEST_CASE("random graphs keep their shape", "[codec]") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  TwoStates states;
  states.sender.Run(kGraphs);
  states.receiver.Run(kGraphs);
  states.sender.Run("math.randomseed(" + std::to_string(seed) + ")");
  for (int i = 0; i < 300; ++i) {
    const MessagePtr message = states.Send(
        "values = table.pack(build(math.random, math.random(1, 30))) "
        "return table.unpack(values, 1, values.n)");
    states.sender.Run("return table.unpack(values, 1, values.n)");
    const std::string sent = states.sender.Call("return describe(...)");
    REQUIRE(states.Receive(*message, "return describe(...)") == sent);
  }
}

// Something of everything.
constexpr const char* kRich = R"(
  local class = {new = function() end}
  package.loaded.shapes = class
  local n = 1
  local t = {1, 2, nil, 4, name = ('x'):rep(300), f = string.format, out = io.stdout}
  t.self, t[t] = t, handle(1)
  function t.up() n = n + 1 return n end
  function t.get() return n, t.up end
  setmetatable(t, class)
  local moved = setmetatable({5}, {__transfer = function(m) return {m[1]},
                                   function(v) return {v[1] + 1} end end})
  local deep = {}
  local inner = deep
  for i = 1, 100 do inner.next = {} inner = inner.next end
  return t, moved, deep, ('y'):rep(70000), {{}, {}, moved}
)";

TEST_CASE("whichever allocation fails, sending raises or succeeds", "[codec]") {
  bool failed = true;
  for (std::size_t n = 0; failed; ++n) {
    CAPTURE(n);
    TwoStates states;
    states.sender.Run(kRich);
    MessagePtr message;
    {
      const MemoryFaults faults(n);
      message = states.sender.Encode();
      failed = MemoryFaults::happened();
    }
    if (message == nullptr) {
      REQUIRE(lua_tostring(states.sender.lua(), -1) == std::string("not enough memory"));
    } else {
      REQUIRE(ValueCount(*message) == 5);
    }
    // The state is as good as before.
    REQUIRE(states.Pass("return {7}", "return (...)[1]") == "7");
  }
}

TEST_CASE("whichever allocation fails, receiving raises or succeeds", "[codec]") {
  TwoStates source;
  const MessagePtr message = source.Send(kRich);
  bool failed = true;
  for (std::size_t n = 0; failed; ++n) {
    CAPTURE(n);
    TwoStates states;
    states.receiver.Run("package.preload.shapes = function() return {new = function() end} end");
    bool decoded = false;
    {
      const MemoryFaults faults(n);
      decoded = states.receiver.Decode(*message);
      failed = MemoryFaults::happened();
    }
    if (!decoded) {
      REQUIRE(lua_tostring(states.receiver.lua(), -1) == std::string("not enough memory"));
    } else {
      REQUIRE(lua_gettop(states.receiver.lua()) == 5);
    }
    REQUIRE(states.Receive(*message, R"(
      local t, moved, deep, s, list = ...
      assert(t.self == t and t[t] ~= nil and t.f == string.format and t.out == io.stdout)
      assert(getmetatable(t) == require 'shapes' and list[3] == moved and #s == 70000)
      t.up()
      return moved[1], (t.get()), t[4])") == "6 2 4");
  }
}

}  // namespace shoal::core
