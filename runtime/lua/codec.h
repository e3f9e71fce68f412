// SPDX-License-Identifier: MIT
// The codec turns Lua values into a Message and back.
//
// It keeps: cycles and references shared inside one message, integers and floats exactly, any
// bytes, metatables, functions with their upvalues (shared ones stay shared; the globals table of
// the sender becomes that of the receiver). Values of modules go by name (module, field).
// What cannot travel is an error with the path of the value: "cannot send a coroutine (at
// [1].jobs[3].co)".
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <lua.hpp>
#include <string_view>

#include "runtime/message/message.h"

namespace shoal::core {

// Encodes the `count` values from `first` on. On success returns the message; the stack is as
// before. Raises a Lua error if a value cannot travel, if a __transfer raises, if the message is
// larger than the limit of the state, or if memory is short ("not enough memory"); frees what it
// made. No C++ object with a destructor of the caller may be alive. [-0, +0, e]
//
// The result is a raw pointer because the caller is a C function of Lua: put it into a MessageList
// or MessagePtr in an inner function at once.
Message* Encode(lua_State* L, int first, int count);

// As Encode, with the name of what is sent in place of the bare position: paths in errors start
// with `root` ("env") instead of "[1]". Used for single values.
Message* EncodeNamed(lua_State* L, int index, const char* root);

// Decodes a message of at most 8 scalars, which cannot raise: the caller needs no protected call.
// Pushes the values, and `count` says how many. False for any other message; then nothing was
// pushed. REQUIRES: 8 free stack slots, as a C function has at its start. [-0, +n, -]
[[nodiscard]] bool DecodeScalars(lua_State* L, const Message& message, int* count);

// True if the message names modules that this state has not loaded yet, and that are not known to
// fail: RequireModules first. [-0, +0, m]
bool NeedsModules(lua_State* L, const Message& message);
// Requires them; one that fails is remembered until ForgetModuleNames, and its values arrive as
// stand-ins. May suspend the task: `return RequireModules(L, message, context, k)`. Then
// k(L, LUA_YIELD, context) runs, with the stack as it was; not if memory is short or the task is
// being cancelled: these errors are passed on. The message must live until then. [-0, +0, e]
int RequireModules(lua_State* L, const Message& message, lua_KContext context, lua_KFunction k);

// Pushes the values and returns how many. Does not change the message: it may be decoded again.
// Loaders of __transfer run in it; they cannot wait, and what they raise arrives as a stand-in.
// Raises for lack of memory or stack, for a malformed message, and on a cancellation; then the
// stack may hold a part. [-0, +n, m]
int Decode(lua_State* L, const Message& message);
// How many values it holds.
int ValueCount(const Message& message);

// The names under which values of loaded modules travel are looked up in a table that is made at
// first use; our `require` calls this after each module, so that it is made again. [-0, +0, -]
void ForgetModuleNames(lua_State* L);

// Frees the scratch memory of a state. Called once, before or after lua_close.
void FreeCodecScratch(void* scratch);

}  // namespace shoal::core
