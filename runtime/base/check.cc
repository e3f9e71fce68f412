// SPDX-License-Identifier: MIT
#include "runtime/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace shoal::core {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "shoal: %s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace shoal::core
