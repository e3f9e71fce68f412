// SPDX-License-Identifier: MIT
// Making and closing the lua_State of a process.
//
// Threads: the one that runs (or makes) the state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/lua/allocator.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {

// Which standard libraries a state opens; the base functions and coroutine switching that the
// runtime needs are always there.
using LibrarySet = std::uint32_t;
inline constexpr LibrarySet kLibCoroutine = 1U << 0;
inline constexpr LibrarySet kLibTable = 1U << 1;
inline constexpr LibrarySet kLibIo = 1U << 2;
inline constexpr LibrarySet kLibOs = 1U << 3;
inline constexpr LibrarySet kLibString = 1U << 4;
inline constexpr LibrarySet kLibUtf8 = 1U << 5;
inline constexpr LibrarySet kLibMath = 1U << 6;
inline constexpr LibrarySet kLibDebug = 1U << 7;
inline constexpr LibrarySet kLibPackage = 1U << 8;
inline constexpr LibrarySet kLibShoal = 1U << 9;    // require "shoal"
inline constexpr LibrarySet kLibSocket = 1U << 10;  // require "socket.core", "socket.unix"
inline constexpr LibrarySet kAllLibraries = (1U << 11) - 1;

// The bit of a library's name ("string", …, "shoal"), 0 if there is none of that name.
LibrarySet LibraryOf(const char* name);

// A state without libraries, with stock panic-free settings, warnings as luaL_newstate sets them
// up ("@on", "@off"), `record` in its extra space with main, task and current set to the main
// thread. nullptr if memory is short. `allocator` and `record` outlive the state.
lua_State* NewState(Allocator* allocator, StateRecord* record);

// Opens the libraries of `set`, with ours in place of stock's where waits must pass: coroutine,
// pcall, xpcall, require, print, io.write, debug.sethook and gethook. Runs in protected mode or
// inside a resume. [-0, +0, e]
void OpenLibraries(lua_State* L, LibrarySet set);

// Closes the state (finalizers run) and frees the codec's scratch. `list`: see StateSlots, for
// copies of an image.
void CloseState(lua_State* L, int list = 0);

// The parts of NewState, for images: with another function that allocates; and only the record's.
lua_State* NewStateWith(lua_Alloc function, Allocator* allocator, StateRecord* record);
void SetMain(lua_State* main, StateRecord* record);

}  // namespace shoal::core
