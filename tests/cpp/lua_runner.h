// SPDX-License-Identifier: MIT
// Runs Lua source in a process of a runtime.
#pragma once

#include <shoal/shoal.h>

#include <lua.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/cpp/runtime_state.h"
#include "runtime/process/process.h"
#include "runtime/process/spawn_options.h"
#include "tests/support/eventually.h"

namespace shoal::test {

// What a process runs, and what has come of it. Kept by the test's program to its end, since a
// process may go on for longer than its test.
struct Source {
  std::string code;
  std::string result;
};

// The body of a process; its argument is a light userdata of the Source.
inline int RunSource(lua_State* L) {
  lua_settop(L, 1);
  const auto done = [](lua_State* state, int, lua_KContext) {
    auto& source = *static_cast<Source*>(lua_touserdata(state, 1));
    source.result = luaL_tolstring(state, 2, nullptr);
    return 0;
  };
  const auto& source = *static_cast<Source*>(lua_touserdata(L, 1));
  const int loaded = luaL_loadbuffer(L, source.code.data(), source.code.size(), "=script");
  return done(L, loaded == LUA_OK ? lua_pcallk(L, 0, 1, 0, 0, done) : loaded, 0);
}

// Spawns a process that runs the source. What it raises is its result.
inline core::Ref<core::Process> SpawnLua(Runtime& runtime, const std::string& code,
                                         Source** source = nullptr) {
  static auto* const kept = new std::vector<std::unique_ptr<Source>>();
  kept->push_back(std::make_unique<Source>(Source{code, "it has not ended"}));
  if (source != nullptr) *source = kept->back().get();
  core::SpawnOptions options;
  options.main = RunSource;
  options.main_context = kept->back().get();
  core::Ref<core::Process> process;
  static_cast<void>(
      core::Process::Spawn(runtime.state()->core->machine(), std::move(options), &process));
  return process;
}

// Its first result, as text, or the error.
inline std::string RunLua(Runtime& runtime, const std::string& code) {
  Source* source = nullptr;
  const core::Ref<core::Process> process = SpawnLua(runtime, code, &source);
  if (!process) return "no process";
  const bool ended =
      core::Eventually([&] { return process->exit().kind() != core::ExitKind::kNone; });
  return ended ? source->result : "it does not end";
}

}  // namespace shoal::test
