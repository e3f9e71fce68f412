// SPDX-License-Identifier: MIT
// The kernel's futex: sleep while a word has a value. See futex(2).
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"

namespace shoal::core {

// Sleeps while `word` is `expected`, till FutexWake, the deadline (CLOCK_MONOTONIC), or for no
// reason at all. The caller checks `word` again.
void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               TimePoint deadline = kNever);

// Wakes at most `count` threads that sleep on `word`. Never touches the memory of `word`, so it
// may have been freed meanwhile.
void FutexWake(const std::atomic<std::uint32_t>& word, int count);

}  // namespace shoal::core
