// SPDX-License-Identifier: MIT
// Arguments of Lua calls: checked once, here, with errors that name the argument and what was
// expected. Seconds become durations here and nowhere else.
//
// Threads: the owner of the process. All raise on misuse. [-0, +0, v]
#pragma once

#include <cstdint>
#include <lua.hpp>

#include "runtime/base/clock.h"
#include "runtime/channel/channel.h"
#include "runtime/channel/key_name.h"
#include "runtime/process/process.h"

namespace shoal::bindings {

// How long to wait: for ever if the argument is nil or none or math.huge.
inline constexpr core::Duration kForever = core::Duration::max();

core::Duration CheckTimeout(lua_State* L, int arg);
// The same for the value at `index`, which belongs to the argument `arg`; errors call it `name`.
core::Duration CheckTimeoutAt(lua_State* L, int index, int arg, const char* name);
// A time that must be given.
core::Duration CheckTime(lua_State* L, int arg);
// The deadline for `timeout` from now on; kNever for kForever.
core::TimePoint DeadlineFor(lua_State* L, core::Duration timeout);

// A string, integer, boolean, light userdata or handle. The name looks at the value on the stack.
// `hint` follows what is said of a float.
core::KeyName CheckKey(lua_State* L, int arg, const char* hint = "");
// The same without raising: false if the value at `index` is no key.
bool ToKey(lua_State* L, int index, core::KeyName* key);
// What is said of such a value.
inline constexpr char kKeyKinds[] = "a key is a string, integer, boolean, light userdata or handle";
// The same for the element on top of the stack of the list that is argument `arg`.
core::KeyName CheckKeyElement(lua_State* L, int arg, lua_Integer position);
// Pushes the value of a key. [-0, +1, m]
void PushKey(lua_State* L, const core::KeyName& key);

// A count of messages: a non-negative integer or math.huge (kNoLimit).
std::uint64_t CheckLimit(lua_State* L, int arg);
// The same for the value on top of the stack, of the option `name` of the table at `arg`.
std::uint64_t CheckOptionLimit(lua_State* L, int arg, const char* name);
void PushLimit(lua_State* L, std::uint64_t limit);
// A positive count that fits 32 bits; math.huge is the largest.
std::uint32_t CheckPositive(lua_State* L, int arg);

// Raises unless a value other than nil stands at `arg`: the first value of a message.
void CheckFirstValue(lua_State* L, int arg);

// Raises "not enough memory" unless `enough`. (Written so that nothing of C++ is alive then.)
inline void CheckMemory(lua_State* L, bool enough) {
  if (!enough) luaL_error(L, "not enough memory");
}

// Pushes nil and the word for `status`; returns 2.
int PushOutcome(lua_State* L, core::Status status);

// For DescribeWait: " on channel \"jobs\"", " of process 7 (worker)".
void AppendChannel(const core::Channel& channel, std::string& text);
void AppendProcess(const core::Process& process, std::string& text);
// Appends a key as a reader of reports wants it: "jobs", 17, true. For DescribeWait.
void AppendKey(lua_State* L, int index, std::string& text);

}  // namespace shoal::bindings
