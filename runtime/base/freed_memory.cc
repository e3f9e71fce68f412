// SPDX-License-Identifier: MIT
#include "runtime/base/freed_memory.h"

#include <malloc.h>

#include <cstdlib>

namespace shoal::core {

void KeepFreedMemory() {
  if (std::getenv("MALLOC_TRIM_THRESHOLD_") != nullptr ||
      std::getenv("MALLOC_MMAP_THRESHOLD_") != nullptr ||
      std::getenv("GLIBC_TUNABLES") != nullptr) {
    return;
  }
  // The largest that it takes: larger blocks come from the system and go back there. Without this
  // one, the other would have all of more than 128 KB do so.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

}  // namespace shoal::core
