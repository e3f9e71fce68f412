// SPDX-License-Identifier: MIT
// shoal.pool, and the methods of pools. What is called goes through one channel, the pool's queue:
// under kCallKey what any process may take, under 1 to `size` what one of them has to, in order.
// The rest is policy: pool.lua (callers), pool_starter.lua (the process that starts the others, and
// starts them again) and pool_process.lua (those that are called).
//
// Threads: the owner of the process, unless said otherwise.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string>
#include <utility>

#include "runtime/base/ref_counted.h"
#include "runtime/channel/channel.h"

namespace shoal::bindings {

// What the handles of a pool stand for, in all processes. Immutable.
class Pool final : public core::RefCounted {
 public:
  Pool(core::Channel& queue, std::string name, std::int64_t size)
      : RefCounted(Kind::kPool),
        queue_(core::Ref<core::Channel>::Share(&queue)),
        name_(std::move(name)),
        size_(size) {}
  [[nodiscard]] core::Channel& queue() const { return *queue_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // empty: it has none
  [[nodiscard]] std::int64_t size() const { return size_; }        // how many processes

 private:
  const core::Ref<core::Channel> queue_;
  const std::string name_;
  const std::int64_t size_;
};

inline constexpr char kCallKey[] = "call";

// The pool is closed, and the calls that stand in its queue are. Any thread, no lock held.
void EndPool(Pool& pool);

// shoal.pool, shoal.map, shoal.imap
int MakePool(lua_State* L);
int Map(lua_State* L);
int IMap(lua_State* L);

// For the Lua files that are built in:
// (queue, name | nil, size) → pool
int NewPool(lua_State* L);
// (starter, pool, registry | nil): when the starter ends, the pool is closed, and its name in the
// registry is free.
int WatchStarter(lua_State* L);
// (pool): the same, at once.
int EndPool(lua_State* L);
// (pool) → queue, size
int PoolQueue(lua_State* L);

}  // namespace shoal::bindings
