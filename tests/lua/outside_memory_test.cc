// SPDX-License-Identifier: MIT
#include "runtime/lua/outside_memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "runtime/lua/state.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// A state in which make(n) returns a value that keeps n bytes outside, and kept() says how many are
// kept in all.
class OutsideState {
 public:
  OutsideState() {
    luaL_openlibs(L_);
    lua_pushcfunction(L_, Make);
    lua_setglobal(L_, "make");
    lua_pushcfunction(L_, Kept);
    lua_setglobal(L_, "kept");
  }
  ~OutsideState() { CloseState(L_); }
  OutsideState(const OutsideState&) = delete;
  OutsideState& operator=(const OutsideState&) = delete;

  // The result of the script, or its error.
  std::string Run(const char* script) {
    lua_settop(L_, 0);
    static_cast<void>(luaL_dostring(L_, script));
    const char* const text = luaL_tolstring(L_, 1, nullptr);
    return text;
  }
  [[nodiscard]] std::size_t used() const { return allocator_.used; }
  [[nodiscard]] std::size_t kept() const { return record_.outside_memory; }
  void SetLimit(std::size_t room) { allocator_.limit = allocator_.used + room; }

 private:
  static int Make(lua_State* L) {
    auto* const size = static_cast<std::size_t*>(lua_newuserdatauv(L, sizeof(std::size_t), 0));
    *size = 0;
    if (luaL_newmetatable(L, "test.outside") != 0) {
      lua_pushcfunction(L, Collect);
      lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    const auto wanted = static_cast<std::size_t>(luaL_checkinteger(L, 1));
    AddOutsideMemory(L, wanted);
    *size = wanted;
    return 1;
  }
  static int Collect(lua_State* L) {
    DropOutsideMemory(L, *static_cast<std::size_t*>(lua_touserdata(L, 1)));
    return 0;
  }
  static int Kept(lua_State* L) {
    lua_pushinteger(L, static_cast<lua_Integer>(RecordOf(L).outside_memory));
    return 1;
  }

  Allocator allocator_;
  StateRecord record_;
  lua_State* const L_ = NewState(&allocator_, &record_);
};

TEST_CASE("outside memory counts as the state's, until its value is collected") {
  OutsideState state;
  const std::size_t before = state.used();
  state.Run("value = make(1000000)");
  CHECK(state.kept() == 1'000'000);
  CHECK(state.used() >= before + 1'000'000);
  CHECK(state.used() < before + 1'100'000);
  state.Run("value = nil collectgarbage()");
  CHECK(state.kept() == 0);
  CHECK(state.used() < before + 100'000);
}

TEST_CASE("outside memory beyond the limit is an error, after what is garbage has been collected") {
  OutsideState state;
  state.SetLimit(3 * kMegabyte);
  CHECK(state.Run("for i = 1, 20 do make(2 << 20) end return 'done'") == "done");
  CHECK(state.Run("value = make(2 << 20) local ok, err = pcall(make, 2 << 20) return err") ==
        "not enough memory");
  CHECK(state.kept() == 2 * kMegabyte);
  CHECK(state.Run("value = nil return #tostring(make(2 << 20)) > 0") == "true");
  CHECK(state.Run("return pcall(make, math.maxinteger)") == "false");
}

TEST_CASE("what the state itself asks for finds no room that outside memory has taken") {
  OutsideState state;
  state.SetLimit(3 * kMegabyte);
  CHECK(state.Run("value = make(2 << 20) return (pcall(string.rep, 'x', 1 << 20))") == "false");
  CHECK(state.Run("value = nil collectgarbage() return #string.rep('x', 1 << 20)") == "1048576");
}

TEST_CASE(
    "garbage that keeps outside memory is collected before there is as much as all the rest") {
  for (const char* mode : {"incremental", "generational"}) {
    OutsideState state;
    const std::string script = std::string("collectgarbage('") + mode + R"lua(')
      kept_on = make(20 << 20)
      local most = 0
      for i = 1, 1000 do
        make(1 << 20)
        most = math.max(most, kept())
      end
      return most >> 20)lua";
    const int most = std::stoi(state.Run(script.c_str()));
    CHECK(most >= 30);
    CHECK(most <= 43);
  }
}

TEST_CASE("after a peak, less garbage is left again") {
  OutsideState state;
  state.Run("local peak = make(500 << 20) local more = make(500 << 20)");
  CHECK(std::stoi(state.Run(R"lua(
      collectgarbage()
      local most = 0
      for i = 1, 200 do
        make(1 << 20)
        most = math.max(most, kept())
      end
      return most >> 20)lua")) <= 20);
}

TEST_CASE("a collector that was stopped stays so") {
  OutsideState state;
  CHECK(
      state.Run("collectgarbage('stop') for i = 1, 100 do make(1 << 20) end return kept() >> 20") ==
      "100");
}

TEST_CASE("finalizers may make such values") {
  OutsideState state;
  CHECK(state.Run(R"lua(
      for i = 1, 50 do
        setmetatable({}, { __gc = function() global = make(8 << 20) end })
        make(8 << 20)
      end
      global = nil
      collectgarbage()
      collectgarbage()
      return 'done')lua") == "done");
}

}  // namespace
}  // namespace shoal::core
