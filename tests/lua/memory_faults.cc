// SPDX-License-Identifier: MIT
#include "tests/lua/memory_faults.h"

#include <cstdint>

namespace {
std::size_t allocations_left = SIZE_MAX;
bool a_fault_happened = false;

bool Allowed() {
  if (allocations_left == SIZE_MAX) return true;
  if (allocations_left != 0) {
    --allocations_left;
    return true;
  }
  a_fault_happened = true;
  return false;
}
}  // namespace

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* block, std::size_t size);
// Kept, as calls are led to them only after the linker has thrown out what nobody calls.
[[gnu::used]] void* __wrap_malloc(std::size_t size) {
  return Allowed() ? __real_malloc(size) : nullptr;
}
[[gnu::used]] void* __wrap_calloc(std::size_t count, std::size_t size) {
  return Allowed() ? __real_calloc(count, size) : nullptr;
}
[[gnu::used]] void* __wrap_realloc(void* block, std::size_t size) {
  return Allowed() ? __real_realloc(block, size) : nullptr;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace shoal::core {

MemoryFaults::MemoryFaults(std::size_t left) {
  a_fault_happened = false;
  allocations_left = left;
}
MemoryFaults::~MemoryFaults() { allocations_left = SIZE_MAX; }
bool MemoryFaults::happened() { return a_fault_happened; }

}  // namespace shoal::core
