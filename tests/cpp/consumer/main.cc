// SPDX-License-Identifier: MIT
// A small program outside of this repository: a process of its runtime runs a C function of it, and
// it calls a pool.
#include <shoal/shoal.h>

#include <iostream>
#include <lua.hpp>
#include <string>

namespace {

int Twice(lua_State* L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) * 2);
  return 1;
}

int Fail(const shoal::Error& error) {
  std::cerr << shoal::ToString(error.status()) << ": " << error.message() << '\n';
  return 1;
}

}  // namespace

int main() {
  shoal::Runtime runtime({.workers = 2});
  const shoal::Result<shoal::Values> twice = runtime.Spawn(Twice, {21}).Join();
  if (!twice) return Fail(twice.error());
  const shoal::Pool pool = runtime.MakePool(
      {.body = R"lua(return { version = function() return "from " .. _VERSION end })lua"});
  const shoal::Result<shoal::Values> version = pool.Call("version");
  if (!version) return Fail(version.error());
  std::cout << twice->get<int>(0).value_or(-1) << ' '
            << version->get<std::string>(0).value_or("nothing") << '\n';
}
