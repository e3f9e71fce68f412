// SPDX-License-Identifier: MIT
// Random draws numbers that can be drawn again: the same seed, the same numbers (splitmix64).
#pragma once

#include <cstdint>

namespace shoal::core {

// Threads: one at a time.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 … bound - 1. The remainder favours small numbers, by less than anybody can notice.
  // REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace shoal::core
