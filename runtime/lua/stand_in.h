// SPDX-License-Identifier: MIT
// A stand-in is what the receiver gets in place of a value that it cannot rebuild. Its first use
// raises the reason; sent on, it is the same value by the same name, so whoever can rebuild it may.
//
// It is a userdata with a metatable of its own. Where the value was to be a metatable, the
// stand-in's metatable takes its place: the fields of the table can be read, all else raises.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <lua.hpp>
#include <string_view>

namespace shoal::core {

// Pushes the stand-in for the value that `wire` (a kModule of a message) names, because of
// `reason`; the same for the same arguments. With an empty `wire` it is known by its reason alone.
// [-0, +1, m]
void PushStandIn(lua_State* L, std::string_view wire, std::string_view reason);

// What a message says for the stand-in, or the metatable of one, at `index`; nullptr if it is none.
// Pushes a value that keeps the bytes alive. [-0, +1, -]
const char* PushStandInWire(lua_State* L, int index, std::size_t& size);

// True if the value at `index` is a stand-in or the metatable of one. [-0, +0, -]
bool IsStandIn(lua_State* L, int index);

}  // namespace shoal::core
