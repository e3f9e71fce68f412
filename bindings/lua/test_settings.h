// SPDX-License-Identifier: MIT
// Settings for the project's own tests, in the environment, which no option offers.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "runtime/process/process_images.h"

namespace shoal::bindings {

// A full collection at each switch of tasks.
inline bool TestCollectsAtSwitch() { return std::getenv("SHOAL_TEST_COLLECT") != nullptr; }

// How slices end: "every", at every instruction; "counted", without signals.
inline bool TestSlicesEnd(const char* how) {
  const char* const wanted = std::getenv("SHOAL_TEST_SLICES");
  return wanted != nullptr && std::strcmp(wanted, how) == 0;
}

// When processes begin as copies of an image: "off", "first"; else `usual`.
inline core::StateImages TestStateImages(core::StateImages usual) {
  const char* const wanted = std::getenv("SHOAL_TEST_IMAGES");
  if (wanted == nullptr) return usual;
  if (std::strcmp(wanted, "off") == 0) return core::StateImages::kOff;
  return std::strcmp(wanted, "first") == 0 ? core::StateImages::kFromFirst : usual;
}

// The memory for queues in bytes; 0: the default.
inline std::size_t TestQueueMemory() {
  const char* const bytes = std::getenv("SHOAL_TEST_QUEUE_MEMORY");
  return bytes == nullptr ? 0 : std::strtoull(bytes, nullptr, 10);
}

}  // namespace shoal::bindings
