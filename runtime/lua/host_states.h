// SPDX-License-Identifier: MIT
// A host state is a lua_State that somebody else has made, such as the stock interpreter. Its extra
// space belongs to whoever made it, so the runtime finds its record by the address of its registry,
// which is one table as long as the state lives.
//
// A state that is known no more gets a record without a host: its own was taken away because it is
// being closed, or the program has forked, and in the child are no threads that could serve it.
//
// Threads: any thread may call any member; one state is used by one thread at a time.
// Locks:   a leaf, for the list. Find takes it only if another state was found last on the thread.
#pragma once

#include <atomic>
#include <lua.hpp>

namespace shoal::core {

struct StateRecord;

class HostStates {
 public:
  // One entry, the owner's.
  struct Entry {
    const void* registry = nullptr;
    StateRecord* record = nullptr;
    Entry* next = nullptr;
  };

  // From now on, `record` is that of the state of `L`. False if the system refuses memory for the
  // handler that a fork calls.
  [[nodiscard]] static bool Add(lua_State* L, Entry& entry, StateRecord& record);
  // Another record for the same state.
  static void Change(Entry& entry, StateRecord& record);
  static void Remove(Entry& entry);

  // There has been one: so who asks for a record on a thread that is not the runtime's may mean it.
  [[nodiscard]] static bool Exist() { return exist_.load(std::memory_order_relaxed); }
  // The record of the state of `L`; one without a host if it is not known.
  [[nodiscard]] static StateRecord& Find(lua_State* L);

 private:
  // Set before the first record can be asked for, by the same thread; publishes nothing else.
  static inline constinit std::atomic<bool> exist_{false};
};

}  // namespace shoal::core
