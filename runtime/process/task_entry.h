// SPDX-License-Identifier: MIT
// The C functions in which bodies and tasks start. They call the user's function in a protected
// call that can yield, so that `<close>` handlers may wait and errors get a traceback.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>
#include <string>

#include "runtime/process/process.h"

namespace shoal::core {

class TaskEntry {
 public:
  // Pushes the entry of the body. Returns the number of arguments for lua_resume. [-0, +1, -]
  static int PushBody(lua_State* L);
  // Pushes the entry of a task; the function and its arguments follow. [-0, +1, -]
  static void PushTask(lua_State* thread);
  // The body has ended: keeps its results, or its error value, in the process. What cannot travel
  // becomes the error.
  static void KeepExit(Process& process);
  // A host has ended, which has no results: keeps that. Raises nothing.
  static void KeepNoResults(lua_State* L);

 private:
  static int RunTask(lua_State* L);
  static int TaskDone(lua_State* L, int status, lua_KContext context);
  static int RunBody(lua_State* L);
  static int LoadModules(lua_State* L, int status, lua_KContext stage);
  static int CallBody(lua_State* L);
  static void KeepText(Process& process);
  static int EncodeResults(lua_State* L);
  static int EncodeError(lua_State* L);
  static const Message* MessageOf(const SpawnOptions& options, lua_KContext stage);
};

// The error value on top of `L` as the stock interpreter prints it. Raises nothing. [-0, +0, -]
std::string ErrorText(lua_State* L);

}  // namespace shoal::core
