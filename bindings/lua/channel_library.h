// SPDX-License-Identifier: MIT
// The methods of channels in Lua. What each does is in bindings/README.md.
//
// Threads: the owner of the process.
#pragma once

#include <lua.hpp>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/channel/channel.h"

namespace shoal::bindings {

// shoal.channel([name | options]). [-0, +1, v]
int NewChannel(lua_State* L);

// channel_send.cc
// Sends the outbox of the task, which mostly succeeds at once: `true`, or nil and the outcome. The
// channel is at index 1, the key at `key_index`, 2 or 3. Used as `return SendOutbox(…)`.
int SendOutbox(lua_State* L, core::Channel& channel, int key_index, core::Duration timeout);
int Send(lua_State* L);
int SendFor(lua_State* L);
int SendBatch(lua_State* L);
// channel_receive.cc
int Receive(lua_State* L);
int ReceiveAny(lua_State* L);
int ReceiveBatch(lua_State* L);
int Each(lua_State* L);
// channel_store.cc
int Set(lua_State* L);
int Get(lua_State* L);
int Add(lua_State* L);
int Incr(lua_State* L);
int Expire(lua_State* L);
int Ttl(lua_State* L);
int Limit(lua_State* L);
int Count(lua_State* L);
int Keys(lua_State* L);

}  // namespace shoal::bindings
