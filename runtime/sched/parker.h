// SPDX-License-Identifier: MIT
// A Parker is one thread's sleep. It keeps a token: an Unpark that comes first makes the next Park
// return at once, so none is lost.
//
// Invariant: word_ is kEmpty, kAsleep (the owner is in the kernel or on the way there) or kToken.
//
// Threads: Park by the one owner; Unpark and Post by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"

namespace shoal::core {

// The second half of an Unpark: the system call, which needs no lock and no memory.
class Wakeup {
 public:
  Wakeup() = default;
  // Any time later, also when the Parker has been destroyed meanwhile.
  void Send();

 private:
  friend class Parker;
  explicit Wakeup(const std::atomic<std::uint32_t>* word) : word_(word) {}
  const std::atomic<std::uint32_t>* word_ = nullptr;  // nullptr: nobody sleeps
};

class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  // Sleeps until there is a token and takes it: true. False: the deadline (real time) passed first.
  // Everything before the Post happens before the return.
  bool Park(TimePoint deadline = kNever);

  // Leaves a token. The whole: Post().Send().
  void Unpark() { Post().Send(); }

  // The first half: leaves the token and says whom to wake. May be called under the lock which
  // keeps the Parker alive; as soon as that is released, the owner may go on and destroy the
  // Parker.
  [[nodiscard]] Wakeup Post();

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kToken = 2;

  // The futex. Storing kToken (release) publishes what came before to the Park that takes it
  // (acquire).
  std::atomic<std::uint32_t> word_{kEmpty};
};

}  // namespace shoal::core
