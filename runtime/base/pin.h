// SPDX-License-Identifier: MIT
// A Pin keeps a signal handler of the runtime from stepping in: the handler looks whether the
// thread it interrupts is pinned, and then does nothing. (Whoever sent the signal sends it again
// later.)
//
// A thread is pinned while it holds a Mutex, and where it relies on the seat it has or changes the
// hooks of a lua_State. So sections are short.
//
// Threads: concerns the calling thread only. The count is read by handlers on the same thread, so a
//          plain variable will do, as long as the compiler does not move accesses across the
//          fences.
#pragma once

#include <atomic>

// Each function that runs in a signal handler, small ones too. The thread sanitizer's bookkeeping
// must not be entered from there: it may be what was interrupted, and holds locks. (no_sanitize
// alone leaves the entries and exits of functions in the books.)
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHOAL_THREAD_SANITIZER 1
#define SHOAL_IN_SIGNAL_HANDLER \
  __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation, noinline))
#endif
#endif
#ifndef SHOAL_IN_SIGNAL_HANDLER
#define SHOAL_IN_SIGNAL_HANDLER
#endif

namespace shoal::core {

class Pin {
 public:
  Pin() { Enter(); }
  ~Pin() { Leave(); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  static void Enter() {
    depth_ = depth_ + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void Leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    depth_ = depth_ - 1;
  }
  // In a handler: whether the interrupted code is pinned.
  SHOAL_IN_SIGNAL_HANDLER static bool IsHeld() { return depth_ != 0; }

 private:
  static constinit thread_local int depth_;
};

}  // namespace shoal::core
