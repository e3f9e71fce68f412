// SPDX-License-Identifier: MIT
// Test points are named places in a protocol at which a test may step in: to let another thread run
// first, or to make an operation fail. Release builds have none.
//
//   SHOAL_TEST_POINT("parker.before_sleep");                     // a window between two steps
//   if (SHOAL_TEST_FAULT("run_queue.push")) return false;        // as if memory had run out
#pragma once

#ifdef NDEBUG

#define SHOAL_TEST_POINT(name) static_cast<void>(0)
#define SHOAL_TEST_FAULT(name) false

#else

#include <atomic>

namespace shoal::core {

// What a test does at a point: returns true to make a SHOAL_TEST_FAULT fail. Any thread may come
// here, several at once.
using TestHook = bool (*)(const char* point);

class TestPoints {
 public:
  static bool Reach(const char* point) {
    // acquire: pairs with the release of SetHook, which publishes what the hook reads.
    const TestHook hook = hook_.load(std::memory_order_acquire);
    return hook != nullptr && hook(point);
  }
  // The test, nullptr to end. Threads may still be inside the last hook when it returns.
  static void SetHook(TestHook hook) { hook_.store(hook, std::memory_order_release); }

 private:
  // Debug builds only, and set by tests only: the one mutable global, since the points stand in
  // code that knows no test.
  static inline std::atomic<TestHook> hook_{nullptr};
};

}  // namespace shoal::core

#define SHOAL_TEST_POINT(name) static_cast<void>(::shoal::core::TestPoints::Reach(name))
#define SHOAL_TEST_FAULT(name) ::shoal::core::TestPoints::Reach(name)

#endif
