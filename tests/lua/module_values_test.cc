// SPDX-License-Identifier: MIT
#include "runtime/lua/module_values.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/two_states.h"

namespace shoal::core {

TEST_CASE("values by name are those of the receiver", "[module_values]") {
  TwoStates states;
  CHECK(states.Pass("return print, string, string.format, io.stdout, _G, package.loaded",
                    R"(local a, b, c, d, e, f = ...
                       return a == print, b == string, c == string.format, d == io.stdout,
                              e == _G, f == package.loaded)") == "true true true true true true");
}

TEST_CASE("a missing module says why, by module and field", "[module_values]") {
  TwoStates states;
  const MessagePtr message = states.Send(
      "package.loaded['a.b'] = {c = {d = coroutine.wrap(print)}} "
      "return 1, package.loaded['a.b'].c.d, 'rest'");
  const std::string result =
      states.Receive(*message, "local a, b, c = ... return a, c, (tostring(b):gsub('\\n.*', ''))");
  CHECK(result == "1 rest cannot use 'a.b.c.d': module 'a.b' not found:");
}

TEST_CASE("a missing field says so", "[module_values]") {
  TwoStates states;
  states.receiver.Run("package.loaded.m = {}");
  CHECK(states.Pass("package.loaded.m = {f = coroutine.wrap(print)} return package.loaded.m.f",
                    "return tostring(...)") ==
        "cannot use 'm.f': module 'm' has no such field here");
  states.receiver.Run("package.loaded.m = true");
  CHECK(states.Pass("return package.loaded.m.f", "return tostring(...)") ==
        "cannot use 'm.f': module 'm' has no such field here");
}

TEST_CASE("a field that the receiver's module makes on demand is found", "[module_values]") {
  TwoStates states;
  states.receiver.Run(
      "package.loaded.m = setmetatable({}, {__index = function(t, k) "
      "if k == 'bad' then error('no ' .. k, 0) end return 'made ' .. k end})");
  states.sender.Run("package.loaded.m = {f = coroutine.wrap(print), bad = coroutine.wrap(print)}");
  CHECK(states.Pass("return package.loaded.m.f", "return ...") == "made f");
  CHECK(states.Pass("return package.loaded.m.bad", "return tostring(...)") ==
        "cannot use a field of a module: no bad");
}

TEST_CASE("a module is settled when it is loaded or known to fail", "[module_values]") {
  CodecState state;
  lua_State* const L = state.lua();
  CHECK(IsModuleSettled(L, "string"));
  CHECK_FALSE(IsModuleSettled(L, "m"));
  lua_pushliteral(L, "reason");
  RememberModuleFailure(L, "m");
  CHECK(IsModuleSettled(L, "m"));
  lua_newtable(L);
  RememberModuleFailure(L, "n");
  CHECK(IsModuleSettled(L, "n"));
  ForgetModuleFailures(L);
  CHECK_FALSE(IsModuleSettled(L, "m"));
  CHECK(lua_gettop(L) == 0);
}

}  // namespace shoal::core
