// SPDX-License-Identifier: MIT
// Delivery turns received messages into Lua values, without losing one: what cannot be decoded for
// lack of memory goes back to the head of its key.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>

#include "runtime/message/message.h"

namespace shoal::bindings {

enum class Form : lua_KContext {
  kValues,    // the values of the one message
  kKeyed,     // the same behind the key on the stack's top
  kNumbered,  // the same behind the number on the stack's top
  kFirsts,    // a list of the first value of each message, with n
  kPacked,    // a list of table.pack of each message, with n
  kFlat,      // the first value of each message behind the key on the stack's top
};

// Returns the values of the messages that stand in the current task's waiter, which it takes out.
// Index 1 is the channel, `key_index` the key, for the case that they have to go back. May suspend
// the task to require modules: used as `return Deliver(…)`. [-0, +n, e]
int Deliver(lua_State* L, Form form, int key_index);

// Returns the values of copies of messages that stand in the current task's waiter, and frees them.
// May suspend. [-0, +n, e]
enum class Counted : bool { kNo, kYes };
// kYes: how many messages there are goes first.
int DeliverCopies(lua_State* L, Counted counted);
inline int DeliverCopy(lua_State* L) { return DeliverCopies(L, Counted::kNo); }

// Returns `message` decoded, which stays whole: results of processes. It is kept by the handle at
// index 1. `before` values on the stack's top go first. May suspend. [-0, +n, e]
int DeliverKept(lua_State* L, const core::Message& message, int before);

}  // namespace shoal::bindings
