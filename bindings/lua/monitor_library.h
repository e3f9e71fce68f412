// SPDX-License-Identifier: MIT
// p:monitor, and what groups are told of the ends of their members.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// p:monitor(channel, key) → a handle with cancel().
int MonitorProcess(lua_State* L);

// (process | task, channel, number): when it ends, and be it that it has, the number is sent to the
// channel, under the key 1. Its error counts as known.
int WatchMember(lua_State* L);
// (channel): one of those numbers, or nil. Never switches tasks.
int TakeMember(lua_State* L);

}  // namespace shoal::bindings
