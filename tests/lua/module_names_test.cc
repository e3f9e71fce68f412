// SPDX-License-Identifier: MIT
#include "runtime/lua/module_names.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/lua/wire_bytes.h"
#include "tests/lua/two_states.h"

namespace shoal::core {

// The name of the script's result: "module", "module.field", …; "-" if it has none.
std::string NameOf(CodecState& state, const std::string& script) {
  state.Run(script);
  lua_State* const L = state.lua();
  CodecMemory& memory = MemoryOf(L);
  if (!ModuleNamesAreCurrent(L, memory)) MakeModuleNames(L, memory);
  REQUIRE(ModuleNamesAreCurrent(L, memory));
  std::size_t size = 0;
  const char* const wire = PushModuleName(L, memory, 1, size);
  if (wire == nullptr) return "-";
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(wire);
  REQUIRE(*bytes == wire::kModule);
  WireReader reader{bytes + 1, bytes + size};
  std::string_view text;
  std::uint64_t count = 0;
  REQUIRE(reader.Text(text));
  REQUIRE(reader.Varint(count));
  std::string name(text);
  for (; count != 0; --count) {
    REQUIRE(reader.Text(text));
    name += "." + std::string(text);
  }
  REQUIRE(reader.left() == 0);
  return name;
}

TEST_CASE("what the standard libraries hold has their names", "[module_names]") {
  CodecState state;
  CHECK(NameOf(state, "return print") == "_G.print");
  CHECK(NameOf(state, "return string") == "string");
  CHECK(NameOf(state, "return string.format") == "string.format");
  CHECK(NameOf(state, "return io.stdout") == "io.stdout");
  CHECK(NameOf(state, "return require") == "_G.require");
  CHECK(NameOf(state, "return package.loaded") == "package.loaded");
  CHECK(NameOf(state, "return package.searchers") == "package.searchers");
  CHECK(NameOf(state, "return coroutine.wrap(print)") == "-");
}

TEST_CASE("modules, their fields and the fields of those have names", "[module_names]") {
  CodecState state;
  state.Run(R"(
    package.loaded.m = {
      native = coroutine.wrap(print), lua = function() end, plain = {1, 2}, file = io.tmpfile(),
      class = {new = function() end, native = coroutine.wrap(print),
               inner = {f = function() end, native = coroutine.wrap(print)}},
      namespace = {file = io.tmpfile(), class = {new = function() end}},
      [1] = {f = function() end},
    }
    package.loaded['a.b'] = {f = function() end}
    package.loaded.fn = function() end
    package.loaded.data = {1, 2, 3}
    package.loaded.object = setmetatable({}, {}))");
  CHECK(NameOf(state, "return package.loaded.m") == "m");
  CHECK(NameOf(state, "return package.loaded.m.native") == "m.native");
  CHECK(NameOf(state, "return package.loaded.m.lua") == "-");
  CHECK(NameOf(state, "return package.loaded.m.plain") == "-");
  CHECK(NameOf(state, "return package.loaded.m.file") == "m.file");
  CHECK(NameOf(state, "return package.loaded.m.class") == "m.class");
  CHECK(NameOf(state, "return package.loaded.m.class.native") == "m.class.native");
  CHECK(NameOf(state, "return package.loaded.m.class.new") == "-");
  CHECK(NameOf(state, "return package.loaded.m.class.inner") == "m.class.inner");
  CHECK(NameOf(state, "return package.loaded.m.class.inner.native") == "-");
  CHECK(NameOf(state, "return package.loaded.m.namespace") == "-");
  CHECK(NameOf(state, "return package.loaded.m.namespace.file") == "m.namespace.file");
  CHECK(NameOf(state, "return package.loaded.m.namespace.class") == "m.namespace.class");
  CHECK(NameOf(state, "return package.loaded.m[1]") == "-");
  CHECK(NameOf(state, "return package.loaded['a.b']") == "a.b");
  CHECK(NameOf(state, "return package.loaded.fn") == "fn");
  CHECK(NameOf(state, "return package.loaded.data") == "-");
  CHECK(NameOf(state, "return package.loaded.object") == "object");
}

TEST_CASE("of the globals only C functions have names", "[module_names]") {
  CodecState state;
  state.Run("native = coroutine.wrap(print) class = {new = function() end} file = io.tmpfile()");
  CHECK(NameOf(state, "return native") == "_G.native");
  CHECK(NameOf(state, "return class") == "-");
  CHECK(NameOf(state, "return file") == "-");
}

TEST_CASE("of several names the best is taken, in whatever order", "[module_names]") {
  for (int i = 0; i < 20; ++i) {  // Lua's order of fields depends on the state
    CodecState state;
    state.Run(R"(
      local class, native = {new = function() end}, coroutine.wrap(print)
      package.loaded.b = {class = class, class2 = class, native = native, print = print}
      package.loaded.bb = class
      package.loaded.a = {klass = class, deep = {native = native}, format = string.format}
      a_global, f = native, string.format)");
    CHECK(NameOf(state, "return package.loaded.bb") == "bb");
    CHECK(NameOf(state, "return a_global") == "b.native");
    CHECK(NameOf(state, "return print") == "_G.print");
    CHECK(NameOf(state, "return f") == "string.format");
  }
}

TEST_CASE("names are current until a module comes, goes or changes", "[module_names]") {
  CodecState state;
  CHECK(NameOf(state, "return {}") == "-");
  const CodecMemory& memory = MemoryOf(state.lua());
  CHECK(ModuleNamesAreCurrent(state.lua(), memory));
  for (const char* change :
       {"package.loaded.new = {}", "package.loaded.new = {1}", "package.loaded.new = nil"}) {
    state.Run(change);
    CHECK_FALSE(ModuleNamesAreCurrent(state.lua(), memory));
    CHECK(NameOf(state, "return {}") == "-");
  }
  ForgetModuleNames(state.lua());
  CHECK_FALSE(ModuleNamesAreCurrent(state.lua(), memory));
}

TEST_CASE("names keep no value alive", "[module_names]") {
  CodecState state;
  state.Run(
      "package.loaded.m = {class = {new = function() end}} "
      "weak = setmetatable({package.loaded.m.class}, {__mode = 'v'}) return weak[1]");
  CHECK(NameOf(state, "return weak[1]") == "m.class");
  state.Run("package.loaded.m.class = nil collectgarbage() collectgarbage() return #weak");
  CHECK(lua_tointeger(state.lua(), 1) == 0);
}

}  // namespace shoal::core
