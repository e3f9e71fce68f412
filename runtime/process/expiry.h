// SPDX-License-Identifier: MIT
// Expiries free the memory of keys whose ttl has passed when nobody looks at them any more.
//
// They stand in a wheel of their own: a ttl that is still to come is no reason for a program that
// has nothing to do to go on.
//
// Threads: any thread may call any member.
#pragma once

#include <atomic>
#include <cstdint>
#include <lua.hpp>

#include "runtime/base/clock.h"
#include "runtime/channel/channel.h"
#include "runtime/driver/timer_wheel.h"

namespace shoal::core {

class Expiries {
 public:
  explicit Expiries(const Clock& clock) : clock_(clock), wheel_(clock.Now()) {}
  ~Expiries();

  // At `at`, what stands under `key` is dropped, if its ttl is still the one of `generation`.
  // Without memory for that it is dropped when somebody looks. When the ttl ends before its time,
  // nothing of it is left here.
  void Arm(Channel& channel, const KeyName& key, TimePoint at, std::uint32_t generation);
  // `node`'s time comes at `at`, without counting as something that may bring work.
  void Arm(TimerNode& node, TimePoint at) { wheel_.Arm(node, at); }
  // The runtime has come to its end: what is armed fires, and must not be armed again.
  [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_relaxed); }
  void Poll() { wheel_.Advance(clock_.Now()); }
  // Whether anything is armed, or fires just now.
  [[nodiscard]] bool Armed() const { return wheel_.armed() != 0; }
  [[nodiscard]] TimePoint NextDeadline() const { return wheel_.NextDeadline(); }

 private:
  const Clock& clock_;
  TimerWheel wheel_;
  // Set and read by the host's thread; by others never while it is set.
  std::atomic<bool> ended_{false};
};

// Arm for the runtime of `L`. The owner of the process. [-0, +0, -]
void ArmExpiry(lua_State* L, Channel& channel, const KeyName& key, TimePoint at,
               std::uint32_t generation);

}  // namespace shoal::core
