// SPDX-License-Identifier: MIT
#include "runtime/lua/value_path.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/lua/two_states.h"

namespace shoal::core {

// The path of one key, the result of the script.
std::string PathOf(const std::string& script) {
  CodecState state;
  state.Run(script);
  ValuePath path;
  path.AddKey(state.lua(), 1);
  return path.text();
}

TEST_CASE("identifiers stand behind a dot, other keys in brackets", "[value_path]") {
  CHECK(PathOf("return 'name'") == ".name");
  CHECK(PathOf("return '_n1'") == "._n1");
  CHECK(PathOf("return '1n'") == "[\"1n\"]");
  CHECK(PathOf("return ''") == "[\"\"]");
  CHECK(PathOf("return 'my key'") == "[\"my key\"]");
  CHECK(PathOf("return 'ä'") == "[\"ä\"]");
  CHECK(PathOf("return 3") == "[3]");
  CHECK(PathOf("return math.mininteger") == "[-9223372036854775808]");
  CHECK(PathOf("return 1.5") == "[1.5]");
  CHECK(PathOf("return true") == "[true]");
  CHECK(PathOf("return {}") == "[table]");
}

TEST_CASE("odd bytes in keys are escaped", "[value_path]") {
  CHECK(PathOf("return 'a\"b\\\\c\\n\\0'") == "[\"a\\\"b\\\\c\\010\\000\"]");
}

TEST_CASE("long keys are cut", "[value_path]") {
  CHECK(PathOf("return ('x'):rep(100)") == "." + std::string(40, 'x') + "…");
  CHECK(PathOf("return ('-'):rep(100)") == "[\"" + std::string(40, '-') + "…\"]");
}

TEST_CASE("the parts of a path follow each other, up to its size", "[value_path]") {
  ValuePath path;
  path.AddPosition(1);
  path.AddUpvalue("x");
  path.Add("(key)");
  CHECK(path.text() == std::string("[1](upvalue x)(key)"));
  for (int i = 0; i < 1000; ++i) path.AddPosition(i);
  CHECK(std::string(path.text()).size() == 500);
}

}  // namespace shoal::core
