// SPDX-License-Identifier: MIT
// Conversion of tables that are sent, as in Lanes: by __lanesconvert or __lanesclone in their
// metatable, in states that have loaded the module lanes.
//
//   __lanesconvert  a function (table, "regular") → what is sent instead; lanes.null: nil is;
//                   "decay": the address of the table, as light userdata
//   __lanesclone    a function (clone, table): fills the clone, a new table that is sent instead,
//                   with the metatable
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

namespace shoal::bindings {

// From now on tables of this state are converted. [-0, +0, m]
void EnableConversion(lua_State* L);

// ScriptLibrary::PushTransfer. [-0, +?, -]
bool PushConversion(lua_State* L);

// The loaders of what has been converted. (value) → value.
int Same(lua_State* L);
// ({ table, metatable }) → the table, with the metatable.
int Adopt(lua_State* L);

}  // namespace shoal::bindings
