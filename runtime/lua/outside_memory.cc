// SPDX-License-Identifier: MIT
#include "runtime/lua/outside_memory.h"

#include <algorithm>
#include <cstdint>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/state.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// Nothing is collected for less than this.
constexpr std::size_t kLeastGrowth = std::size_t{16} << 20;

// No exchange: the thread that runs the state is the only one that writes.
void SetUsed(Allocator& allocator, std::size_t used) {
  allocator.used.store(used, std::memory_order_relaxed);
}

std::size_t UsedBy(const Allocator& allocator) {
  return allocator.used.load(std::memory_order_relaxed);
}

bool Exceeds(const Allocator* allocator, std::size_t bytes) {
  if (allocator == nullptr || allocator->limit == SIZE_MAX) return false;
  return bytes > allocator->limit || UsedBy(*allocator) > allocator->limit - bytes;
}

// After a collection there may be as much more as all is then: so, as for Lua's own memory, what is
// garbage is at most half, and each byte pays for the look at another one.
std::size_t NextCollection(const StateRecord& record, std::size_t heap) {
  return record.outside_memory + std::max(kLeastGrowth, heap + record.outside_memory);
}

// Of a host only where Lua tells; that is not in finalizers.
std::size_t HeapOf(lua_State* L, const StateRecord& record, const Allocator* allocator) {
  if (allocator != nullptr) return UsedBy(*allocator) - record.outside_memory;
  const int kilobytes = lua_gc(L, LUA_GCCOUNT);
  return kilobytes < 0 ? 0 : static_cast<std::size_t>(kilobytes) * 1024;
}

}  // namespace

void AddOutsideMemory(lua_State* L, std::size_t bytes) {
  StateRecord& record = RecordOf(L);
  Allocator* const allocator = AllocatorOf(L);
  if (record.collect_outside_at == 0) {
    record.collect_outside_at = NextCollection(record, HeapOf(L, record, allocator));
  }
  const std::size_t room = record.collect_outside_at > record.outside_memory
                               ? record.collect_outside_at - record.outside_memory
                               : 0;
  const bool is_time = bytes > room && lua_gc(L, LUA_GCISRUNNING) != 0;
  if (is_time || Exceeds(allocator, bytes)) {
    lua_gc(L, LUA_GCCOLLECT);
    record.collect_outside_at = NextCollection(record, HeapOf(L, record, allocator));
    if (Exceeds(allocator, bytes)) RaiseNoMemory(L);
  }
  record.outside_memory += bytes;
  if (allocator != nullptr) SetUsed(*allocator, UsedBy(*allocator) + bytes);
}

void DropOutsideMemory(lua_State* L, std::size_t bytes) {
  StateRecord& record = RecordOf(L);
  Allocator* const allocator = AllocatorOf(L);
  record.outside_memory -= bytes;
  if (allocator != nullptr) SetUsed(*allocator, UsedBy(*allocator) - bytes);
  // Where Lua has collected by itself, less is left that garbage may be measured by.
  record.collect_outside_at =
      std::min(record.collect_outside_at, NextCollection(record, HeapOf(L, record, allocator)));
}

}  // namespace shoal::core
