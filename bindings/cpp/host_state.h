// SPDX-License-Identifier: MIT
// A HostState is what a state of the program, which takes part in a runtime, has of it. It stands
// in the registry of the state, and ends by a finalizer when that is closed.
//
// The finalizer was set before those of all that was made of Shoal in the state, so it runs after
// them.
//
// Threads: the one that runs the state.
#pragma once

#include <lua.hpp>
#include <memory>

#include "bindings/cpp/runtime_state.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/lua/host_states.h"
#include "runtime/lua/state_record.h"
#include "runtime/process/process.h"

namespace shoal::embed {

class HostState {
 public:
  HostState() = default;
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  // Whether the state has one. [-0, +0, -]
  [[nodiscard]] static bool IsIn(lua_State* L);
  // Pushes what ends it, into the registry. [-0, +0, m]
  static HostState** MakeBox(lua_State* L);

  // Ends it, after a failure. [-0, +0, -]
  static void Undo(lua_State* L);

  // The state whose main thread is `main` takes part from here on. REQUIRES: inside the gate.
  // Unless kOk, Undo comes next.
  core::Status Open(lua_State* main, const std::shared_ptr<RuntimeState>& runtime);

 private:
  static int Collect(lua_State* L);
  static void End(lua_State* L, HostState** box);
  // True: nothing refers to it any more.
  [[nodiscard]] bool Close(const core::StateRecord& known);

  std::shared_ptr<RuntimeState> runtime_;
  core::Ref<core::Process> process_;
  core::HostStates::Entry entry_;
  core::StateRecord starting_;  // of the state until it has a process
};

}  // namespace shoal::embed
