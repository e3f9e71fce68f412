// SPDX-License-Identifier: MIT
#include "runtime/lua/host_states.h"

#include <pthread.h>

#include <cstdint>

#include "runtime/base/mutex.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {

namespace {

constinit Mutex list_mutex(LockRank::kLeaf);
constinit HostStates::Entry* first SHOAL_GUARDED_BY(list_mutex) = nullptr;
constinit bool follows_forks SHOAL_GUARDED_BY(list_mutex) = false;
// Changes with each change of the list: what a thread remembers is of one version. Written under
// the lock. A thread looks for a state that it was given by who has added it, or added it itself.
constinit std::atomic<std::uint64_t> version{1};

// What the thread has found last.
struct Found {
  const void* registry;
  StateRecord* record;
  std::uint64_t version;
};
constinit thread_local Found last_found{};

// The record of states that are not known. Nobody writes to it: what would, asks for the host
// first.
constinit StateRecord unknown{};

const void* RegistryOf(lua_State* L) { return lua_topointer(L, LUA_REGISTRYINDEX); }

// Around a fork: the child's copy of the list must be whole. Its threads are gone, so no state that
// they served is known to it.
void BeforeFork() SHOAL_NO_THREAD_ANALYSIS { list_mutex.Lock(); }
void AfterForkInParent() SHOAL_NO_THREAD_ANALYSIS { list_mutex.Unlock(); }
void AfterForkInChild() SHOAL_NO_THREAD_ANALYSIS {
  first = nullptr;
  version.fetch_add(1);
  list_mutex.Unlock();
}

}  // namespace

bool HostStates::Add(lua_State* L, Entry& entry, StateRecord& record) {
  entry.registry = RegistryOf(L);
  entry.record = &record;
  MutexLock lock(list_mutex);
  if (!follows_forks) {
    if (pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild) != 0) return false;
    follows_forks = true;
  }
  exist_.store(true, std::memory_order_relaxed);
  entry.next = first;
  first = &entry;
  version.fetch_add(1);
  return true;
}

void HostStates::Change(Entry& entry, StateRecord& record) {
  MutexLock lock(list_mutex);
  entry.record = &record;
  version.fetch_add(1);
}

void HostStates::Remove(Entry& entry) {
  MutexLock lock(list_mutex);
  for (Entry** link = &first; *link != nullptr; link = &(*link)->next) {
    if (*link != &entry) continue;
    *link = entry.next;
    break;
  }
  version.fetch_add(1);
}

StateRecord& HostStates::Find(lua_State* L) {
  const void* const registry = RegistryOf(L);
  Found& found = last_found;
  if (found.registry == registry && found.version == version.load(std::memory_order_relaxed)) {
    return *found.record;
  }
  MutexLock lock(list_mutex);
  found = {registry, &unknown, version.load(std::memory_order_relaxed)};
  for (const Entry* entry = first; entry != nullptr; entry = entry->next) {
    if (entry->registry == registry) found.record = entry->record;
  }
  return *found.record;
}

StateHost& StartHost(lua_State* L, StateRecord& record) {
  if (record.start == nullptr) {
    luaL_error(L,
               "shoal cannot be used here any more: the state is being closed, or the program "
               "has forked");
  }
  return *record.start(L, record);
}

}  // namespace shoal::core
