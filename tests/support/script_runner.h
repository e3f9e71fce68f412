// SPDX-License-Identifier: MIT
// Runs Lua source as the script of a runtime of its own, as the program does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <lua.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bindings/lua/shoal_library.h"
#include "bindings/lua/test_settings.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/runtime.h"

namespace shoal::test {

class CollectedLog final : public core::Log {
 public:
  // With room, for tests in which memory is short.
  CollectedLog() { text_.reserve(std::size_t{1} << 16); }
  void Write(core::LogLevel, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    text_.append(text).append("\n");
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

struct RunOptions {
  int workers = 2;
  std::size_t queue_memory = 0;
  int max_blocked_threads = 256;
  std::optional<std::uint64_t> seed = std::nullopt;  // the run is simulated
  // Called on a thread of its own while the script runs; it ends by itself.
  std::function<void(core::Runtime&)> meanwhile = nullptr;
  bool every = false;  // a slice ends at every instruction
  core::StateImages state_images = core::StateImages::kForMany;
  // What scripts see besides the libraries: called in each state. [-0, +0, e]
  void (*open)(lua_State* L) = nullptr;
};

// The module `shoal`, and what the test adds.
class TestLibrary final : public bindings::ShoalLibrary {
 public:
  explicit TestLibrary(void (*open)(lua_State*)) : open_(open) {}
  void Open(lua_State* L, core::LibrarySet libraries) const override {
    ShoalLibrary::Open(L, libraries);
    if (open_ != nullptr) open_(L);
  }

 private:
  void (*const open_)(lua_State*);
};

struct RunResult {
  int status = -1;     // the exit status
  std::string log;     // what was reported
  bool clean = false;  // Shutdown returned true
};

// The body of the script: the source is a light userdata of a std::string.
inline int RunSource(lua_State* L) {
  const auto& source = *static_cast<const std::string*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  if (luaL_loadbuffer(L, source.data(), source.size(), "=script") != LUA_OK) return lua_error(L);
  const auto done = [](lua_State* state, int, lua_KContext) { return lua_gettop(state); };
  lua_callk(L, 0, LUA_MULTRET, 0, done);
  return done(L, LUA_OK, 0);
}

inline RunResult RunScript(const std::string& source, const RunOptions& options = {}) {
  const core::SteadyClock steady;
  core::SimulatedClock simulated;
  const core::Clock& clock = options.seed ? static_cast<const core::Clock&>(simulated) : steady;
  CollectedLog log;
  const TestLibrary library(options.open);
  RunResult result;
  {
    core::Runtime runtime({.workers = options.workers,
                           .queue_memory = options.queue_memory,
                           .clock = clock,
                           .log = log,
                           .library = library,
                           .max_blocked_threads = options.max_blocked_threads,
                           .yield_at_every_instruction = options.every,
                           .seed = options.seed.value_or(0),
                           .state_images = bindings::TestStateImages(options.state_images),
                           .simulated_clock = options.seed ? &simulated : nullptr});
    if (runtime.Start() != core::Status::kOk) return result;
    core::SpawnOptions spawn;
    spawn.main = RunSource;
    spawn.main_context = const_cast<std::string*>(&source);
    if (runtime.SpawnScript(std::move(spawn)) != core::Status::kOk) return result;
    std::thread beside;
    if (options.meanwhile) beside = std::thread([&] { options.meanwhile(runtime); });
    result.status = runtime.WaitForEnd();
    if (beside.joinable()) beside.join();
    result.clean = runtime.Shutdown(std::chrono::seconds(30));
  }
  result.log = log.text();
  return result;
}

}  // namespace shoal::test
