// SPDX-License-Identifier: MIT
// A HostSeat is what the thread of a host has in place of a worker's seat: where it sleeps while
// the host waits. While it does not, it counts as something outside that may bring work, so nothing
// is at rest.
//
// The sleep ends early when a signal handler has run on the thread: it may have set a hook, as the
// stock interpreter does on Ctrl-C, which is to be called.
//
// Threads: Wake by the one who has become the owner of a waiting host's process; Activate and
//          Deactivate by any; the rest by the host.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/process/active_hosts.h"

namespace shoal::core {

class HostSeat {
 public:
  // `active` counts the hosts that do not wait; this one does not, at first.
  explicit HostSeat(ActiveHosts& active) : active_(active) { Activate(); }
  // REQUIRES: inactive.
  ~HostSeat();
  HostSeat(const HostSeat&) = delete;
  HostSeat& operator=(const HostSeat&) = delete;

  // kNoMemory: the system refuses a descriptor.
  [[nodiscard]] Status Open();

  // The process is ready: ends the sleep, also one that is only about to begin. The host is active
  // from here on. The last access to the seat is before the host can go on.
  void Wake();

  // Signals are blocked from Hold to Release, and come only while it sleeps. So none falls between
  // the look at the hooks and the sleep.
  void HoldSignals() { pthread_sigmask(SIG_SETMASK, &all_, &before_); }
  void ReleaseSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  enum class Woken : bool { kByWake, kElse };
  // REQUIRES: signals are held. kElse: by a signal, or after `most`; there was no Wake.
  [[nodiscard]] Woken Sleep(Duration most);

  void Activate() { active_.Add(); }
  // The caller then lets the scheduler look whether all is at rest now.
  void Deactivate() { active_.Remove(); }

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kToken = 2;

  ActiveHosts& active_;
  // As in Parker. The release of kToken publishes the process as its owner has left it.
  std::atomic<std::uint32_t> word_{kEmpty};
  int event_fd_ = -1;  // readable: wake up
  sigset_t all_{};
  sigset_t before_{};
};

}  // namespace shoal::core
