// SPDX-License-Identifier: MIT
// The options of spawn that bound a process and its descendants: memory_limit, cpu_limit,
// message_limit, channels. A child gets the bounds of its creator, or narrower ones; wider ones are
// an error. (The libraries are in spawn.cc.)
//
// Threads: the owner of the process. The options stand in a userdata, so errors may be raised.
#pragma once

#include <lua.hpp>
#include <string_view>

#include "runtime/process/process.h"
#include "runtime/process/spawn_options.h"

namespace shoal::bindings {

// Raises that the option, whose value is on top of the stack, is not what was expected. [-0, +0, v]
int OptionError(lua_State* L, const char* name, const char* expected);

// Before the options are read: the bounds of the creator.
void InheritBounds(core::Process& creator, core::SpawnOptions& options);
// Takes the value on top of the stack, if `name` is one of these options. [-0, +0, v]
bool TakeBound(lua_State* L, std::string_view name, core::SpawnOptions& options);
// When all options of the table at index 1 have been read. [-0, +0, m]
void FinishBounds(lua_State* L, core::SpawnOptions& options);

}  // namespace shoal::bindings
