// SPDX-License-Identifier: MIT
// How the tick thread gets at code that a worker's thread is running: by a signal to that thread,
// whose handler steps in if the code is a section that said it may be interrupted.
//
// The thread is interrupted by nobody but itself, so the code that is interrupted and the handler
// need no atomics between them; only what the tick thread asks for is one (Worker::request).
//
// The handler stays installed for ever: a signal that is still under way when a runtime ends must
// not end the program. If the program has a handler of its own for that signal, ours calls it on
// threads that are not the runtime's.
#pragma once

#include <atomic>

#include "runtime/base/pin.h"
#include "runtime/base/status.h"

namespace shoal::core {

// Code that can be interrupted: a process while it runs Lua.
class Interruptible {
 public:
  // In a signal handler, on the thread that runs the section, which is not pinned: sets flags and
  // arms hooks, no more. The thread may have lost its seat when the section goes on.
  virtual void OnInterrupt() = 0;

 protected:
  ~Interruptible() = default;
};

// While it lives, its thread may be interrupted. Sections nest; the innermost counts.
class InterruptSection {
 public:
  explicit InterruptSection(Interruptible& target) : outer_(current_) {
    current_ = &target;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~InterruptSection() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_ = outer_;
  }
  InterruptSection(const InterruptSection&) = delete;
  InterruptSection& operator=(const InterruptSection&) = delete;

  // In a handler: that of the calling thread, nullptr if none.
  SHOAL_IN_SIGNAL_HANDLER static Interruptible* Current() { return current_; }

 private:
  static constinit thread_local Interruptible* current_;
  Interruptible* const outer_;
};

// Any thread. Makes `signal` interrupt threads of schedulers. kNotFound if there is no such signal,
// or it cannot be caught.
Status InstallInterruptHandler(int signal);

}  // namespace shoal::core
