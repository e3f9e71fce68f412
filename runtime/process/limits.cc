// SPDX-License-Identifier: MIT
#include "runtime/process/limits.h"

#include <algorithm>
#include <cstdio>

namespace shoal::core {

NameSet::NameSet(std::vector<std::string> names) : names_(std::move(names)) {
  std::sort(names_.begin(), names_.end());
}

bool NameSet::Contains(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

bool Reach::DescendsFrom(std::uint64_t ancestor) const {
  return std::binary_search(confined_ancestors.begin(), confined_ancestors.end(), ancestor);
}

std::string CpuLimitReached(Duration limit) {
  char text[64];
  std::snprintf(text, sizeof text, "cpu limit of %g s reached",
                static_cast<double>(limit.count()) / 1e9);
  return text;
}

std::string MemoryLimitTooSmall(std::size_t limit) {
  return "memory limit of " + std::to_string(limit) + " bytes is too small for a process";
}

}  // namespace shoal::core
