// SPDX-License-Identifier: MIT
#include "runtime/lua/encoder.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/two_states.h"

namespace shoal::core {

TEST_CASE("tables keep their keys, holes and lengths", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass("return {1, 2, nil, 4}", "local t = ... return t[1], t[2], t[3], t[4], #t") ==
        "1 2 nil 4 4");
  CHECK(states.Pass(R"(local t = {}
                       for i = 0, 40 do t[1 << i] = i end
                       return t)",
                    R"(local t, n = ..., 0
                       for k, v in pairs(t) do n = n + 1 assert(k == 1 << v) end
                       return n)") == "41");
  CHECK(states.Pass("local t = {} for i = 100, 1, -1 do t[i] = i end return t",
                    "local t = ... for i = 1, 100 do assert(t[i] == i) end return #t") == "100");
  CHECK(states.Pass("local t = {n = 0} for i = 1, 1000 do t[i], t['k' .. i] = i, i end return t",
                    R"(local t = ...
                       for i = 1, 1000 do assert(t[i] == i and t['k' .. i] == i) end
                       return #t, t.n)") == "1000 0");
  CHECK(states.Pass("return {[0] = 'a', [-1] = 'b', [1.5] = 'c', [true] = 'd', [math.maxinteger] "
                    "= 'e'}",
                    "local t = ... return t[0], t[-1], t[1.5], t[true], t[math.maxinteger]") ==
        "a b c d e");
  CHECK(states.Pass("local t = table.pack(nil, nil, 3) return t",
                    "local t = ... return t[1], t[3], t.n") == "nil 3 3");
}

TEST_CASE("cycles and shared references are kept, in values and keys", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass(R"(local a, b = {}, {}
                       a.self, a.b, b.a, a[a], a[b] = a, b, a, b, a
                       a.f = print a[print] = print
                       return a, {a, b, b})",
                    R"(local a, list = ...
                       return a.self == a, a.b.a == a, a[a] == a.b, a[a.b] == a, list[1] == a,
                              list[2] == a.b, list[3] == a.b, a[print] == a.f)") ==
        "true true true true true true true true");
}

TEST_CASE("access to tables is raw", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass(R"(local mt = {}
                       for _, e in ipairs{'__index', '__newindex', '__pairs', '__len', '__call'} do
                         mt[e] = function() error(e) end
                       end
                       return setmetatable({1, 2, a = 3}, mt))",
                    "local t = ... return rawlen(t), rawget(t, 'a')") == "2 3");
}

TEST_CASE("metatables travel, by name if they have one", "[encoder]") {
  TwoStates states;
  const char* const module =
      "local P = {} P.__index = P function P.sum(p) return p.x + p.y end package.loaded.P = P ";
  states.sender.Run(module);
  states.receiver.Run(module);
  CHECK(states.Pass("return setmetatable({x = 1, y = 2}, package.loaded.P)",
                    "local p = ... return p:sum(), getmetatable(p) == package.loaded.P") ==
        "3 true");
  CHECK(states.Pass(R"(local mt = {__index = {z = 7}, __metatable = 'hidden'}
                       local a, b = setmetatable({}, mt), setmetatable({}, mt)
                       return a, b)",
                    R"(local a, b = ...
                       return a.z, getmetatable(a), debug.getmetatable(a) == debug.getmetatable(b))") ==
        "7 hidden true");
  CHECK(states.Pass("local t = {} return setmetatable(t, t)",
                    "local t = ... return getmetatable(t) == t") == "true");
}

TEST_CASE("functions travel with their upvalues", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass("local function fact(n) return n < 2 and 1 or n * fact(n - 1) end return fact",
                    "return (...)(10)") == "3628800");
  CHECK(states.Pass(R"(local n = 0
                       local function up() n = n + 1 end
                       return up, function() return n end, {up})",
                    R"(local up, get, list = ...
                       up() up()
                       return get(), list[1] == up)") == "2 true");
  CHECK(states.Pass(R"(local unset, t = nil, {5}
                       return function() return unset, t[1], _ENV == _G end)",
                    "return (...)()") == "nil 5 true");
  CHECK(states.Pass("return function(...) return select('#', ...) end", "return (...)(1, 2)") ==
        "2");
  CHECK(states.Pass(R"(local up = {}
                       for i = 1, 200 do up[i] = 'local v' .. i .. ' = ' .. i end
                       local sum = {}
                       for i = 1, 200 do sum[i] = 'v' .. i end
                       -- 200 upvalues in an inner function
                       return load(table.concat(up, '\n', 1, 190) .. '\nreturn function() return '
                         .. table.concat(sum, '+', 1, 190) .. ' end')())",
                    "return (...)()") == "18145");
}

TEST_CASE("a first upvalue that is nil stays nil", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass("local nothing return function() return nothing end", "return (...)()") ==
        "nil");
}

