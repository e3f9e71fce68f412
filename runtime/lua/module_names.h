// SPDX-License-Identifier: MIT
// The names under which values of loaded modules travel: a module and at most two fields.
//
// A table in the registry maps the values (weakly) to their names as they stand in a message. It is
// made at the first function, userdata or metatable that is sent. Which values have names:
//   - what package.loaded holds: functions, userdata, tables with methods or a metatable;
//   - their fields with string keys, and the fields of those: C functions, userdata, tables with
//     methods. A table has methods if a function is among its first kMaxScan fields;
//   - of _G, C functions alone.
// Of several names the best is taken: a standard library's, then the one with fewer fields, then
// the shorter, then the first in the order of bytes.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <lua.hpp>

#include "runtime/lua/codec_scratch.h"

namespace shoal::core {

// More fields than these of one table are not looked at.
inline constexpr int kMaxScan = 4096;

// True if the names were made for just the modules that are loaded now. [-0, +0, -]
bool ModuleNamesAreCurrent(lua_State* L, const CodecMemory& memory);

// Makes them anew. Garbage may be collected meanwhile. [-0, +0, m]
void MakeModuleNames(lua_State* L, CodecMemory& memory);

// The name of the value at `index`, as a kModule or kStandIn of a message; nullptr if it has none.
// Pushes a value that keeps the bytes alive, nil if there is no name. REQUIRES: the names have been
// made. [-0, +1, -]
const char* PushModuleName(lua_State* L, const CodecMemory& memory, int index, std::size_t& size);

// Pushes the string "__transfer" without asking for memory. REQUIRES: as above. [-0, +1, -]
void PushTransferKey(lua_State* L);

}  // namespace shoal::core
