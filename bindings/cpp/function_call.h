// SPDX-License-Identifier: MIT
// How Lua code calls functions of the program: arguments and results travel as messages do.
//
//   1 the arguments become a message            may raise; nothing of C++ is alive
//   2 the message becomes Values, the function  an inner frame, which lets no exception out
//     is called, and its results a message
//   3 that becomes values on the stack          may raise; the message is owned by the state, or
//                                               freed first
//
// Threads: the owner of the process.
#pragma once

#include <shoal/function.h>
#include <shoal/object.h>
#include <shoal/values.h>

#include <cstdint>
#include <lua.hpp>
#include <string>

#include "bindings/cpp/gate.h"
#include "runtime/message/message.h"

namespace shoal::embed {

// A function under a name. The runtime keeps it until no process can run any more.
struct HostFunction {
  Gate& gate;
  std::string name;  // for reports
  Function function;
  AsyncFunction later;  // if that is empty
};

// A method of a class.
struct HostMethod {
  Gate& gate;
  const ObjectClass* of;
  Method method;
};

// Pushes it as a Lua function. [-0, +1, m]
void PushFunction(lua_State* L, const HostFunction& function);
// [-0, +1, m]
void PushMethod(lua_State* L, const HostMethod& method);

// What has come of a call.
struct Outcome {
  enum class End : std::uint8_t {
    kReturn,   // the values of the message
    kRaise,    // its one value
    kRaiseAt,  // the same, a text, with the place of the call in front
  };
  core::Message* message;  // null: there was no memory for it
  End end;
};

// What Lua gets for these results. Lets no exception out.
Outcome OutcomeOf(Gate& gate, const Result<Values>& results);

// Returns or raises it, and frees its message. May suspend the task, to require modules. Used as
// `return Finish(…)`. [-0, +n, e]
int Finish(lua_State* L, Outcome outcome);

// The state whose process calls a function of the program on this thread; nullptr: none does.
class CurrentCall {
 public:
  explicit CurrentCall(lua_State* L) : outer_(current_) { current_ = L; }
  ~CurrentCall() { current_ = outer_; }
  CurrentCall(const CurrentCall&) = delete;
  CurrentCall& operator=(const CurrentCall&) = delete;

  [[nodiscard]] static lua_State* State() { return current_; }

 private:
  static inline constinit thread_local lua_State* current_ = nullptr;
  lua_State* const outer_;
};

}  // namespace shoal::embed
