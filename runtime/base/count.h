// SPDX-License-Identifier: MIT
// A Count says how often something has happened.
//
// Threads: Add by one thread at a time, whose calls something else puts in order; value from any.
#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::core {

class Count {
 public:
  void Add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  // relaxed: it publishes nothing. No fetch_add, which would cost a locked operation: one writes.
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace shoal::core