TEST_CASE("globals become those of the receiver, another _ENV is copied", "[encoder]") {
  TwoStates states;
  states.receiver.Run("who = 'receiver'");
  states.sender.Run("who = 'sender'");
  CHECK(states.Pass("return function() return who end, _G",
                    "local f, g = ... return f(), g == _G") == "receiver true");
  CHECK(states.Pass("local _ENV = {who = 'own'} return function() return who end",
                    "return (...)()") == "own");
  CHECK(
      states.Pass("local _ENV = setmetatable({}, {__index = _G}) return function() return who end",
                  "return (...)()") == "receiver");
}

TEST_CASE("errors in functions that have travelled say file and line", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass("return load('\\n\\nreturn function() error(\"here\") end', '=file.lua')()",
                    "return select(2, pcall(...))") == "file.lua:3: here");
}

TEST_CASE("Lua functions of modules go by copy", "[encoder]") {
  TwoStates states;
  CHECK(states.Pass("package.loaded.m = {f = function() return 'copy' end, x = 1} "
                    "return package.loaded.m.f",
                    "return (...)()") == "copy");
}

TEST_CASE("handles travel, and a message keeps their objects", "[encoder]") {
  TwoStates states;
  MessagePtr message = states.Send("return handle(1), {handle(2), handle(1)}, handle(3)");
  CHECK(message->references().size() == 4);
  CHECK(states.Receive(*message, R"(local a, t, b = ...
                                    return a == handle(1), t[1] == handle(2), t[2] == a,
                                           b == handle(3))") == "true true true true");
  message = states.Send("return orphan()");
  states.sender.Run("collectgarbage()");
  CHECK(states.alive() == 5);
  message.reset();
  CHECK(states.alive() == 4);
}

TEST_CASE("a send that fails lets go of what it held", "[encoder]") {
  TwoStates states;
  for (const char* last :
       {"coroutine.create(print)", "setmetatable({}, {__transfer = function() error('no') end})"}) {
    CHECK(states.SendError(std::string("return orphan(), {orphan(), ") + last + "}") != "none");
    CHECK(states.alive() == 6);
    states.sender.Run("collectgarbage()");
    CHECK(states.alive() == 4);
  }
}

TEST_CASE("what cannot travel is named with its path", "[encoder]") {
  TwoStates states;
  const auto error = [&](const char* script) { return states.SendError(script); };
  CHECK(error("return {jobs = {1, 2, {co = coroutine.create(print)}}}") ==
        "cannot send a coroutine (at [1].jobs[3].co)");
  CHECK(error("return 1, {['a b'] = {coroutine.create(print)}}") ==
        "cannot send a coroutine (at [2][\"a b\"][1])");
  CHECK(error("return {a = {[{coroutine.create(print)}] = 1}}") ==
        "cannot send a coroutine (at [1].a(key)[1])");
  CHECK(error("return setmetatable({}, {x = coroutine.create(print)})") ==
        "cannot send a coroutine (at [1](metatable).x)");
  CHECK(
      error("local a, b = 1, {coroutine.create(print)} return {f = function() return a, b end}") ==
      "cannot send a coroutine (at [1].f(upvalue b)[1])");
  CHECK(error("return coroutine.wrap(print)") == "cannot send a C function (at [1])");
  CHECK(error("return {io.tmpfile()}") == "cannot send a userdata 'FILE*' (at [1][1])");
  CHECK(error("local t = setmetatable({}, {__transfer = function(t) "
              "return {coroutine.create(print)}, print end}) return {x = t}") ==
        "cannot send a coroutine (at [1].x[1])");
  CHECK(error("local t = setmetatable({}, {__transfer = function(t) "
              "return 1, coroutine.wrap(print) end}) return {x = t}") ==
        "cannot send a C function (at [1].x(loader))");
}

TEST_CASE("tables nested 10,000 deep travel, deeper ones are an error", "[encoder]") {
  TwoStates states;
  states.sender.Run(
      "function nest(n) local t = {} for i = 2, n do t = {next = t} end return t end");
  CHECK(states.Pass("return nest(10000)",
                    "local t, n = ..., 0 while t do n, t = n + 1, t.next end return n") == "10000");
  const std::string cut =
      "table nested deeper than 10000 (at [1].next.next.next.next.next.next"
      ".next.next…)";
  CHECK(states.SendError("return nest(10001)") == cut);
  CHECK(states.SendError("return nest(100000)") == cut);
  CHECK(states.SendError("local t = {} for i = 1, 10000 do t = {[t] = 1} end return t")
            .find("table nested deeper than 10000 (at [1](key)(key)") == 0);
  CHECK(states.SendError("local t = {} for i = 1, 10000 do t = setmetatable({}, t) end return t")
            .find("table nested deeper than 10000 (at [1](metatable)") == 0);
  CHECK(states
            .SendError("local f = print for i = 1, 10001 do local g = f f = function() "
                       "return g end end return f")
            .find("table nested deeper than 10000 (at [1](upvalue g)") == 0);
  CHECK(states.SendError("local t = {coroutine.create(print)} for i = 1, 99 do t = {next = t} end "
                         "return t") ==
        "cannot send a coroutine (at [1].next.next.next.next.next.next.next.next….next.next[1])");
}

}  // namespace shoal::core
