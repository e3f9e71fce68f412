// SPDX-License-Identifier: MIT
// The allocator of a state, with a count and a limit. Blocks come from one of three places:
//
//   malloc, with a cache   states that are opened in the ordinary way
//   a slot, then malloc    states that are copies of an image (state_slot.h)
//   an arena               states of simulated runs (arena.h)
//
// Threads: the one that runs the state; `used` may be read by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "runtime/lua/block_cache.h"
#include "runtime/lua/state_slot.h"

namespace shoal::core {

class Arena;

struct Allocator {
  Arena* arena = nullptr;  // the simulator's
  BlockCache cache;        // else
  StateSlot slot;          // a copy's; else none
  // A copy's: blocks that stand neither in the slot nor in the cache. While there are none, the
  // state is gone when its slot is.
  std::size_t outside = 0;
  // Bytes. Written by the thread that runs the state, read by any; relaxed: publishes nothing.
  std::atomic<std::size_t> used{0};
  // Growing beyond it fails, and Lua collects garbage before it raises; shrinking never does.
  std::size_t limit = SIZE_MAX;

  // The buffers of lauxlib (string.rep, table.concat, …) raise without a collection. So a new
  // object that comes when half of the room is used up is refused once: then Lua collects and tries
  // again, and a buffer finds what room there can be.
  std::size_t collect_at = SIZE_MAX;
  bool is_collecting = false;  // an object has been refused for that
  // From now on, if there is a limit. REQUIRES: the state is complete.
  void CollectInTime();
};

// What Lua calls, with an Allocator: of states that have no slot, and of those that have one.
void* AllocateBlock(void* allocator, void* block, std::size_t old_size, std::size_t new_size);
void* AllocateInSlot(void* allocator, void* block, std::size_t old_size, std::size_t new_size);
// The same for the state of which an image is made: all that has not been written to is 0.
void* AllocateZeroed(void* allocator, void* block, std::size_t old_size, std::size_t new_size);

// The allocator of a state that we have made; nullptr: somebody else has, and it has another.
Allocator* AllocatorOf(lua_State* L);

}  // namespace shoal::core
