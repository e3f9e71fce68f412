// SPDX-License-Identifier: MIT
// MemoryFaults makes malloc, calloc and realloc fail in the code that is linked into a test (Lua
// and ours; not the C++ library). The linker sends their calls here: see the BUILD file.
#pragma once

#include <cstddef>

namespace shoal::core {

// While one lives, the allocations after the first `left` fail.
class MemoryFaults {
 public:
  explicit MemoryFaults(std::size_t left);
  ~MemoryFaults();
  MemoryFaults(const MemoryFaults&) = delete;
  MemoryFaults& operator=(const MemoryFaults&) = delete;

  // True if an allocation has failed since the last construction.
  [[nodiscard]] static bool happened();
};

}  // namespace shoal::core
